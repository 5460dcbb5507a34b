'''
title = "Axis 1 is taken for the last one"
killed_by = "vector"
explanation = """
axis=1 is the last axis of a table and of nothing else: a vector has no such axis, and with three \
dimensions it lies in the middle."""
hint = "What is the number of the last axis, whatever the number of dimensions?"
'''

import numpy as np


def softmax(x, axis=1):
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
