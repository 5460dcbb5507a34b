"""Relative position bias: table[clip(j − i, −m, m) + m, h] is added to the scaled scores."""

# B batch  L length  H heads  D head size  E = H·D width  m largest distance told apart

import torch
from graders.shared import self_attention, without_masks

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_grows_at_most,
    assert_operations_do_not_grow,
    assert_rejected,
    check,
    fail,
    restated,
)

E, H, m = 33, 3, 4  # D = 11; the table is (9, 3)
B, L = 2, 7


def layer_of(candidate, embed_dim=E, num_heads=H, max_distance=m, dtype=torch.float32):
    return candidate.RelativeAttention(
        embed_dim=embed_dim, num_heads=num_heads, max_distance=max_distance, dtype=dtype
    )


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads, max_distance); the table is (2 · max_distance + 1, H)",
    points=3,
)
test_parameter_count = restated(
    self_attention.test_parameter_count, "Has no parameters but four maps and the table"
)


@check("Returns (B, L, E)", category="shape", points=2, after="constructor")
def test_output_shape(candidate, draw):
    answer = layer_of(candidate)(draw.normal(B, 5, E))

    assert answer.output.shape == (B, 5, E)


@check(
    "Distances up to max_distance have rows of their own: row j − i + m, before and after",
    category="values",
    points=5,
    after="output_shape",
)
def test_near(candidate, draw):
    for length, reach in ((2, 1), (5, 4), (5, 7), (7, 11)):
        layer = layer_of(candidate, max_distance=reach)
        assert_close(layer(draw.normal(B, length, E)), "output")


@check(
    "Distances beyond max_distance share the last row of their side",
    category="values",
    points=5,
    after="output_shape",
)
def test_far(candidate, draw):
    for length, reach in ((6, 4), (7, 2), (13, 4), (29, 5), (90, 40)):
        layer = layer_of(candidate, max_distance=reach)
        assert_close(layer(draw.normal(B, length, E)), "output")


@check(
    "max_distance 1: the position itself, what is before it, and what is after it",
    category="values",
    points=1,
    after="output_shape",
)
def test_reach_of_one(candidate, draw):
    layer = layer_of(candidate, 35, 5, 1)
    for length in (1, 2, 3, 11):
        assert_close(layer(draw.normal(B, length, 35)), "output")


@check("Other sizes: heads, widths, distances", category="values", points=2, after="output_shape")
def test_sizes(candidate, draw):
    for heads, D in ((2, 7), (5, 3), (7, 5)):
        n = draw.sizes("B L m", (2, 3, 5, 7, 11, 13))
        reach = n["m"] + (2 * n["m"] + 1 == heads)  # so that the table is not square
        layer = layer_of(candidate, heads * D, heads, reach)
        assert_close(layer(draw.normal(n["B"], n["L"], heads * D)), "output")


@check(
    "There is no limit to the length, nor to max_distance",
    category="values",
    points=2,
    after="output_shape",
)
def test_long(candidate, draw):
    # more positions beside more rows, and one-hot vectors fill the memory
    # of 128 positions or 256 rows a byte holds no more
    for length, reach in ((530, 6), (210, draw.integer(150, 200)), (140, 128)):
        assert_close(layer_of(candidate, 10, 2, reach)(draw.normal(1, length, 10)), "output")


@check(
    "Every call finds its own distances: long after short, short after long",
    category="robustness",
    points=2,
    after="output_shape",
)
def test_lengths(candidate, draw):
    layer = layer_of(candidate)
    for length in (5, 13, 3, 1, 13, 17, 2):
        assert_close(layer(draw.normal(B, length, E)), "output")
    for reach in (40, 30, 19, 40):  # layers that all reach as far as there are positions
        assert_close(layer_of(candidate, max_distance=reach)(draw.normal(B, 20, E)), "output")


@check(
    "Equal tokens are told apart by their distances alone",
    category="values",
    points=2,
    after="output_shape",
)
def test_order_is_felt(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, 1, E).expand(B, 8, E).clone()
    x[:, 5] = draw.normal(B, E)

    answer = layer(x)

    assert_close(answer, "output")
    if torch.allclose(answer.output[:, 4], answer.output[:, 6], rtol=1e-4, atol=1e-5):
        fail("a neighbour before a token and one after it have the same effect")


test_batch_items = without_masks.test_batch_items


@check(
    "Sizes of 1 are sizes like others: H = 1, D = 1, L = 1",
    category="shape",
    points=1,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for batch, length, heads, width in ((2, 7, 1, 11), (2, 7, 5, 5), (1, 1, 1, 3), (1, 9, 3, 33)):
        layer = layer_of(candidate, width, heads)
        assert_close(layer(draw.normal(batch, length, width)), "output")


test_large_logits = without_masks.test_large_logits
test_float64 = without_masks.test_float64


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="near")
def test_bfloat16(candidate, draw):
    # beyond 256 it does not hold every whole number, such as positions
    for length, reach in ((L, m), (draw.integer(390, 410), 380)):
        layer = layer_of(candidate, max_distance=reach, dtype=torch.bfloat16)
        assert_close(layer(draw.normal(1, length, E, dtype=torch.bfloat16)), "output")


test_float16 = restated(self_attention.test_float16, "float16 in, float16 out", after="near")


@check(
    "Gradients reach x, the maps and the table, and are right",
    category="gradients",
    points=4,
    after="output_shape",
)
def test_gradients(candidate, draw):
    for length, reach in ((9, 3), (4, 5)):  # clipped; and with rows that no pair uses
        assert_gradients_match(
            layer_of(candidate, max_distance=reach),
            draw.normal(B, length, E),
            wrt=(0,),
            cotangents=[draw.normal(B, length, E)],
            parameters=True,
        )


test_non_contiguous = without_masks.test_non_contiguous
test_inputs_unchanged = without_masks.test_inputs_unchanged
test_repeatable = without_masks.test_repeatable


@check(
    "A width that the heads do not divide raises, an input of another width too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_sizes(candidate, draw):
    assert_rejected(candidate.RelativeAttention, 10, 3, 4, why="embed_dim 10 with 3 heads")
    assert_rejected(
        layer_of(candidate),
        draw.normal(B, L, E - 1),
        why="an input of another width than embed_dim",
    )


test_written_from_scratch = without_masks.test_written_from_scratch


@check(
    "No Python loop over heads or positions",
    category="policy",
    points=0,
    after="output_shape",
    advisory=True,
)
def test_no_loop(candidate, draw):
    layer = layer_of(candidate)
    short, long = layer.observe(draw.normal(B, 3, E)), layer.observe(draw.normal(B, 12, E))
    assert_operations_do_not_grow(short, long, "positions")

    few = layer_of(candidate, 24, 2).observe(draw.normal(B, L, 24))
    many = layer_of(candidate, 24, 8).observe(draw.normal(B, L, 24))
    assert_operations_do_not_grow(few, many, "heads")


@check(
    "Looking the bias up takes no more memory when max_distance grows",
    category="cost",
    points=0,
    after="near",
    advisory=True,
)
def test_lookup(candidate, draw):
    x = draw.normal(1, 31, E)
    near, far = (layer_of(candidate, max_distance=d).observe(x).largest_elements for d in (5, 50))

    assert_grows_at_most(near, far, 1.5, "the largest intermediate, from max_distance 5 to 50,")


test_float64_precision = self_attention.test_float64_precision
