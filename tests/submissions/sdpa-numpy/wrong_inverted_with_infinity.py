# expect: rejected
# problem: sdpa-numpy
# mistake: -inf where the mask is False
# diagnosis: mask-inverted
import numpy as np


def attention(Q, K, V, M=None):
    A = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if M is not None:
        A = np.where(M, A, -np.inf)
    A = np.exp(A - A.max(axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    return A @ V, A
