'''
title = "Queries and keys of different width are cut to fit"
killed_by = "bad-widths"
explanation = """
Input that cannot be right gets an answer. A mismatch of widths is a bug of the caller, who \
should hear of it."""
hint = "What should the caller learn who passes keys of another layer by mistake?"
'''

import math

import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    width = min(q.shape[-1], k.shape[-1])
    q, k = q[..., :width], k[..., :width]

    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = np.broadcast_to(mask, scores.shape) != 0
        scores = np.where(blocked, -math.inf, scores)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
