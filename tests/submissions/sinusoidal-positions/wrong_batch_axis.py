# expect: rejected
# problem: sinusoidal-positions
# mistake: unsqueeze(0) at the end
# diagnosis: batch-axis-in-front
import math
import torch


def positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    pos = torch.arange(max_len).float()[:, None]
    div = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(1e4) / d_model))
    pe[:, ::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div[: d_model // 2])
    return pe.unsqueeze(0)
