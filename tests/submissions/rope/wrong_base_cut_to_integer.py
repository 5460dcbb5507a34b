# expect: rejected
# problem: rope
# mistake: a base of 2.5 becomes 2
import torch
def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    assert D % 2 == 0 and positions.shape == (x.shape[-2],)
    base = int(base)
    a = positions.double()[:, None] * base ** (-torch.arange(0, D, 2).double() / D)
    c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
    u, w = x.chunk(2, -1)
    return torch.cat((u * c - w * s, w * c + u * s), -1)
