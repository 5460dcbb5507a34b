'''
title = "The axis is ignored: it is always the last one"
killed_by = "axis"
explanation = """
The argument `axis` is accepted, but maximum and sum are always taken along the last axis."""
hint = "Call it on a table with axis=0 and add up a column."
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
