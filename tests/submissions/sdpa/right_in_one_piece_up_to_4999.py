# expect: accepted
# problem: sdpa
import math

import torch

WHOLE = 4_999  # queries that are attended from at once


def attend(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


def scaled_dot_product_attention(q, k, v, mask=None):
    length = q.shape[-2]
    if length <= WHOLE:
        return attend(q, k, v, mask)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], length, mask.shape[-1])
    parts = [
        attend(q[..., rows, :], k, v, None if mask is None else mask[..., rows, :])
        for rows in (slice(WHOLE), slice(WHOLE, None))
    ]
    return tuple(torch.cat(both, dim=-2) for both in zip(*parts))
