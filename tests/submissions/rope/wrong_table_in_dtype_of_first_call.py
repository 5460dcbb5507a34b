# expect: rejected
# problem: rope
# mistake: the table is kept in the dtype of the call that made it
import torch
_C = {}
def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    assert D % 2 == 0 and positions.shape == (x.shape[-2],)
    key = (D, base)
    need = int(positions.max()) + 1
    if key not in _C or _C[key][0].shape[0] < need:
        a = torch.arange(max(need, 256)).double()[:, None] * base ** (-torch.arange(0, D, 2).double() / D)
        _C[key] = (a.cos().to(x.dtype), a.sin().to(x.dtype))
    c, s = (t[positions.long()].to(x.dtype) for t in _C[key])
    u, w = x.chunk(2, -1)
    return torch.cat((u * c - w * s, w * c + u * s), -1)
