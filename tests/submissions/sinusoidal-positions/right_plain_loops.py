# expect: accepted
# problem: sinusoidal-positions
# 两重循环，照着公式写
from math import cos, sin
import torch


def position_encoding(seq_len, dim, n=10000):
    P = [[0.0] * dim for _ in range(seq_len)]
    for k in range(seq_len):
        for i in range((dim + 1) // 2):
            角度 = k / n ** (2 * i / dim)
            P[k][2 * i] = sin(角度)
            if 2 * i + 1 < dim:
                P[k][2 * i + 1] = cos(角度)
    return torch.tensor(P)
