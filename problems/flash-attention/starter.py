# problem: flash-attention
"""Exact attention with one block of keys at a time."""
# L query length  S key length  D head size  Dv head size of values

import math

import torch
from torch import Tensor


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """Return softmax(q kᵀ / √D) v without ever holding all scores.

    Args:
        q: Queries, (…, L, D).
        k: Keys, (…, S, D).
        v: Values, (…, S, Dv).
        block_size: How many keys are looked at together.
        causal: Whether query i attends to keys 0 … i alone; L = S then.

    Returns:
        Output, (…, L, Dv).
    """
    # TODO
    raise NotImplementedError
