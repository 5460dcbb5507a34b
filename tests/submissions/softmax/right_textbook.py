# expect: accepted
# problem: softmax
import numpy as np


def softmax(x, axis=-1):
    """Numerically stable softmax."""
    e_x = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e_x / np.sum(e_x, axis=axis, keepdims=True)


if __name__ == "__main__":
    assert np.isclose(softmax(np.array([1.0, 2.0, 3.0])).sum(), 1)
