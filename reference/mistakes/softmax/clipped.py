'''
title = "Large numbers are clipped before exp"
killed_by = "large-numbers"
explanation = """
Clipping avoids the overflow, but every number beyond the limit then counts as the limit: 800 and \
900 share the weight."""
hint = "What are the weights of 800 and 900, and what do you get?"
[variants]
replace = "-500, 500"
by = ["-50, 50", "-80, 80", "-88, 88", "-100, 100", "-700, 700", "-709, 709"]
'''

import numpy as np


def softmax(x, axis=-1):
    shifted = np.clip(x, -500, 500)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
