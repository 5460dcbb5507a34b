'''
title = "The logarithm of the softmax is returned"
killed_by = "values"
explanation = """
x − logsumexp(x) is the log-softmax that a loss is computed from. The contract wants the weights \
themselves."""
hint = "Are your results between 0 and 1?"
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return shifted - np.log(exponentials.sum(axis=axis, keepdims=True))
