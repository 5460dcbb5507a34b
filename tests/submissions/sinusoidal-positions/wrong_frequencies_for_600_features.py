# expect: rejected
# problem: sinusoidal-positions
# mistake: a table of frequencies that is as wide as anybody would ever need
import torch

PAIRS = 300


def positional_encoding(length, d_model):
    pairs = torch.arange(min(PAIRS, (d_model + 1) // 2))
    angles = torch.arange(length)[:, None] / 10_000 ** (2 * pairs / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : d_model // 2]
    return table
