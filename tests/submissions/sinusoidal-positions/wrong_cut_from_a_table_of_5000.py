# expect: rejected
# problem: sinusoidal-positions
# mistake: a table made once at import, too short
# diagnosis: ends-at-5000
import torch


def _table(rows, cols):
    i = torch.arange(cols)
    a = torch.arange(rows)[:, None] / 10000 ** (2 * (i // 2) / cols)
    return torch.where(i % 2 == 0, torch.sin(a), torch.cos(a))


def positional_encoding(length, d_model):
    return _table(5000, d_model)[:length]
