# expect: rejected
# problem: rope
# mistake: a table of 10 000 rows holds positions 0 to 9 999
import torch
_T = {}
def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    assert D % 2 == 0 and positions.shape == (x.shape[-2],)
    inv = base ** (-torch.arange(0, D, 2).double() / D)
    a = torch.arange(10000).double()[:, None] * inv
    a = a[positions.long()]
    c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
    u, w = x.chunk(2, -1)
    return torch.cat((u * c - w * s, w * c + u * s), -1)
