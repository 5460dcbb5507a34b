"""Relative position bias: table[clip(j − i, −m, m) + m, h] is added to the scaled scores."""

# B batch  L length  H heads  D head size  E = H·D width  m largest distance told apart

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_grows_at_most,
    assert_inputs_unchanged,
    assert_no_extra_parameters,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
)

E, H, m = 33, 3, 4  # D = 11; the table is (9, 3)
B, L = 2, 7


def layer_of(candidate, embed_dim=E, num_heads=H, max_distance=m, dtype=torch.float32):
    return candidate.RelativeAttention(
        embed_dim=embed_dim, num_heads=num_heads, max_distance=max_distance, dtype=dtype
    )


@check(
    "Is made with (embed_dim, num_heads, max_distance); the table is (2 · max_distance + 1, H)",
    category="shape",
    points=3,
)
def test_constructor(candidate, draw):
    layer_of(candidate)


@check(
    "Has no parameters but four maps and the table", category="cost", points=1, after="constructor"
)
def test_parameter_count(candidate, draw):
    assert_no_extra_parameters(layer_of(candidate))


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


@check("There is no limit to the length", category="values", points=2, after="output_shape")
def test_long(candidate, draw):
    assert_close(layer_of(candidate, 10, 2, 6)(draw.normal(1, 530, 10)), "output")


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


@check(
    "Batch items are independent, and B = 1 is a batch",
    category="values",
    points=1,
    after="output_shape",
)
def test_batch_items(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(3, L, E)

    assert_close(layer(x), "output")
    assert_close(layer(x[1:2]), "output")


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


@check("Large logits stay finite and right", category="numerics", points=2, after="output_shape")
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    for scale in (30.0, 100.0):
        assert_close(layer(scale * draw.normal(B, L, E)), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="near")
def test_float64(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float64)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.float64)), "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="near")
def test_bfloat16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.bfloat16)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.bfloat16)), "output")


@check("float16 in, float16 out", category="numerics", points=1, after="near")
def test_float16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float16)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.float16)), "output")


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


@check(
    "A strided input, as transposing makes it, gives the same",
    category="robustness",
    points=1,
    after="near",
)
def test_non_contiguous(candidate, draw):
    layer = layer_of(candidate)

    assert_close(layer(draw.normal(L, B, E).transpose(0, 1)), "output")
    assert_close(layer(draw.normal(B, E, L).transpose(1, 2)), "output")


@check("The input is left as it was", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    assert_inputs_unchanged(layer_of(candidate), draw.normal(B, L, E))


@check("The same call gives the same answer twice", category="robustness", points=1, after="near")
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    x, other = draw.normal(B, L, E), draw.normal(B, L, E)

    for one in (x, other, x, x):
        assert_close(layer(one), "output")


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


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="near",
)
def test_written_from_scratch(candidate, draw):
    assert_written_from_scratch(candidate, layer_of(candidate), draw.normal(B, L, E))


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


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = layer_of(candidate, dtype=torch.float64)(draw.normal(B, L, E, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")
