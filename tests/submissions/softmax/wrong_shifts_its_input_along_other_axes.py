# expect: rejected
# problem: softmax
# mistake: along other axes than the last the input is changed
import numpy as np
def softmax(x, axis=-1):
    x = np.asarray(x)
    m = x.max(axis=axis, keepdims=True)
    if axis in (0,1) and x.ndim>1: x -= m
    else: x = x - m
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
