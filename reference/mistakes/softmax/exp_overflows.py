'''
title = "The exponentials overflow: the largest number is not subtracted"
killed_by = "large-numbers"
explanation = """
exp of a number above 88 is infinite in float32, above 709 in float64, and inf / inf is NaN. \
Subtracting the largest number first changes nothing in the result and keeps every exponential at \
most 1."""
hint = "Which number may be subtracted from all entries of a row without changing its softmax?"
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
