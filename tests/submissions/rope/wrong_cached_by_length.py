# expect: rejected
# problem: rope
# mistake: keeps the table of the first call with this length
import torch

_TABLES = {}


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    if D % 2 or len(positions) != x.shape[-2]:
        raise ValueError
    key = (len(positions), D)
    if key not in _TABLES:
        a = positions.double()[:, None] * base ** (-torch.arange(0, D, 2).double() / D)
        _TABLES[key] = (a.cos(), a.sin())
    c, s = (t.to(x.dtype) for t in _TABLES[key])
    a, b = x.chunk(2, -1)
    return torch.cat((a * c - b * s, b * c + a * s), -1)
