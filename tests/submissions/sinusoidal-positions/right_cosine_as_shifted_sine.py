# expect: accepted
# problem: sinusoidal-positions
# cos x = sin(x + π/2): one sine over all columns
import torch


def sinusoidal_embedding(length: int, dim: int) -> torch.Tensor:
    j = torch.arange(dim, dtype=torch.float64)
    w = 1e4 ** (-(j - j % 2) / dim)
    phase = (j % 2) * (torch.pi / 2)
    return torch.sin(torch.arange(length)[:, None] * w + phase).float()
