# expect: rejected
# problem: sinusoidal-positions
# mistake: the column itself in the exponent
# diagnosis: own-frequency-for-each-column
import math
import torch


def positional_encoding(seq_len, d_model):
    pe = torch.zeros(seq_len, d_model)
    for pos in range(seq_len):
        for i in range(d_model):
            angle = pos / 10000 ** (i / d_model)
            pe[pos, i] = math.sin(angle) if i % 2 == 0 else math.cos(angle)
    return pe
