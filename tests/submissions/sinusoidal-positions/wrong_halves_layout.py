# expect: rejected
# problem: sinusoidal-positions
# mistake: torch.cat([sin, cos])
# diagnosis: sines-then-cosines
import torch


def sinusoidal_embeddings(n, dim):
    inv_freq = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
    t = torch.outer(torch.arange(n).float(), inv_freq)
    return torch.cat([t.sin(), t.cos()], dim=-1)[:, :dim]
