"""Attention with a learned sink for each head, a sliding window and norms of queries and keys."""
# B batch  H query heads  G key/value heads  L query length  S key length  D head size

import math

import torch
from torch import Tensor

EPS = 1e-6


def sink_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    sinks: Tensor,
    window: int | None = None,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
) -> Tensor:
    """Return causal attention in which each head may also give weight to nothing.

    outputₚ = Σⱼ exp(sₚⱼ) vⱼ / (exp(sinkₕ) + Σⱼ exp(sₚⱼ)) with sₚⱼ = qₚ · kⱼ / √D, where j runs from
    max(0, p − window + 1) to p. Query i stands at position p = S − L + i. With norms, q and k are
    first x / √(mean of x² + ε) ⊙ weight, along D.

    Args:
        q: Queries, (B, H, L, D), floating point; those of the last L positions.
        k: Keys, (B, G, S, D), same dtype; G divides H, and key head g serves H/G neighbours.
        v: Values, (B, G, S, D), same dtype.
        sinks: The logit of each query head's sink, (H,), same dtype.
        window: How many positions a query sees, itself included; None for all up to its own.
        q_weight: (D,), same dtype; None, as `k_weight` then is, for no norms.
        k_weight: (D,), same dtype.

    Returns:
        Output (B, H, L, D), in the dtype of `q`. A query that no key precedes gets zeros.

    Raises:
        ValueError: If shapes do not belong together, or one weight is given without the other.

    Source:
        The sink: OpenAI 2025, arXiv:2508.10925, the section on the architecture, and `sdpa` in
        gpt_oss/torch/model.py; with a sink of 0 it is equation 2 of Xiao et al. 2023,
        arXiv:2309.17453. The norms: Dehghani et al. 2023, arXiv:2302.05442, section 2, with
        equation 4 of Zhang, Sennrich 2019, arXiv:1910.07467, in the place of LayerNorm.
    """
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape != v.shape:
        raise ValueError(f"k is {tuple(k.shape)} and v {tuple(v.shape)}; they need one shape")
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{k.shape[1]} key heads do not divide {q.shape[1]} query heads")
    if sinks.shape != q.shape[1:2]:
        raise ValueError(f"sinks are {tuple(sinks.shape)}; they need {tuple(q.shape[1:2])}")
    if (q_weight is None) != (k_weight is None):
        raise ValueError("one of q_weight and k_weight is given; norms need both")
    if q_weight is not None and k_weight is not None:
        q = _normalised(q, q_weight)
        k = _normalised(k, k_weight)
    queries_per_group = q.shape[1] // k.shape[1]
    k = k.repeat_interleave(queries_per_group, dim=1)  # (B, H, S, D): k0 k0 k1 k1
    v = v.repeat_interleave(queries_per_group, dim=1)  # (B, H, S, D): v0 v0 v1 v1

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    length, keys = scores.shape[-2:]
    positions = torch.arange(keys - length, keys, device=q.device)  # (L,), of the queries
    distance = positions.unsqueeze(1) - torch.arange(keys, device=q.device)  # (L, S)
    blocked = distance < 0
    if window is not None:
        blocked = blocked | (distance >= window)
    scores = scores.masked_fill(blocked, -math.inf)  # (B, H, L, S)

    sink = sinks.view(-1, 1, 1).expand(*scores.shape[:-1], 1)  # (B, H, L, 1)
    scores = torch.cat((scores, sink), dim=-1)  # (B, H, L, S + 1)
    weights = torch.softmax(scores, dim=-1)
    return weights[..., :-1] @ v  # (B, H, L, D): the sink has no value


def _normalised(x: Tensor, weight: Tensor) -> Tensor:
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(mean_square + EPS) * weight
