"""Positions whose scores are as extreme as graded scores get, found from a layer's weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mha_judge.grading.checks.corners.scores import LARGEST_SCORE
from mha_judge.grading.draw import Draw

_DRAWN = 99
"""Positions to choose from. In about half of them the largest score in size is negative."""
_LOWEST = 10
"""How much the lowest score counts against the mean of all heads: a mistake shows more if that is
low too."""
_NEXT_TO = 0.97
"""The share of the largest score that is aimed at: rounding must not lead beyond it."""


def lowest_with_itself(
    draw: Draw, width: int, queries_and_keys: Callable[[Tensor], tuple[Tensor, Tensor]]
) -> Tensor:
    """Return a position whose score with itself is as low as graded scores get.

    The negated position has a score with it that is as high. If that one is blocked by adding or
    filling in a number that is not large enough, it takes all the weight.

    Args:
        draw: Draws positions.
        width: The width of a position.
        queries_and_keys: The reference's, (N, H, D) each, in float64, of N positions.

    Returns:
        The position, (width,), in float32.
    """

    def scores_of(x: Tensor) -> Tensor:
        with torch.no_grad():
            q, k = queries_and_keys(x)
        scores: Tensor = (q * k).sum(-1) / q.shape[-1] ** 0.5  # (N, H)
        return scores

    x = draw.normal(_DRAWN, width, dtype=torch.float64)
    for _ in range(3):  # a bias does not grow with x
        largest = scores_of(x).abs().amax(-1, keepdim=True)
        x = x * (_NEXT_TO * LARGEST_SCORE / largest) ** 0.5
    scores = scores_of(x)
    return x[(_LOWEST * scores.amin(-1) + scores.mean(-1)).argmin()].float()
