'''
title = "The largest number so far is kept between calls"
killed_by = "repeatable"
explanation = """
The maximum lives outside the function and only ever grows. After one call with large numbers, \
small ones underflow."""
hint = "Call it with numbers near 1000 and then with numbers near 0."
by_chance = true
'''

import numpy as np

seen = []


def softmax(x, axis=-1):
    seen.append(x.max())
    shifted = x - max(seen)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
