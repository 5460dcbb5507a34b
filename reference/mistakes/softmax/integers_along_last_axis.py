'''
title = "Integers are normalised along the last axis, whatever axis is asked for"
killed_by = "axis-and-dtype"
explanation = """
Integers are converted and handed to the function once more, but the axis is not handed on, so \
that the default is taken."""
hint = "Call it with a table of integers and axis=0, and sum the columns of the result."
'''

import numpy as np


def softmax(x, axis=-1):
    if x.dtype.kind == "i":
        return softmax(x.astype(np.float64))
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
