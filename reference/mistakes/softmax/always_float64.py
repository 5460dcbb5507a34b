'''
title = "The result is float64 whatever comes in"
killed_by = "float32"
explanation = """
The input is converted to float64, as `astype(float)` does, and nothing converts back. A model in \
float32 then doubles its memory from here on."""
hint = "Print the dtype of the result for an array of float32."
'''

import numpy as np


def softmax(x, axis=-1):
    x = x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
