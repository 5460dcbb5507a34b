# problem: sdpa
"""Scaled dot-product attention: softmax(q kᵀ / √D) v."""
# B batch  L query length  S key length  D head size  Dv head size of values

import math

import torch
from torch import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the output and the attention weights.

    Args:
        q: Queries, (…, L, D).
        k: Keys, (…, S, D).
        v: Values, (…, S, Dv).
        mask: Broadcasts to (…, L, S); 0 may not attend.

    Returns:
        Output (…, L, Dv) and weights (…, L, S).
    """
    # TODO
    raise NotImplementedError
