# expect: accepted
# problem: softmax
import numpy as np


def softmax(z, axis=-1):
    z = z if np.issubdtype(z.dtype, np.floating) else z.astype(np.float64)
    return np.exp(z - np.logaddexp.reduce(z, axis=axis, keepdims=True))
