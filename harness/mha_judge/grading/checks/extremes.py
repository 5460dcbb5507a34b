"""Positions whose scores are as extreme as they are graded, found by the weights of a layer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mha_judge.grading.checks.elsewhere.scores import LARGEST_SCORE
from mha_judge.grading.draw import Draw

_DRAWN = 99
"""Positions of which one is chosen. In one of two the score that is largest in size is negative."""
_NEXT_TO = 0.97
"""How near to the largest score: rounding must not lead beyond it."""


def lowest_with_itself(
    draw: Draw, width: int, queries_and_keys: Callable[[Tensor], tuple[Tensor, Tensor]]
) -> Tensor:
    """Return a position whose score with itself is as low as scores are graded.

    One of the other sign has a score with it that is as high. Where it is blocked by adding some
    number that is not large enough, or by filling one in, it takes all the weight.

    Args:
        draw: Draws positions.
        width: How wide they are.
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
    scores = scores_of(x)
    chosen = (scores.amin(-1) / scores.abs().amax(-1)).argmin()
    x = x[chosen, None]
    for _ in range(3):  # a bias does not grow with x
        x = x * (_NEXT_TO * LARGEST_SCORE / scores_of(x).abs().max()) ** 0.5
    return x[0].float()
