"""Multi-head attention with heads folded into the batch, and lengths in place of masks."""
# B batch  L query length  S key length  H heads  D head size  E = H·D num_hiddens
# N rows of a folded batch: N = B·H, row b·H + h is head h of item b

import math

import torch
from torch import Tensor, nn


def transpose_qkv(X: Tensor, num_heads: int) -> Tensor:
    """Return heads, folded into the batch: out[b·H + h, l, d] = X[b, l, h·D + d].

    Args:
        X: (B, L, E), any dtype.
        num_heads: H; divides E.

    Returns:
        (B·H, L, D), in the dtype of `X`.

    Raises:
        RuntimeError: If `num_heads` does not divide E.

    Source:
        Zhang et al., Dive into Deep Learning, arXiv:2106.11342, section 11.5.
    """
    X = X.reshape(*X.shape[:2], num_heads, X.shape[2] // num_heads)  # (B, L, H, D)
    return X.transpose(1, 2).flatten(0, 1)  # (B, H, L, D), then (B·H, L, D)


def transpose_output(X: Tensor, num_heads: int) -> Tensor:
    """Undo `transpose_qkv`: out[b, l, h·D + d] = X[b·H + h, l, d].

    Args:
        X: (B·H, L, D), any dtype.
        num_heads: H.

    Returns:
        (B, L, E), in the dtype of `X`.

    Raises:
        RuntimeError: If `num_heads` does not divide the rows of `X`.

    Source:
        Zhang et al., Dive into Deep Learning, arXiv:2106.11342, section 11.5.
    """
    X = X.unflatten(0, (-1, num_heads))  # (B, H, L, D)
    return X.transpose(1, 2).flatten(2)  # (B, L, H, D), then (B, L, E)


def masked_softmax(X: Tensor, valid_lens: Tensor | None) -> Tensor:
    """Return softmax over the last axis, of which the first positions only are valid.

    Args:
        X: Scores, (N, L, S).
        valid_lens: How many positions are valid: for each row of the batch, (N,), for each
            query, (N, L), or None for all of them. Whole numbers from 1 to S.

    Returns:
        Weights (N, L, S), in the dtype of `X`; 0 at positions that are not valid. Where no
        position is valid, NaN.

    Source:
        Zhang et al., Dive into Deep Learning, arXiv:2106.11342, section 11.3.
    """
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    positions = torch.arange(X.shape[-1], device=X.device)  # (S,)
    lens = valid_lens.reshape(X.shape[0], -1, 1)  # (N, 1, 1) or (N, L, 1)
    return torch.softmax(X.masked_fill(positions >= lens, -math.inf), dim=-1)


class MultiHeadAttention(nn.Module):
    """Concat(head₀ … head_H₋₁) Wₒ, where headₕ = masked_softmax(qₕ kₕᵀ / √D) vₕ.

    Args:
        key_size: Width of the keys.
        query_size: Width of the queries.
        value_size: Width of the values.
        num_hiddens: E, the width of all heads together, and of the output.
        num_heads: H; divides E.
        dropout: Probability with which each weight is dropped in training.
        bias: Whether the four maps have biases.

    Raises:
        ValueError: If `num_heads` does not divide `num_hiddens`.

    Source:
        Zhang et al., Dive into Deep Learning, arXiv:2106.11342, section 11.5, after Vaswani et
        al. 2017, arXiv:1706.03762v7, section 3.2.2.
    """

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
        if num_heads < 1 or num_hiddens % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {num_hiddens}")
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None = None
    ) -> Tensor:
        """Attend from `queries` to the valid positions of `keys` and `values`.

        Args:
            queries: (B, L, query_size), in the dtype of the parameters.
            keys: (B, S, key_size), same dtype.
            values: (B, S, value_size), same dtype.
            valid_lens: How many keys are valid: for each item, (B,), for each query, (B, L), or
                None for all of them.

        Returns:
            (B, L, E), in the dtype of `queries`.

        Raises:
            RuntimeError: If an input has another width, or `keys` and `values` another length.
        """
        q = transpose_qkv(self.W_q(queries), self.num_heads)  # (N, L, D)
        k = transpose_qkv(self.W_k(keys), self.num_heads)  # (N, S, D)
        v = transpose_qkv(self.W_v(values), self.num_heads)  # (N, S, D)
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, 0)  # (N,) or (N, L)

        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (N, L, S)
        weights = masked_softmax(scores, valid_lens)
        heads = self.dropout(weights) @ v  # (N, L, D)
        return self.W_o(transpose_output(heads, self.num_heads))  # (B, L, E)
