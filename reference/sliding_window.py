"""Sliding-window attention."""
# B batch  H heads  L length  D head size  W window, at most L

import math

import torch
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Return causal attention in which each query sees the last `window` positions.

    outputᵢ = Σⱼ softmaxⱼ(qᵢ · kⱼ / √D) vⱼ, where j runs from max(0, i − window + 1) to i.
    The keys of each window are gathered, so memory is O(L · W · D) and never O(L²).

    Args:
        q: Queries, (B, H, L, D), floating point.
        k: Keys, (B, H, L, D), same dtype.
        v: Values, (B, H, L, D), same dtype.
        window: How many positions a query sees, itself included; may exceed L.

    Returns:
        Output (B, H, L, D), in the dtype of `q`.

    Raises:
        ValueError: If the shapes of `q`, `k` and `v` differ, or `window` is below 1.

    Source:
        Beltagy et al. 2020, arXiv:2004.05150, section 3.1, in the causal form of Jiang et
        al. 2023, arXiv:2310.06825, section 2.
    """
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    if window < 1:
        raise ValueError(f"a window of {window} shows a query nothing; 1 is the smallest")
    length = q.shape[-2]

    offsets = torch.arange(1 - min(window, length), 1, device=q.device)  # (W,), … −2 −1 0
    places = torch.arange(length, device=q.device).unsqueeze(1) + offsets  # (L, W)
    keys = k[..., places.clamp(min=0), :]  # (B, H, L, W, D)
    values = v[..., places.clamp(min=0), :]  # (B, H, L, W, D)

    # scores, (B, H, L, W)
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)  # before the first position is nothing
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)  # (B, H, L, D)
