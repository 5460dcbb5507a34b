# expect: rejected
# problem: sdpa-numpy
# mistake: (1 - mask) * -1e9, which blocks where the mask is 0
# diagnosis: mask-inverted
import numpy as np


class Attention:
    def __call__(self, q, k, v, mask=None):
        s = np.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            s = s + (1 - np.asarray(mask, dtype=s.dtype)) * -1e9
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        p = s / s.sum(axis=-1, keepdims=True)
        return np.einsum("...ij,...jd->...id", p, v), p
