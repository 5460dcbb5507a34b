# problem: mha-numpy
"""Multi-head attention in NumPy."""
# B batch  L length  H heads  D head size  E width, E = H·D

import numpy as np


class MultiHeadAttentionNumpy:
    """Concat(head_0, …, head_H−1) W_o, where head_h = softmax(q_h k_hᵀ / √D) v_h."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        # TODO: the arrays W_q, W_k, W_v and W_o, (E, E) each, used as x @ W
        raise NotImplementedError

    def forward(
        self, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the output and the attention weights.

        Args:
            q: (B, L, E).
            k: (B, L, E).
            v: (B, L, E).
            mask: (L, L), (B, 1, 1, L), (B, 1, L, L) or (B, H, L, L); 1 may not attend.

        Returns:
            Output (B, L, E) and weights (B, H, L, L).
        """
        # TODO
        raise NotImplementedError
