# expect: accepted
# problem: rope
import math
import torch


def rope(x, m, base=10000.0):
    b, h, n, d = x.size()
    assert d % 2 == 0, "d must be even"
    assert m.shape == (n,)
    half = d // 2
    log_freq = torch.arange(half, device=x.device, dtype=torch.float32) * (-math.log(base) / half)
    ang = m[:, None] * log_freq.exp()[None, :]
    c, s = torch.cos(ang).to(x), torch.sin(ang).to(x)
    out = torch.empty_like(x)
    out[..., :half] = x[..., :half] * c - x[..., half:] * s
    out[..., half:] = x[..., half:] * c + x[..., :half] * s
    return out
