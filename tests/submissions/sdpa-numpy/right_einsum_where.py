# expect: accepted
# problem: sdpa-numpy
from math import sqrt

import numpy as np


def sdpa_numpy(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask=None):
    logits = np.einsum("...ld,...sd->...ls", q, k) / sqrt(q.shape[-1])
    if mask is not None:
        logits = np.where(mask == 1, np.finfo(logits.dtype).min, logits)
    p = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    p = p / np.einsum("...ls->...l", p)[..., np.newaxis]
    return [np.einsum("...ls,...sv->...lv", p, v), p]
