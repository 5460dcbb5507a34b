# expect: rejected
# problem: rope
# mistake: everything in the dtype of x, positions too
# diagnosis: angles-in-half-precision
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d")
    inv_freq = (1.0 / (base ** (torch.arange(0, d, 2).float() / d))).to(x.dtype)
    freqs = positions.to(x.dtype)[:, None] * inv_freq[None, :]
    emb = torch.cat([freqs, freqs], dim=-1)
    x1, x2 = x[..., : d // 2], x[..., d // 2 :]
    return x * emb.cos() + torch.cat([-x2, x1], dim=-1) * emb.sin()
