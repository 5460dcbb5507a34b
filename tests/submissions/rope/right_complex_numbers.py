# expect: accepted
# problem: rope
# halves as real and imaginary parts, multiplied by e^(i m theta)
import torch


def apply_rotary_emb(x, pos, theta=10000.0):
    *_, L, D = x.shape
    if D % 2 or pos.numel() != L:
        raise ValueError("bad shapes")
    wide = x if x.dtype == torch.float64 else x.float()
    z = torch.complex(wide[..., : D // 2].contiguous(), wide[..., D // 2 :].contiguous())
    freqs = theta ** (-torch.arange(D // 2, dtype=wide.dtype) / (D // 2))
    angle = torch.outer(pos.to(wide.dtype), freqs)
    z = z * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], dim=-1).type_as(x)
