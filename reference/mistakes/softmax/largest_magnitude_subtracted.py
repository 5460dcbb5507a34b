'''
title = "The largest magnitude is subtracted, not the largest number"
killed_by = "very-negative"
explanation = """
max(|x|) is right where the largest number is positive. A row of −10 000s gets exponents of −20 \
000, all exponentials are 0, and 0 / 0 is NaN."""
hint = "Take the row (−1000, −1001) and follow it line by line."
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - np.abs(x).max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
