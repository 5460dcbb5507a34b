'''
title = "Results for integers are stored as integers, all 0"
killed_by = "integers"
explanation = """
np.zeros_like(x) has the dtype of x. Weights below 1 that are written into an array of integers \
become 0."""
hint = "Call it on np.array([1, 2, 3]) and print the dtype of every array on the way."
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    out = np.zeros_like(x)
    out[...] = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return out
