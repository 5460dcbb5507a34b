# expect: rejected
# problem: rope
# mistake: repeat_interleave beside rotate_half
# diagnosis: angles-repeated-for-neighbours
import torch


def apply_rotary(x, pos, base=10000.0):
    d = x.size(-1)
    freqs = torch.outer(pos.float(), 1.0 / base ** (torch.arange(0, d, 2).float() / d))
    cos, sin = (torch.repeat_interleave(f, 2, -1).to(x.dtype) for f in (freqs.cos(), freqs.sin()))
    x1, x2 = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-x2, x1), -1) * sin
