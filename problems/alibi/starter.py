# problem: alibi
"""ALiBi: attention with linear biases."""
# B batch  H heads  L queries  S keys, of which the last L are the queries' positions  D head size

import math

import torch
from torch import Tensor


def alibi_slopes(num_heads: int) -> Tensor:
    """Return the slope of each head, (H,), for any number of heads."""
    # TODO
    raise NotImplementedError


def alibi_attention(q: Tensor, k: Tensor, v: Tensor, slopes: Tensor, causal: bool = True) -> Tensor:
    """Return attention whose scores fall with the distance of query and key.

    Args:
        q: Queries, (B, H, L, D), at the last L of the S positions.
        k: Keys, (B, H, S, D).
        v: Values, (B, H, S, D).
        slopes: What a score loses for each position of distance, (H,).
        causal: Whether a query sees only keys up to its own position.

    Returns:
        Output (B, H, L, D).
    """
    # TODO
    raise NotImplementedError
