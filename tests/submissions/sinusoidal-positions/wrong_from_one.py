# expect: rejected
# problem: sinusoidal-positions
# mistake: positions 1 … length
# diagnosis: positions-from-one
import numpy as np


def positional_encoding(n, d):
    k = np.arange(1, n + 1).reshape(-1, 1)
    w = np.exp(-np.log(10000.0) * (np.arange(d) // 2 * 2) / d)
    return np.where(np.arange(d) % 2, np.cos(k * w), np.sin(k * w))
