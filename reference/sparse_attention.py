"""Sparse attention: a pattern of near, strided and global pairs, and attention under a mask."""
# B batch  H heads  L length  D head size

import math

import torch
from torch import Tensor


def sparse_mask(length: int, window: int, stride: int, num_global: int) -> Tensor:
    """Return which query i may attend to which key j: near, strided or global pairs.

    mask[i, j] = |i − j| ≤ window, or (i − j) mod stride = 0, or min(i, j) < num_global. The
    pattern is symmetric, not causal, and holds the diagonal.

    Args:
        length: L, the number of positions.
        window: How far a query sees to either side.
        stride: Distances divisible by it are seen, forwards and backwards.
        num_global: The first so many positions see all positions, and are seen by all.

    Returns:
        Boolean (L, L), rows are queries and columns keys; True may attend.

    Raises:
        ValueError: If `stride` is below 1, or another argument below 0.

    Source:
        Child et al. 2019, arXiv:1904.10509, section 4 (strided); Beltagy et al. 2020,
        arXiv:2004.05150, section 3.1 (window and global), joined as in Zaheer et al. 2020,
        arXiv:2007.14062, section 2.
    """
    if stride < 1:
        raise ValueError(f"no distance is divisible by a stride of {stride}; 1 is the smallest")
    if min(length, window, num_global) < 0:
        raise ValueError("length, window and num_global must not be negative")
    query = torch.arange(length).unsqueeze(1)  # (L, 1)
    key = torch.arange(length)  # (L,)
    distance = query - key  # (L, L), negative for keys that follow
    near = distance.abs() <= window
    strided = distance % stride == 0
    anchored = torch.minimum(query, key) < num_global
    return near | strided | anchored


def sparse_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Return softmax(q kᵀ / √D) v over the pairs that the mask allows.

    Args:
        q: Queries, (B, H, L, D), floating point.
        k: Keys, (B, H, L, D), same dtype.
        v: Values, (B, H, L, D), same dtype.
        mask: Boolean, (L, L), True may attend; any pattern.

    Returns:
        Output (B, H, L, D), in the dtype of `q`. A query that may attend to no key at all gets
        NaN; other queries are not affected.

    Raises:
        ValueError: If `q`, `k` and `v` differ in shape, or `mask` is not boolean (L, L).

    Source:
        Child et al. 2019, arXiv:1904.10509, section 4; equation 1 of Vaswani et al. 2017,
        arXiv:1706.03762v7, over the pairs that are left.
    """
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    if mask.dtype is not torch.bool or mask.shape != (q.shape[-2], q.shape[-2]):
        raise ValueError(f"the mask is {mask.dtype} {tuple(mask.shape)}; bool (L, L) is needed")

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, L, L)
    scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v  # (B, H, L, D)
