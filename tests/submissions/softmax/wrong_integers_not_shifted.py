# expect: rejected
# problem: softmax
# mistake: the maximum of integers is not subtracted
import numpy as np
def softmax(x, axis=-1):
    x = np.asarray(x)
    if x.dtype.kind == 'i':
        e = np.exp(x)
        return e / e.sum(axis=axis, keepdims=True)
    m = x.max(axis=axis, keepdims=True)
    e = np.exp(x - m)
    return e / e.sum(axis=axis, keepdims=True)
