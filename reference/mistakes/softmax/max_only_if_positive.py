'''
title = "Nothing is subtracted from negative rows"
killed_by = "very-negative"
explanation = """
Only positive maxima are subtracted. A row whose numbers are all far below 0 underflows to 0 / 0."""
hint = "Take the row (−1000, −1001): what are its exponentials?"
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - np.maximum(x.max(axis=axis, keepdims=True), 0)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
