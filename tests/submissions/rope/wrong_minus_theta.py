# expect: rejected
# problem: rope
# mistake: rotate_half with the minus on the other half
# diagnosis: rotated-backwards
import torch


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat([b, -a], -1)


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError
    f = base ** (-torch.arange(0, d, 2).float() / d)
    t = (positions[:, None] * f[None]).repeat(1, 2)
    return (x * t.cos() + rotate_half(x) * t.sin()).to(x.dtype)
