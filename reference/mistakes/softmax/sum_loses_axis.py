'''
title = "The sum drops its axis and no longer broadcasts"
killed_by = "square"
explanation = """
Without keepdims=True the sum of a (rows, columns) array has shape (rows,), which meets the \
columns in the division. It raises, or, where the array is square, divides by another row's sum."""
hint = "Print the shapes on both sides of the division."
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis)
