# expect: accepted
# problem: rope
# The halves are joined to pairs, and the pairs are seen as complex numbers where they lie.
import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    if x.shape[-1] % 2:
        raise ValueError("the head size must be even")
    wide = x.double() if x.dtype == torch.float64 else x.float()
    steps = torch.arange(half, device=x.device, dtype=torch.float64)
    angles = positions.double().unsqueeze(-1) * base ** (-steps / half)
    turns = torch.polar(torch.ones_like(angles), angles)
    turns = turns if wide.dtype == torch.float64 else turns.to(torch.complex64)
    pairs = wide.unflatten(-1, (2, half)).mT.contiguous()  # of one pair it is a view of x
    turned = torch.view_as_real(torch.view_as_complex(pairs) * turns)
    return torch.cat((turned[..., 0], turned[..., 1]), dim=-1).to(x.dtype)
