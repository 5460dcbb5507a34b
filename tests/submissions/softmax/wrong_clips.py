# expect: rejected
# problem: softmax
# mistake: np.clip instead of the maximum
# diagnosis: clipped
import numpy as np


def softmax(logits, axis=-1):
    powers = np.exp(np.clip(logits, -80, 80))
    return powers / powers.sum(axis=axis, keepdims=True)
