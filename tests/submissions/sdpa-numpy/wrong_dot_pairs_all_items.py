# expect: rejected
# problem: sdpa-numpy
# mistake: np.dot on more than two dimensions
# diagnosis: products-by-dot
import numpy as np


def attention(query, key, value, mask=None):
    scores = np.dot(query, key.swapaxes(-1, -2)) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + mask * -1e9
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    probs = np.exp(scores) / np.sum(np.exp(scores), axis=-1, keepdims=True)
    return np.dot(probs, value), probs
