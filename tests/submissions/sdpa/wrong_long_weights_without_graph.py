# expect: rejected
# problem: sdpa
# mistake: more than 1024 queries are worked off in blocks, and the weights that are returned are gathered without their graph, so no gradient flows back through them
import math

import torch

BLOCK = 1024


def _attend(q, k, v, mask):
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e30)
    weights = torch.softmax(scores, -1)
    return (weights @ v.to(wide)).to(q.dtype), weights.to(q.dtype)


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q, k and v do not fit")
    L = q.shape[-2]
    if L <= BLOCK:
        return _attend(q, k, v, mask)
    weights = q.new_empty(q.shape[:-1] + k.shape[-2:-1])
    outputs = []
    for start in range(0, L, BLOCK):
        rows = slice(start, start + BLOCK)
        part = mask
        if mask is not None and mask.shape[-2] != 1:
            part = mask[..., rows, :]
        o, w = _attend(q[..., rows, :], k, v, part)
        outputs.append(o)
        weights[..., rows, :] = w.detach()  # a copy, for whoever looks at them
    return torch.cat(outputs, -2), weights
