# problem: sdpa-numpy
"""Scaled dot-product attention in NumPy: softmax(q kᵀ / √D) v."""
# B batch  H heads  L query length  S key length  D head size  Dv head size of values

import numpy as np


def scaled_dot_product_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the output and the attention weights.

    Args:
        q: Queries, (…, L, D).
        k: Keys, (…, S, D).
        v: Values, (…, S, Dv).
        mask: Broadcasts to (…, L, S); 1 may not attend.

    Returns:
        Output (…, L, Dv) and weights (…, L, S).
    """
    # TODO
    raise NotImplementedError
