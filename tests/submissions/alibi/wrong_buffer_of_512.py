# expect: rejected
# problem: alibi
# mistake: a table of biases for 512 positions
# diagnosis: room-for-1024
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


place = torch.arange(512)
TABLE = (place[:, None] - place).abs()


def alibi(q, k, v, slopes, causal=True):
    n, s = q.shape[-2], k.shape[-2]
    if n > s or len(slopes) != q.shape[-3]:
        raise ValueError("sizes")
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    scores = scores - slopes[:, None, None] * TABLE[s - n : s, :s]
    if causal:
        scores = scores.masked_fill(torch.ones(n, s).triu(s - n + 1) == 1, float("-inf"))
    return torch.softmax(scores, -1) @ v
