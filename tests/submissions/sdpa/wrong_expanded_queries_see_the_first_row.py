# expect: rejected
# problem: sdpa
# mistake: a query that is expanded over L is worked off once, with the first row of the mask
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k must have the same width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v must have the same length")
    length = q.shape[-2]

    # A learned query that was expanded over the positions: all rows are one and the same, so that
    # it is enough to compare one of them with the keys.
    shared = length > 1 and q.stride(-2) == 0
    if shared:
        q = q[..., :1, :]
        if mask is not None:
            mask = mask[..., :1, :]

    scores = torch.matmul(q / math.sqrt(q.shape[-1]), k.transpose(-2, -1))
    if mask is not None:
        blocked = mask.to(scores.device) == 0
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    output = torch.matmul(weights, v)
    if shared:
        weights = weights.repeat_interleave(length, dim=-2)
        output = output.repeat_interleave(length, dim=-2)
    return output, weights
