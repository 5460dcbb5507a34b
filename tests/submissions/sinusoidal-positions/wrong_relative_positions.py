# expect: rejected
# problem: sinusoidal-positions
# diagnosis: positions-relative-to-length
# mistake: linspace(0, 1)
import torch


def positional_encoding(length, d_model):
    t = torch.linspace(0, 1, length)[:, None]
    i = torch.arange(d_model)
    a = t / 10000 ** (2 * (i // 2) / d_model)
    return torch.where(i % 2 == 0, torch.sin(a), torch.cos(a))
