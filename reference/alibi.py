"""Attention with linear biases: a slope for each head, and scores that fall by distance."""
# H heads  P largest power of two that is not above H
# B batch  L queries  S keys, of which the last L are the queries' positions  D head size

import math

import torch
from torch import Tensor


def alibi_slopes(num_heads: int) -> Tensor:
    """Return the slope of each head.

    For P = H heads they are 2^(−8/P), 2^(−16/P), …, 2^(−8). If H is no power of two, the slopes of
    P heads come first, and after them the first, third, fifth, … of those of 2P heads, until there
    are H.

    Args:
        num_heads: H, at least 1.

    Returns:
        (H,), in the default dtype.

    Raises:
        ValueError: If there is no head.

    Source:
        Press, Smith and Lewis 2022, arXiv:2108.12409, section 3, and `get_slopes` of the code that
        was published with it (ofirpress/attention_with_linear_biases) for other numbers of heads.
    """
    if num_heads < 1:
        raise ValueError(f"{num_heads} heads; at least 1 is needed")
    power = 2 ** (num_heads.bit_length() - 1)  # P
    own = torch.arange(1, power + 1) * 8 / power  # (P,)
    between = torch.arange(1, 2 * power, 2) * 8 / (2 * power)  # (P,)
    exponents = torch.cat([own, between[: num_heads - power]])  # (H,)
    return 2.0**-exponents


def alibi_attention(q: Tensor, k: Tensor, v: Tensor, slopes: Tensor, causal: bool = True) -> Tensor:
    """Return softmax(q kᵀ / √D − slope · distance) v, each head with its own slope.

    Query i stands at position S − L + i and key j at position j. Their distance is
    |S − L + i − j|. A causal query sees the keys up to its own position.

    Args:
        q: Queries, (B, H, L, D), floating point.
        k: Keys, (B, H, S, D), same dtype, S ≥ L.
        v: Values, (B, H, S, D), same dtype.
        slopes: What a score loses for each position of distance, (H,), same dtype.
        causal: Whether keys after the query are left out.

    Returns:
        Output (B, H, L, D), in the dtype of `q`.

    Raises:
        ValueError: If `q`, `k` and `v` do not fit, if there are more queries than keys, or if there
            is not one slope for each head.

    Source:
        Press, Smith and Lewis 2022, arXiv:2108.12409, section 3, for the causal form. The form that
        looks both ways, and the positions of queries with a cache, are those of `alibi_slopes` in
        flash-attn (Dao-AILab/flash-attention).
    """
    if k.shape != v.shape or q.shape[:2] != k.shape[:2] or q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} do not fit")
    if q.shape[-2] > k.shape[-2]:
        raise ValueError(f"{q.shape[-2]} queries cannot be the last of {k.shape[-2]} positions")
    if slopes.shape != q.shape[1:2]:
        raise ValueError(f"slopes {tuple(slopes.shape)} for {q.shape[1]} heads")

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, L, S)
    key = torch.arange(k.shape[-2], device=q.device)  # (S,)
    query = key[k.shape[-2] - q.shape[-2] :].unsqueeze(-1)  # (L, 1)
    distance = query - key  # (L, S), below 0 for keys that follow
    bias = -slopes.reshape(-1, 1, 1) * distance.abs()  # (H, L, S)
    scores = scores + bias
    if causal:
        scores = scores.masked_fill(distance < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v  # (B, H, L, D)
