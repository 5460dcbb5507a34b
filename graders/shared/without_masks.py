"""Checks of self-attention layers, called with x (B, L, E) alone, that several graders take.

A grader has the sizes B, L and E, and `layer_of(candidate, dtype=…)`.
"""

import torch

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_written_from_scratch,
    check,
)


@check(
    "Batch items are independent, and B = 1 is a batch",
    category="values",
    points=1,
    after="output_shape",
)
def test_batch_items(grader, candidate, draw):
    L, E = grader.L, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(3, L, E)

    assert_close(layer(x), "output")
    assert_close(layer(x[1:2]), "output")


@check("Large logits stay finite and right", category="numerics", points=2, after="output_shape")
def test_large_logits(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    for scale in (30.0, 100.0):
        assert_close(layer(scale * draw.normal(B, L, E)), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="near")
def test_float64(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate, dtype=torch.float64)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.float64)), "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="near")
def test_bfloat16(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate, dtype=torch.bfloat16)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.bfloat16)), "output")


@check(
    "A strided input, as transposing makes it, gives the same",
    category="robustness",
    points=1,
    after="near",
)
def test_non_contiguous(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)

    assert_close(layer(draw.normal(L, B, E).transpose(0, 1)), "output")
    assert_close(layer(draw.normal(B, E, L).transpose(1, 2)), "output")


@check("The input is left as it was", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    assert_inputs_unchanged(grader.layer_of(candidate), draw.normal(B, L, E))


@check("The same call gives the same answer twice", category="robustness", points=1, after="near")
def test_repeatable(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    x, other = draw.normal(B, L, E), draw.normal(B, L, E)

    for one in (x, other, x, x):
        assert_close(layer(one), "output")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="near",
)
def test_written_from_scratch(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    assert_written_from_scratch(candidate, grader.layer_of(candidate), draw.normal(B, L, E))
