"""A stable softmax in NumPy."""

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return exp(x) divided by its sum along an axis.

    The largest number along the axis is subtracted first: a factor exp(−max) above and below,
    which cancels, and leaves no exponential larger than 1.

    Args:
        x: Floats or integers, of any shape; −inf entries get 0.
        axis: Along which the results sum to 1.

    Returns:
        An array of the shape of `x`: float32 of float32, float64 of float64 and of integers. Where
        all entries along the axis are −inf, NaN.

    Source:
        Goodfellow, Bengio and Courville 2016, "Deep Learning", section 4.1 and equation 6.29.
    """
    shifted = x - x.max(axis=axis, keepdims=True)  # the largest is 0
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
