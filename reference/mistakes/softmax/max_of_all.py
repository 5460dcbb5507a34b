'''
title = "One maximum is subtracted from all rows together"
killed_by = "rows-apart"
explanation = """
The largest number of the whole array is subtracted. A row whose own numbers all lie far below it \
underflows to 0 / 0."""
hint = """
Two rows, one with numbers near 0 and one with numbers near 1000: what do the exponentials of the \
first become?"""
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max()
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
