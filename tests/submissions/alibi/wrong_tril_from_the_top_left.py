# expect: rejected
# problem: alibi
# mistake: the mask is a triangle from the top left corner, whatever is cached
# diagnosis: mask-starts-at-first-key
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


class AlibiAttention:
    def __call__(self, q, k, v, slopes, causal=True):
        t, s = q.shape[-2], k.shape[-2]
        if t > s:
            raise ValueError("too many queries")
        if slopes.shape[0] != q.shape[1]:
            raise ValueError("one slope per head")
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        rel = torch.arange(s)[None, :] - torch.arange(s - t, s)[:, None]
        att = att - slopes[:, None, None] * rel.abs()
        if causal:
            tril = torch.tril(torch.ones(t, s))
            att = att.masked_fill(tril == 0, float("-inf"))
        return att.softmax(dim=-1) @ v
