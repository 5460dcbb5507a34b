'''
title = "The maximum is subtracted from the caller's array"
killed_by = "inputs-unchanged"
explanation = """
x -= … writes into the array that was passed in. The caller's scores are gone after the call."""
hint = "Keep a copy of x, call the function, and compare."
'''

import numpy as np


def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    shifted = x
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
