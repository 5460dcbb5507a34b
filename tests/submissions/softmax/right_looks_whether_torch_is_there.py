# expect: accepted
# problem: softmax
# asks whether torch is installed, without importing it
import importlib.util

import numpy as np

HAS_TORCH = importlib.util.find_spec("torch") is not None


def softmax(x, axis=-1):
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
