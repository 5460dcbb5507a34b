# expect: rejected
# problem: rope
# mistake: a clone, but its first half is read after it was written
# diagnosis: first-half-overwritten
import torch


def apply_rope(x, positions, base=10000.0):
    y = x.clone()
    h = y.shape[-1] // 2
    if 2 * h != y.shape[-1]:
        raise ValueError
    a = (positions.double().unsqueeze(-1) * base ** (-torch.arange(h).double() / h))
    c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
    y[..., :h] = y[..., :h] * c - y[..., h:] * s
    y[..., h:] = y[..., h:] * c + y[..., :h] * s
    return y
