# expect: rejected
# problem: softmax
# mistake: always the last axis
# diagnosis: axis-ignored
import numpy as np


def softmax(x, axis=-1):
    p = np.exp(x - x.max(-1)[..., None])
    return p / p.sum(-1)[..., None]
