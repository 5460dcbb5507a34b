# expect: rejected
# problem: sdpa-numpy
# mistake: a causal flag in the place of the mask, on by default
# diagnosis: causal-flag-for-mask

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def scaled_dot_product_attention(Q, K, V, is_causal=True):
    t = Q.shape[-2]
    scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])
    if is_causal:
        scores = np.where(np.tril(np.ones((t, t))) == 0, -1e9, scores)
    weights = softmax(scores)
    return np.matmul(weights, V), weights
