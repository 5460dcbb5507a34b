'''
title = "The sum runs over the whole array, not over each row"
killed_by = "values"
explanation = """
Without an axis the sum runs over every entry, so that the rows have to share a single 1."""
hint = "Add up one row of your result. What should come out?"
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum()
