"""Positions whose scores are as extreme as graded scores get."""

import pytest
import torch

from mha_judge.grading.checks.corners.scores import LARGEST_SCORE
from mha_judge.grading.checks.extremes import lowest_with_itself
from mha_judge.grading.draw import Draw

E, H, D = 12, 3, 4


@pytest.mark.parametrize("seed", range(8))
def test_a_position_is_as_low_as_scores_get_however_large_the_biases_are(seed):
    draw = Draw(seed, "maps")
    maps = [draw.normal(E, E, dtype=torch.float64) for _ in "qk"]
    biases = [3 * draw.normal(E, dtype=torch.float64) for _ in "qk"]

    def queries_and_keys(x):
        return [
            (x @ map_ + bias).unflatten(-1, (H, D)) for map_, bias in zip(maps, biases, strict=True)
        ]

    low = lowest_with_itself(draw, E, queries_and_keys)

    q, k = queries_and_keys(low[None].double())
    scores = (q * k).sum(-1) / D**0.5
    assert -LARGEST_SCORE < float(scores.min()) < -0.9 * LARGEST_SCORE
