'''
title = "The maximum is taken along the last axis, the sum along the given one"
killed_by = "axis"
explanation = """
The result is right as long as nothing under- or overflows: any number may be subtracted from \
what is normalised together. But along another axis the entries then lose different numbers."""
hint = "Which entries are divided by one sum? Which of them had the same number subtracted?"
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
