# expect: rejected
# problem: softmax
# mistake: right for one dimension only
# diagnosis: whole-array
import numpy as np


def softmax(x, axis=-1):
    exps = np.exp(x - np.max(x))
    return exps / np.sum(exps)
