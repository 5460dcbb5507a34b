# expect: rejected
# problem: sinusoidal-positions
# mistake: 2 * i // d_model
# diagnosis: exponents-rounded
import torch


def positional_encoding(length, d_model):
    i = torch.arange(d_model) // 2
    w = 10000.0 ** (2 * i // d_model)
    x = torch.arange(length)[:, None] / w
    return torch.where(torch.arange(d_model) % 2 == 0, x.sin(), x.cos())
