'''
title = "The smallest number is subtracted instead of the largest"
killed_by = "large-numbers"
explanation = """
After subtracting the minimum every exponent is at least 0, and the largest may overflow as \
before. With an entry of −∞ all become ∞."""
hint = "Which exponents are safe, very large ones or very small ones?"
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.min(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
