'''
title = "The result is float32 whatever comes in"
killed_by = "output-shape"
explanation = """
The input is converted to float32 and nothing converts back. float64 is to stay float64."""
hint = "Print the dtype of the result for an array of float64."
'''

import numpy as np


def softmax(x, axis=-1):
    x = x.astype(np.float32)
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
