"""Multi-head attention with dropout on the attention weights."""
# B batch  L query length  S key length  H heads  D head size  E width, E = H·D  p dropout

import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Concat(head₀ … head_H₋₁) Wₒ, where headₕ = dropout(softmax(qₕ kₕᵀ / √D)) vₕ.

    In training each weight of each head, query and key is set to 0 with probability p, on its own,
    and divided by 1 − p if it is kept: its mean stays what it was. In evaluation nothing happens.
    Head h holds features h·D … h·D+D−1 of each projection.

    Args:
        embed_dim: E, the width of inputs and output.
        num_heads: H; divides E.
        dropout: p, the probability with which a weight is dropped.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`, or `dropout` is no probability.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2; dropout on the weights as in the
        authors' implementation, tensor2tensor. Division by 1 − p: Srivastava et al. 2014, JMLR 15,
        "Dropout", section 10, "inverted dropout" by its common name.
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from `q` to `k` and `v`.

        Args:
            q: (B, L, E), in the dtype of the parameters.
            k: (B, S, E), same dtype.
            v: (B, S, E), same dtype.
            mask: Boolean, integer or float, (L, S), (B, 1, 1, S), (B, 1, L, S) or
                (B, H, L, S); a query may not attend where it is 0.

        Returns:
            Output (B, L, E) and the weights as they were used, (B, H, L, S), in the dtype of `q`.

        Raises:
            ValueError: If an input is not E wide, `k` and `v` differ in length, or the
                three in batch size.
            RuntimeError: If `mask` does not broadcast to (B, H, L, S).
        """
        self._check(q, k, v)
        q = self._split(self.q_proj(q))  # (B, H, L, D)
        k = self._split(self.k_proj(k))  # (B, H, S, D)
        v = self._split(self.v_proj(v))  # (B, H, S, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, S)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = self.dropout(torch.softmax(scores, dim=-1))

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, weights

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, ·, H, D)
        return x.transpose(1, 2)  # (B, H, ·, D)

    def _check(self, q: Tensor, k: Tensor, v: Tensor) -> None:
        for name, x in {"q": q, "k": k, "v": v}.items():
            if x.ndim != 3 or x.shape[-1] != self.embed_dim:
                raise ValueError(
                    f"{name} has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
                )
        if not q.shape[0] == k.shape[0] == v.shape[0]:
            raise ValueError(f"batch sizes differ: q {q.shape[0]}, k {k.shape[0]}, v {v.shape[0]}")
        if k.shape[1] != v.shape[1]:
            raise ValueError(f"k holds {k.shape[1]} positions and v {v.shape[1]}; both need S")
