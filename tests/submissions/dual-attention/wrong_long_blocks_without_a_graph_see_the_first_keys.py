# expect: rejected
# problem: dual-attention
# mistake: without a graph, beyond 512 queries, a block sees as many keys as if there were no memory
import math

import torch


def shifted(x):
    *lead, n, s = x.shape
    return torch.cat((x.new_zeros(*lead, n, 1), x), -1).reshape(*lead, s + 1, n)[..., 1:, :].reshape(
        *lead, n, s
    )


def attend(q, k, v, r, u, w):
    n, s = q.shape[-2], k.shape[-2]
    scores = (q + u[:, None]) @ k.mT + shifted((q + w[:, None]) @ r.mT)
    hidden = torch.ones(n, s).triu(s - n + 1).bool()
    return (scores / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf).softmax(-1) @ v


def dual_attention(q, k, v, r, content_bias, position_bias):
    if q.shape[-1] != k.shape[-1] or r.shape[-1] != q.shape[-1]:
        raise ValueError("widths")
    if k.shape[-2] != v.shape[-2] or r.shape[-2] != k.shape[-2] or q.shape[-2] > k.shape[-2]:
        raise ValueError("lengths")
    if torch.is_grad_enabled() or q.shape[-2] <= 512:
        return attend(q, k, v, r, content_bias, position_bias)
    parts = []
    for start in range(0, q.shape[-2], 256):
        end = min(start + 256, q.shape[-2])
        keys, values, rows = k[..., :end, :], v[..., :end, :], r[..., r.shape[-2] - end :, :]
        block = q[..., start:end, :]
        parts.append(attend(block, keys, values, rows, content_bias, position_bias))
    return torch.cat(parts, -2)
