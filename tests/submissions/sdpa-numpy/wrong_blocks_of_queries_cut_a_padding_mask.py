# expect: rejected
# problem: sdpa-numpy
# mistake: beyond 1024 queries each block takes its own rows of the mask; a padding mask has one row, so that later blocks get none
import numpy as np

BLOCK = 1024


def attend(q, k, v, mask):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1]).astype(q.dtype)
    if mask is not None and mask.size:
        scores = np.where(mask != 0, np.asarray(-1e9, dtype=scores.dtype), scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.matmul(weights, v), weights


def scaled_dot_product_attention(q, k, v, mask=None):
    length = q.shape[-2]
    if length <= BLOCK:
        return attend(q, k, v, mask)
    outputs, weights = [], []
    for first in range(0, length, BLOCK):
        rows = slice(first, first + BLOCK)
        output, weight = attend(q[..., rows, :], k, v, None if mask is None else mask[..., rows, :])
        outputs.append(output)
        weights.append(weight)
    return np.concatenate(outputs, axis=-2), np.concatenate(weights, axis=-2)
