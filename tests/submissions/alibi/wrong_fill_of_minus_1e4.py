# expect: rejected
# problem: alibi
# mistake: later keys get -10000 as their score
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


def alibi_attention(q, k, v, slopes, causal=True):
    nq, nk = q.shape[2], k.shape[2]
    assert nk >= nq and slopes.shape[0] == q.shape[1]
    dist = (torch.arange(nq) + nk - nq).unsqueeze(1) - torch.arange(nk)
    sc = q @ k.mT / math.sqrt(q.shape[3]) - slopes.reshape(-1, 1, 1) * dist.abs()
    if causal:
        sc = torch.where(dist < 0, torch.full_like(sc, -1e4), sc)
    return sc.softmax(-1) @ v
