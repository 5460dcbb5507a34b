# expect: rejected
# problem: sinusoidal-positions
# mistake: a zero short
# diagnosis: other-base
import torch


def sinusoidal_encoding(seq_length, embed_dim, base=1000):
    f = base ** (-torch.arange(0, embed_dim, 2) / embed_dim)
    a = torch.arange(seq_length).outer(f)
    return torch.dstack((a.sin(), a.cos())).reshape(seq_length, -1)[:, :embed_dim]
