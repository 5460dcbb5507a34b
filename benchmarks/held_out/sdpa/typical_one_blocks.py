# problem: sdpa
# wrong: 0 means may not attend and 1 means may; here every mask is read the other way round
# needs: mask
import torch
from torch import Tensor


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor = None):
    scale = q.shape[-1] ** -0.5
    scores = (q * scale) @ k.transpose(-1, -2)
    if mask is not None:
        # True = padding
        scores = scores.masked_fill(mask.bool(), -1e9)
    weights = scores.softmax(-1)
    return weights @ v, weights
