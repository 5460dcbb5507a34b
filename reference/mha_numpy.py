"""Multi-head attention in NumPy."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import numpy as np


class MultiHeadAttentionNumpy:
    """Concat(head₀ … head_H₋₁) Wₒ, where headₕ = softmax(qₕ kₕᵀ / √D) vₕ.

    Head h holds features h·D … h·D+D−1 of each projection. The arrays `W_q`, `W_k`, `W_v` and
    `W_o`, (E, E) each and used as `x @ W`, may be set from outside.

    Args:
        embed_dim: E, the width of inputs and output; `d_model` in the statement.
        num_heads: H; divides E; `n_heads` in the statement.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.num_heads = num_heads
        draw = np.random.default_rng().standard_normal
        self.W_q = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_k = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_v = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_o = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)

    def forward(
        self, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Attend from `q` to `k` and `v`.

        Args:
            q: (B, L, E), in the dtype of the four arrays.
            k: (B, L, E), same dtype.
            v: (B, L, E), same dtype.
            mask: Boolean, integer or float, (L, L), (B, 1, 1, L), (B, 1, L, L) or (B, H, L, L); a
                query may not attend where it is 1.

        Returns:
            Output (B, L, E) and weights (B, H, L, L), in the dtype of `q`. A query that may attend
            to no key at all gets NaN; other queries are not affected.

        Raises:
            ValueError: If an input is not E wide, `k` and `v` differ in length, or `mask` does not
                broadcast to (B, H, L, L).
        """
        q = self._split(q @ self.W_q)  # (B, H, L, D)
        k = self._split(k @ self.W_k)  # (B, H, L, D)
        v = self._split(v @ self.W_v)  # (B, H, L, D)

        scores = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[-1])  # (B, H, L, L)
        if mask is not None:
            blocked = np.broadcast_to(mask, scores.shape) != 0
            scores = np.where(blocked, -math.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)

        heads = weights @ v  # (B, H, L, D)
        return self._merge(heads) @ self.W_o, weights  # (B, L, E), (B, H, L, L)

    def _split(self, x: np.ndarray) -> np.ndarray:
        batch, length, width = x.shape
        x = x.reshape(batch, length, self.num_heads, width // self.num_heads)  # (B, L, H, D)
        return x.swapaxes(1, 2)  # (B, H, L, D)

    def _merge(self, x: np.ndarray) -> np.ndarray:
        batch, heads, length, head_dim = x.shape
        return x.swapaxes(1, 2).reshape(batch, length, heads * head_dim)  # (B, L, E)
