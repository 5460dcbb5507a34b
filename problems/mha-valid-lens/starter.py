# problem: mha-valid-lens
"""Multi-head attention with heads folded into the batch, and lengths in place of masks."""
# B batch  L query length  S key length  H heads  D head size  E = H·D num_hiddens
# N rows of a folded batch: N = B·H, row b·H + h is head h of item b

import math

import torch
from torch import Tensor, nn


def transpose_qkv(X: Tensor, num_heads: int) -> Tensor:
    """Return heads folded into the batch: (B, L, E) → (B·H, L, D)."""
    # TODO
    raise NotImplementedError


def transpose_output(X: Tensor, num_heads: int) -> Tensor:
    """Undo `transpose_qkv`: (B·H, L, D) → (B, L, E)."""
    # TODO
    raise NotImplementedError


def masked_softmax(X: Tensor, valid_lens: Tensor | None) -> Tensor:
    """Return softmax over the last axis, of which the first positions only are valid.

    Args:
        X: (N, L, S).
        valid_lens: How many positions are valid: (N,), (N, L), or None for all.

    Returns:
        Weights (N, L, S).
    """
    # TODO
    raise NotImplementedError


class MultiHeadAttention(nn.Module):
    """Concat(head_0, …, head_H−1) W_o, where head_h = masked_softmax(q_h k_hᵀ / √D) v_h."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ) -> None:
        super().__init__()
        # TODO: the maps W_q, W_k, W_v, W_o, in this order
        raise NotImplementedError

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None = None
    ) -> Tensor:
        """Attend from the queries to the valid positions of keys and values.

        Args:
            queries: (B, L, query_size).
            keys: (B, S, key_size).
            values: (B, S, value_size).
            valid_lens: How many keys are valid: (B,), (B, L), or None for all.

        Returns:
            (B, L, num_hiddens).
        """
        # TODO
        raise NotImplementedError
