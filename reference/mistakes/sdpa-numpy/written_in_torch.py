'''
title = "The result comes from PyTorch"
killed_by = "written-in-numpy"
explanation = """
PyTorch's softmax gives the right numbers, but the exercise is to write the mechanism in NumPy."""
hint = "You have the scores. Three operations of NumPy and a division make weights of them."
by_check = true
'''

import math

import numpy as np
import torch


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
    weights = torch.from_numpy(scores).softmax(-1).numpy()
    return weights @ v, weights
