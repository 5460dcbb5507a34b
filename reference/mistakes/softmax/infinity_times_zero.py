'''
title = "Entries of −∞ turn into NaN"
killed_by = "minus-infinity"
explanation = """
A product of 0 and −∞ is NaN, and one NaN in a row's sum makes all of the row NaN. Subtracting \
the maximum needs no factor: −∞ minus a finite number is −∞, and its exp is 0."""
hint = "Follow a row with one −∞ through every line and look for the first NaN."
'''

import numpy as np


def softmax(x, axis=-1):
    largest = x.max(axis=axis, keepdims=True)
    shifted = (x - largest) * (x > -np.inf)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
