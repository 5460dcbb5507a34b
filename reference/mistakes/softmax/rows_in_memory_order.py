'''
title = "Rows are cut from the memory, not from the array"
killed_by = "non-contiguous"
explanation = """
ravel(order='K') gives the entries as they lie in memory. For a transposed array that is another \
order, and its rows are mixed."""
hint = "Call it on x and on x.T.copy().T: the two hold the same numbers."
'''

import numpy as np


def softmax(x, axis=-1):
    last = axis in (-1, x.ndim - 1)
    x = x.ravel(order="K").reshape(x.shape) if last else x
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
