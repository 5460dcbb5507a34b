# expect: accepted
# problem: softmax
import math

import numpy as np


def softmax(x, axis=-1):
    moved = np.moveaxis(np.asarray(x), axis, -1)
    result = np.empty(moved.shape, dtype=np.result_type(x, np.float32))
    for index in np.ndindex(moved.shape[:-1]):
        row = [float(value) for value in moved[index]]
        top = max(row)
        powers = [math.exp(value - top) for value in row]
        total = math.fsum(powers)
        for j, power in enumerate(powers):
            result[(*index, j)] = power / total
    return np.moveaxis(result, -1, axis)
