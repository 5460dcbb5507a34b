"""Checks of layers that are called with q, k, v and a mask, that several graders take.

A grader has the sizes B, L, S, E and H, `layer_of(candidate, embed_dim=E, num_heads=H, dtype=…)`,
and `qkv(draw, B, L, S, E, dtype)`, which draws the three.
"""

import torch

from mha_judge.grading import (
    assert_close,
    assert_operations_do_not_grow,
    check,
    fail,
)


@check("Returns (B, L, E) where L ≠ S", category="shape", points=2, after="constructor")
def test_output_shape(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    answer = grader.layer_of(candidate)(*grader.qkv(draw))

    assert answer.output.shape == (B, L, E)


@check(
    "Heads are independent: 1 head, E heads, and in between",
    category="values",
    points=2,
    after="output_shape",
)
def test_number_of_heads(grader, candidate, draw):
    for heads in (1, 2, 3, 6, 30):
        assert_close(grader.layer_of(candidate, 30, heads)(*grader.qkv(draw, E=30)), "output")


@check("Batch items are independent", category="values", points=1, after="output_shape")
def test_batch_items(grader, candidate, draw):
    layer = grader.layer_of(candidate)
    q, k, v = grader.qkv(draw, B=3)

    assert_close(layer(q, k, v), "output")
    assert_close(layer(q[1:2], k[1:2], v[1:2]), "output")


@check(
    "A blocked position has no influence, whatever its key and value hold",
    category="masking",
    points=3,
    after="constructor",
)
def test_blocked_key_is_not_felt(grader, candidate, draw):
    L, S = grader.L, grader.S
    layer = grader.layer_of(candidate)
    q, k, v = grader.qkv(draw)
    mask = draw.mask(L, S)
    mask[:, 2] = False
    mask[:, 3] = True
    v[:, 2] = 1000 * v[:, 2]

    assert_close(layer(q, k, v, mask), "output")

    k[:, 2] = 1000 * k[:, 2]  # unmasked it would take all the weight of some queries
    assert_close(layer(q, k, v, mask), "output")


@check(
    "Large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(grader, candidate, draw):
    L, S = grader.L, grader.S
    layer = grader.layer_of(candidate)
    q, k, v = grader.qkv(draw)
    for scale in (30.0, 100.0):
        assert_close(layer(q * scale, k * scale, v), "output")
    for scale in (10.0, 20.0):
        mask = draw.mask(L, S, keep=0.2)  # a few open keys, some of them with low scores
        assert_close(layer(q * scale, k * scale, v, mask), "output")


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(grader, candidate, draw):
    B, L, S, E = grader.B, grader.L, grader.S, grader.E
    q = draw.normal(L, B, E).transpose(0, 1)
    k = draw.normal(B, E, S).transpose(1, 2)
    v = draw.normal(B, S, 2 * E)[..., ::2]
    layer = grader.layer_of(candidate)

    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, draw.mask(L, S).T.contiguous().T), "output")


@check(
    "No Python loop over heads", category="policy", points=0, after="output_shape", advisory=True
)
def test_no_loop_over_heads(grader, candidate, draw):
    q, k, v = grader.qkv(draw, E=24)

    few = grader.layer_of(candidate, 24, 2).observe(q, k, v)
    many = grader.layer_of(candidate, 24, 8).observe(q, k, v)

    assert_operations_do_not_grow(few, many, "heads")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(grader, candidate, draw):
    answer = grader.layer_of(candidate, dtype=torch.float64)(*grader.qkv(draw, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


@check("float16 with a mask", category="numerics", points=0, after="mask", advisory=True)
def test_float16_with_mask(grader, candidate, draw):
    L, S = grader.L, grader.S
    q, k, v = grader.qkv(draw, dtype=torch.float16)

    assert_close(
        grader.layer_of(candidate, dtype=torch.float16)(q, k, v, draw.mask(L, S)), "output"
    )
