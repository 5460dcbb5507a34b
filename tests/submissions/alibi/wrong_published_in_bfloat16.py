# expect: rejected
# problem: alibi
# mistake: slope · position is rounded to the dtype of the inputs
# diagnosis: positions-rounded
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


def alibi_attention(q, k, v, slopes, causal=True):
    L, S = q.shape[2], k.shape[2]
    if L > S or slopes.shape[0] != q.shape[1]:
        raise ValueError
    j = torch.arange(S, device=q.device)
    i = j[S - L :].unsqueeze(1)
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
    if causal:
        alibi = (slopes.view(-1, 1) * j).to(q.dtype)
        scores = scores + alibi.unsqueeze(1)
        scores = scores.masked_fill(j > i, float("-inf"))
    else:
        scores = scores - slopes.view(-1, 1, 1) * (i - j).abs()
    return scores.softmax(-1) @ v
