'''
title = "Entries of −∞ are replaced by 0 and get weight"
killed_by = "minus-infinity"
explanation = """
−∞ marks an entry that must get nothing. Replaced by 0 it takes part like any other number."""
hint = "What is exp(−∞)? Does it need help?"
'''

import numpy as np


def softmax(x, axis=-1):
    x = np.where(np.isinf(x), 0, x)
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
