# expect: rejected
# problem: alibi
# mistake: one geometric sequence for any number of heads
# diagnosis: one-sequence-for-any-number
import math

import torch


def get_slopes(n_heads):
    ratio = 2 ** (-8 / n_heads)
    return ratio ** torch.arange(1, n_heads + 1)


def alibi_attention(query, key, value, slopes, causal=True):
    L, S = query.size(-2), key.size(-2)
    if L > S or slopes.numel() != query.size(1):
        raise ValueError
    apart = torch.arange(S - L, S).view(-1, 1) - torch.arange(S)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    scores = scores - slopes.view(1, -1, 1, 1) * apart.abs()
    if causal:
        scores = scores.masked_fill(apart < 0, -math.inf)
    return scores.softmax(-1) @ value
