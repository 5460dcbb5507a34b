'''
title = "Each score goes through a sigmoid"
killed_by = "weights"
explanation = """
A sigmoid looks at one score alone. The weights of a query do not sum to 1 and do not compete."""
hint = "Add up the weights of one query. Does raising one score lower another weight?"
'''

import math

import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError("leading dimensions differ")

    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = np.broadcast_to(mask, scores.shape) != 0
        scores = np.where(blocked, -math.inf, scores)
    weights = 1 / (1 + np.exp(-scores))
    return weights @ v, weights
