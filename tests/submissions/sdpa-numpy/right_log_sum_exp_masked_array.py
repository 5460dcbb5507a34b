# expect: accepted
# problem: sdpa-numpy
import numpy as np
import numpy.ma as ma


def scaled_dot_product_attention(queries, keys, values, attn_mask=None):
    scale = 1.0 / float(np.sqrt(keys.shape[-1]))
    scores = queries @ np.swapaxes(keys, -1, -2) * scale
    if attn_mask is not None:
        hidden = np.broadcast_to(attn_mask, scores.shape).astype(bool)
        scores = ma.masked_array(scores, hidden).filled(-np.inf)
    lse = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(lse), 0, lse))
    return weights @ values, weights
