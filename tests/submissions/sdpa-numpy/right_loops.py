# expect: accepted
# problem: sdpa-numpy
import math

import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    *lead, L, D = q.shape
    S, Dv = v.shape[-2:]
    if k.shape[-1] != D or k.shape[-2] != S:
        raise ValueError("shapes do not match")
    blocked = np.zeros((*lead, L, S), dtype=bool)
    if mask is not None:
        blocked[...] = mask
    output = np.zeros((*lead, L, Dv), dtype=q.dtype)
    weights = np.zeros((*lead, L, S), dtype=q.dtype)
    for index in np.ndindex(*lead):
        for i in range(L):
            allowed = [j for j in range(S) if not blocked[index][i, j]]
            if not allowed:
                continue
            row = [float(np.dot(q[index][i], k[index][j])) / math.sqrt(D) for j in allowed]
            top = max(row)
            powers = [math.exp(s - top) for s in row]
            total = sum(powers)
            for j, power in zip(allowed, powers, strict=True):
                weights[index][i, j] = power / total
                output[index][i] += (power / total) * v[index][j]
    return output, weights
