"""Scaled dot-product attention."""
# B batch  L query length  S key length  H heads  D head size  Dv head size of values

import math

import torch
from torch import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return softmax(q kᵀ / √D) v and the weights softmax(q kᵀ / √D).

    Args:
        q: Queries, (…, L, D), floating point.
        k: Keys, (…, S, D), same dtype and leading dimensions.
        v: Values, (…, S, Dv), same dtype and leading dimensions.
        mask: Boolean, integer or float, broadcasts to (…, L, S); a query may not
            attend where it is 0.

    Returns:
        Output (…, L, Dv) and weights (…, L, S), in the dtype of `q`. A query that may
        attend to no key at all gets NaN; other queries are not affected.

    Raises:
        ValueError: If `q` and `k` differ in width, `k` and `v` in length, or the three
            in their leading dimensions.
        RuntimeError: If `mask` does not broadcast to (…, L, S).

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, equation 1.
    """
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k holds {k.shape[-2]} positions and v {v.shape[-2]}; both need S")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(
            f"leading dimensions differ: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
        )

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (…, L, S)
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights  # (…, L, Dv), (…, L, S)
