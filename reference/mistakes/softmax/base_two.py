'''
title = "Powers of 2 instead of exp"
killed_by = "values"
explanation = """
2ˣ normalises as well, but it is the softmax of x · ln 2, flatter than the contract's."""
hint = "What is the ratio of two weights whose numbers differ by 1?"
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp2(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
