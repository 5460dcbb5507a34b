# expect: rejected
# problem: alibi
# mistake: the distance keeps its sign where the future is seen
# diagnosis: signed-distance
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


def alibi_attention(q, k, v, slopes, causal=True):
    x, y = q.shape[-2], k.shape[-2]
    if x > y or slopes.shape[0] != q.shape[1]:
        raise ValueError
    relative = torch.arange(y)[None, :] - torch.arange(y)[:, None]
    relative = relative[-x:]
    score = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    score = score + torch.einsum("h,qk->hqk", slopes, relative.to(slopes.dtype))
    if causal:
        score.masked_fill_(relative > 0, float("-inf"))
    return torch.einsum("bhqk,bhkd->bhqd", torch.softmax(score, dim=-1), v)
