# expect: rejected
# problem: alibi
# mistake: the causal mask is made only if there are as many queries as keys
# diagnosis: mask-for-squares-only
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


def alibi_attention(q, k, v, slopes, is_causal=True):
    n, m = q.size(2), k.size(2)
    assert n <= m and slopes.size(0) == q.size(1)
    away = torch.arange(m - n, m).view(n, 1) - torch.arange(m)
    logits = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(3))
    logits = logits - torch.einsum("h,ij->hij", slopes, away.abs().to(slopes))
    if is_causal and n == m:
        logits = logits.masked_fill(torch.triu(torch.ones(n, n), 1).bool(), -torch.inf)
    return torch.einsum("bhij,bhjd->bhid", logits.softmax(-1), v)
