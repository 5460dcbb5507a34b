'''
title = "Without an axis it normalises along the first"
killed_by = "values"
explanation = """
The default axis is 0, so that columns sum to 1. The contract's default is the last axis."""
hint = "Which axis does the signature name when the caller names none?"
'''

import numpy as np


def softmax(x, axis=0):
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
