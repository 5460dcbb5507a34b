# expect: rejected
# problem: sinusoidal-positions
# mistake: a width of 1 has a sine and no cosine, and is refused
import torch, math
def positional_encoding(length, d_model):
    if d_model < 2: raise ValueError
    pos = torch.arange(length, dtype=torch.float32)[:, None]
    div = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(pos * div)
    pe[:, 1::2] = torch.cos(pos * div)[:, : d_model // 2]
    return pe
