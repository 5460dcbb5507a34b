# expect: rejected
# problem: sdpa-numpy
# mistake: which keys are blocked is remembered for each mask object, though its numbers may change
import numpy as np

remembered = [None, None]


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q and k must have one width, k and v one length")
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        if remembered[0] is not mask:
            remembered[:] = mask, np.asarray(mask) == 0
        scores = np.where(remembered[1], -np.inf, scores)
    scores = scores - scores.max(-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(-1, keepdims=True)
    return weights @ v, weights
