'''
title = "Right for two dimensions only"
killed_by = "more-dimensions"
explanation = """
The rows are read as x.shape[0] of them, which is all there is in a table. With more dimensions \
the last axis is not what is normalised, or the shapes do not fit."""
hint = "Call it on an array (2, 3, 4) and add up along the last axis."
'''

import numpy as np


def softmax(x, axis=-1):
    axis = 1 if axis == -1 and x.ndim > 1 else axis
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
