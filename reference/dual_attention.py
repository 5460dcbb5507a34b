"""Attention to content and to relative position in one score, as in Transformer-XL."""
# B batch  H heads  L queries  S keys, S ≥ L  D head size  t row of r, for the distance S − 1 − t

import math

import torch
from torch import Tensor
from torch.nn import functional


def dual_attention(
    q: Tensor, k: Tensor, v: Tensor, r: Tensor, content_bias: Tensor, position_bias: Tensor
) -> Tensor:
    """Return causal attention whose scores weigh content and distance, each with a bias.

    Query i stands at position p = S − L + i, so its distance from key j is p − j. With b for
    the content bias and c for the position bias of the head,
    scoreᵢⱼ = ((qᵢ + b) · kⱼ + (qᵢ + c) · rₜ) / √D, where t = S − 1 − (p − j) = L − 1 − i + j.
    The products with all rows of r are made once, (L, S), and then shifted into place, so no
    vectors are gathered for pairs: memory is O(L · S) and never O(L · S · D).

    Args:
        q: Queries, (B, H, L, D), floating point: the last L of S positions.
        k: Keys, (B, H, S, D), same dtype.
        v: Values, (B, H, S, D), same dtype.
        r: Projected embeddings of the distances S − 1, …, 1, 0, in that order, (H, S, D).
        content_bias: Added to the queries that meet keys, (H, D).
        position_bias: Added to the queries that meet distances, (H, D).

    Returns:
        Output (B, H, L, D), in the dtype of `q`.

    Raises:
        ValueError: If the sizes do not belong together, or there are fewer keys than queries.

    Source:
        Dai et al. 2019, arXiv:1901.02860, section 3.3; the shift: appendix B.
    """
    length, width = q.shape[-2:]
    if k.shape[-1] != width or r.shape != k.shape[1:] or v.shape != k.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} and r {tuple(r.shape)} "
            "must be (B, H, L, D), (B, H, S, D) twice, and (H, S, D)"
        )
    if k.shape[-2] < length:
        raise ValueError(f"{length} queries cannot be the last of {k.shape[-2]} positions")

    content = (q + content_bias.unsqueeze(1)) @ k.transpose(-2, -1)  # (B, H, L, S)
    by_row = (q + position_bias.unsqueeze(1)) @ r.transpose(-2, -1)  # (B, H, L, S), i and t
    position = _shifted(by_row)  # (B, H, L, S), i and j
    scores = (content + position) / math.sqrt(width)
    scores = scores.masked_fill(_future(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v


def _shifted(x: Tensor) -> Tensor:
    """Move row i of (B, H, L, S) to the left by L − 1 − i; what is right of position p is junk."""
    length, total = x.shape[-2:]
    padded = functional.pad(x, (1, 0))  # (B, H, L, S + 1), a zero before each row
    return padded.flatten(2)[..., length:].unflatten(2, (length, total))


def _future(scores: Tensor) -> Tensor:
    """Return (L, S), True where key j comes after query i."""
    length, total = scores.shape[-2:]
    everywhere = torch.ones(length, total, dtype=torch.bool, device=scores.device)
    return everywhere.triu(total - length + 1)
