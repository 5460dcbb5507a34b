# expect: rejected
# problem: alibi
# mistake: slopes are repeated item by item where heads and items are folded
# diagnosis: slopes-repeated-by-item
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


def alibi_attention(q, k, v, slopes, causal=True):
    B, H, L, D = q.shape
    S = k.shape[2]
    if L > S or slopes.shape != (H,):
        raise ValueError
    q, k, v = (x.reshape(B * H, x.shape[2], D) for x in (q, k, v))
    rates = slopes.repeat_interleave(B).view(B * H, 1, 1)
    rows, cols = torch.arange(S - L, S).view(L, 1), torch.arange(S)
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(D) - rates * (rows - cols).abs()
    if causal:
        scores = scores.masked_fill(cols > rows, -math.inf)
    return torch.bmm(scores.softmax(-1), v).view(B, H, L, D)
