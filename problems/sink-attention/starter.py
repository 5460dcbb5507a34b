# problem: sink-attention
"""Attention with a learned sink: a head may also give its weight to nothing."""
# B batch  H query heads  G key/value heads  L query length  S key length  D head size

import math

import torch
from torch import Tensor


def sink_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    sinks: Tensor,
    window: int | None = None,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
) -> Tensor:
    """Return causal attention whose softmax has the sink of its head as one more logit.

    Args:
        q: Queries of the last L positions, (B, H, L, D).
        k: Keys, (B, G, S, D); G divides H.
        v: Values, (B, G, S, D).
        sinks: A logit for each query head, (H,).
        window: How many positions a query sees, itself included; None for no bound.
        q_weight: (D,), of the RMS norm of the queries; None for no norms.
        k_weight: (D,), of the RMS norm of the keys.

    Returns:
        Output (B, H, L, D).
    """
    # TODO
    raise NotImplementedError
