# expect: accepted
# problem: softmax
import numpy as np


def softmax(a, axis=-1):
    # bring the axis to the front: then maximum and sum broadcast without keepdims
    front = np.swapaxes(a, 0, axis)
    powers = np.exp(front - front.max(0))
    return np.swapaxes(powers / powers.sum(0), 0, axis)
