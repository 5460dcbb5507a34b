"""Scaled dot-product attention in NumPy."""
# B batch  H heads  L query length  S key length  D head size  Dv head size of values

import math

import numpy as np


def scaled_dot_product_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return softmax(q kᵀ / √D) v and the weights softmax(q kᵀ / √D).

    Args:
        q: Queries, (…, L, D), floating point.
        k: Keys, (…, S, D), same dtype and leading dimensions.
        v: Values, (…, S, Dv), same dtype and leading dimensions.
        mask: Boolean, integer or float, broadcasts to (…, L, S); a query may not attend where it
            is 1.

    Returns:
        Output (…, L, Dv) and weights (…, L, S), in the dtype of `q`. A query that may attend to no
        key at all gets NaN; other queries are not affected.

    Raises:
        ValueError: If `q` and `k` differ in width, `k` and `v` in length, the three in their
            leading dimensions, or if `mask` does not broadcast to (…, L, S).

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, equation 1.
    """
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k holds {k.shape[-2]} positions and v {v.shape[-2]}; both need S")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(f"leading dimensions differ: q {q.shape}, k {k.shape}, v {v.shape}")

    # math.sqrt, not np.sqrt: a float of Python leaves float32 as it is
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])  # (…, L, S)
    if mask is not None:
        blocked = np.broadcast_to(mask, scores.shape) != 0
        scores = np.where(blocked, -math.inf, scores)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights  # (…, L, Dv), (…, L, S)
