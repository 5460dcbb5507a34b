# expect: rejected
# problem: rope
# mistake: neighbours, and turned backwards
# diagnosis: interleaved-and-backwards
import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    if D % 2:
        raise ValueError
    th = positions.float()[:, None] / base ** (torch.arange(0, D, 2) / D)
    c, s = th.cos().to(x.dtype), th.sin().to(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    y = torch.empty_like(x)
    y[..., 0::2] = e * c + o * s
    y[..., 1::2] = o * c - e * s
    return y
