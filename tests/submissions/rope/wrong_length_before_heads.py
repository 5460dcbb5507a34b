# expect: rejected
# problem: rope
# mistake: expects (B, L, H, D)
# diagnosis: heads-and-positions-exchanged
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError
    f = positions[:, None].float() * (1.0 / base ** (torch.arange(0, d, 2).float() / d))
    cos, sin = f.cos()[:, None, :].to(x.dtype), f.sin()[:, None, :].to(x.dtype)
    x1, x2 = x[..., : d // 2], x[..., d // 2 :]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1)
