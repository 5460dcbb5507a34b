# expect: rejected
# problem: softmax
# mistake: axis 1 whatever the number of dimensions
# diagnosis: axis-one
import numpy as np


def softmax(X, axis=1):
    Z = X - X.max(axis=axis, keepdims=True)
    P = np.exp(Z)
    S = P.sum(axis=axis, keepdims=True)
    return P / S
