# expect: accepted
# problem: softmax
import numpy as np


class Softmax:
    def __init__(self, axis=-1):
        self.axis = axis

    def __call__(self, x, axis=None):
        axis = self.axis if axis is None else axis
        out = np.array(x, dtype=x.dtype if x.dtype.kind == "f" else np.float64)
        out -= out.max(axis=axis, keepdims=True)
        np.exp(out, out=out)
        out /= out.sum(axis=axis, keepdims=True)
        return out
