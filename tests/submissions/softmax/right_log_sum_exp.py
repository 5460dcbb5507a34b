# expect: accepted
# problem: softmax
import numpy
from numpy import ndarray


def _lse(z: ndarray, axis: int) -> ndarray:
    top = numpy.amax(z, axis, keepdims=True)
    return top + numpy.log(numpy.exp(z - top).sum(axis, keepdims=True))


def stable_softmax(logits: ndarray, dim: int = -1) -> ndarray:
    return numpy.exp(logits - _lse(logits, dim))
