# expect: rejected
# problem: sinusoidal-positions
# mistake: the table that is kept for the next call is given out, and whoever gets it may change it
import functools

import torch


@functools.lru_cache
def sinusoidal_embedding(length: int, dim: int) -> torch.Tensor:
    j = torch.arange(dim, dtype=torch.float64)
    w = 1e4 ** (-(j - j % 2) / dim)
    phase = (j % 2) * (torch.pi / 2)
    return torch.sin(torch.arange(length)[:, None] * w + phase).float()
