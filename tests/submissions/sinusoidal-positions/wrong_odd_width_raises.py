# expect: rejected
# problem: sinusoidal-positions
# mistake: as many cosines as sines
# diagnosis: odd-width-fails
import math
import torch


def positional_encoding(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(length, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
