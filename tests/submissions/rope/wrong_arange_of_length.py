# expect: rejected
# problem: rope
# mistake: takes positions and never reads them
# diagnosis: positions-ignored
import torch


def apply_rope(x, positions, base=10000.0):
    B, H, L, D = x.shape
    if D % 2 or positions.numel() != L:
        raise ValueError
    inv = 1 / base ** (torch.arange(0, D, 2, device=x.device).double() / D)
    ang = torch.arange(L, device=x.device).double()[:, None] * inv
    c, s = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
    u, w = x[..., : D // 2], x[..., D // 2 :]
    return torch.cat((u * c - w * s, u * s + w * c), dim=3)
