# expect: rejected
# problem: softmax
# mistake: integers are truncated to 0
# diagnosis: integers-truncated
import numpy as np


def softmax(x, axis=-1):
    result = np.empty_like(x)
    shifted = x - x.max(axis=axis, keepdims=True)
    result[:] = np.exp(shifted) / np.exp(shifted).sum(axis=axis, keepdims=True)
    return result
