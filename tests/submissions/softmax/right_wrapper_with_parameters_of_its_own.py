# expect: accepted
# problem: softmax
# A decorator makes a function of an array and an axis out of one of a vector, and keeps its name.
import functools

import numpy as np


def along_an_axis(function):
    @functools.wraps(function)
    def lifted(array, dim=-1):
        return np.apply_along_axis(function, dim, np.asarray(array))

    return lifted


@along_an_axis
def softmax(vector):
    shifted = vector - vector.max()
    dtype = shifted.dtype if shifted.dtype.kind == "f" else np.dtype(np.float64)
    numbers = np.exp(shifted, dtype=dtype)
    return numbers / numbers.sum()
