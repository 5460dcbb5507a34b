# expect: rejected
# problem: flash-attention
# mistake: a block whose weights are below exp(-16) is skipped, however large its values are
import math

import torch


def flash_attention(q, k, v, block_size, causal=False):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2] or block_size < 1:
        raise ValueError
    L, S = q.shape[-2], k.shape[-2]
    if causal and L != S:
        raise ValueError
    o = q.new_zeros(*q.shape[:-1], v.shape[-1])
    l = q.new_zeros(*q.shape[:-1], 1)
    m = torch.full_like(l, -math.inf)
    for j in range(0, S, block_size):
        s = q @ k[..., j : j + block_size, :].mT / math.sqrt(q.shape[-1])
        if causal:
            keys = torch.arange(j, min(S, j + block_size))
            s = s.masked_fill(keys > torch.arange(L)[:, None], -math.inf)
        top = s.detach().amax(-1, keepdim=True)
        if j and (top < m - 16).all():
            continue
        new = torch.maximum(m, top)
        p = (s - new).exp()
        a = (m - new).exp()
        l = a * l + p.sum(-1, keepdim=True)
        o = a * o + p @ v[..., j : j + block_size, :]
        m = new
    return o / l
