# expect: rejected
# problem: sinusoidal-positions
# mistake: for i in range(0, d, 2): exponent 2 * i / d
# diagnosis: exponent-doubled
import numpy as np


def positional_encoding(max_len, d_model):
    table = np.zeros((max_len, d_model), dtype=np.float32)
    pos = np.arange(max_len)
    for i in range(0, d_model, 2):
        table[:, i] = np.sin(pos / 10000 ** (2 * i / d_model))
        if i + 1 < d_model:
            table[:, i + 1] = np.cos(pos / 10000 ** (2 * i / d_model))
    return table
