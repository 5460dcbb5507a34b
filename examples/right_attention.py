# problem: sdpa
"""Scaled dot-product attention, written out step by step."""
# L query length  S key length  D head size  Dv head size of values

import math

import torch
from torch import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return softmax(q kᵀ / √D) v and the weights."""
    scores = q @ k.transpose(-2, -1)  # (…, L, S)
    scores = scores / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)  # exp(−∞) is exactly 0
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights  # (…, L, Dv), (…, L, S)
