"""Checks of self-attention layers, called with x (B, L, E) and a mask, that several graders take.

A grader has the sizes B, L, E and H, and `layer_of(candidate, embed_dim=E, num_heads=H, dtype=…)`.
"""

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_no_extra_parameters,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
)

MASK_DTYPES = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32)


@check(
    "Is made with (d_model, num_heads), and has maps for q, k, v and the output",
    category="shape",
    points=2,
)
def test_constructor(grader, candidate, draw):
    grader.layer_of(candidate)


@check(
    "Has no parameters but the four maps: 4E², and 4E of biases at most",
    category="cost",
    points=1,
    after="constructor",
)
def test_parameter_count(grader, candidate, draw):
    assert_no_extra_parameters(grader.layer_of(candidate))


@check("Returns (B, L, E)", category="shape", points=2, after="constructor")
def test_output_shape(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    answer = grader.layer_of(candidate)(draw.normal(B, L, E))

    assert answer.output.shape == (B, L, E)


@check("Right values on several random shapes", category="values", points=5, after="output_shape")
def test_values(grader, candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        width = n["H"] * n["D"]

        assert_close(
            grader.layer_of(candidate, width, n["H"])(draw.normal(n["B"], n["L"], width)), "output"
        )


@check(
    "Heads are independent: 1 head, E heads, and in between",
    category="values",
    points=2,
    after="output_shape",
)
def test_number_of_heads(grader, candidate, draw):
    B, L = grader.B, grader.L
    for heads in (1, 2, 3, 6, 30):
        assert_close(grader.layer_of(candidate, 30, heads)(draw.normal(B, L, 30)), "output")


@check(
    "Positions have no order of their own: permuting them permutes the output",
    category="values",
    points=2,
    after="output_shape",
)
def test_permutation(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(B, L, E)
    order = draw.permutation(L)

    straight, permuted = layer(x), layer(x[:, order])

    assert_close(permuted, "output")
    if not torch.allclose(permuted.output, straight.output[:, order], rtol=1e-3, atol=1e-4):
        fail("permuting the positions of x does not permute the rows of the output")


@check(
    "Any length, from 1 to beyond 64, one after the other in one layer",
    category="shape",
    points=2,
    after="output_shape",
)
def test_lengths(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    for length in (67, 1, 2, 13):
        assert_close(layer(draw.normal(B, length, E)), "output")
    assert_close(layer(draw.normal(1, 131, E)), "output")
    assert_close(layer(draw.normal(B, 67, E), draw.mask(67, 67)), "output")


@check(
    "Sizes that coincide are not confused: B = H, L = H, L = D",
    category="values",
    points=1,
    after="output_shape",
)
def test_equal_sizes(grader, candidate, draw):
    B, L, E, H = grader.B, grader.L, grader.E, grader.H
    layer = grader.layer_of(candidate)
    for batch, length in ((H, L), (B, H), (H, H), (B, E // H)):
        assert_close(layer(draw.normal(batch, length, E)), "output")
        assert_close(layer(draw.normal(batch, length, E), draw.mask(length, length)), "output")


@check(
    "Batch items are independent, and B = 1 is a batch",
    category="values",
    points=2,
    after="output_shape",
)
def test_batch_items(grader, candidate, draw):
    L, E = grader.L, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(3, L, E)

    assert_close(layer(x), "output")
    assert_close(layer(x[1:2]), "output")
    assert_close(layer(x[1:2], draw.mask(1, 1, 1, L)), "output")


@check(
    "A mask (L, L), rows for queries and columns for keys: 0 blocks, 1 may attend",
    category="masking",
    points=4,
    after="output_shape",
)
def test_mask(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(B, L, E)
    for _ in range(2):
        assert_close(layer(x, draw.mask(L, L)), "output")
    x[:, 3] = 0
    assert_close(layer.without_biases()(x, draw.mask(L, L)), "output")


@check("A causal mask", category="masking", points=2, after="output_shape")
def test_causal_mask(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    mask = torch.ones(L, L).tril().bool()

    assert_close(layer(draw.normal(B, L, E), mask), "output")
    assert_close(layer(draw.normal(B, L, E), mask.expand(B, 1, L, L)), "output")


@check(
    "A padding mask (B, 1, 1, L) and a mask (B, 1, L, L)",
    category="masking",
    points=3,
    after="output_shape",
)
def test_padding_mask(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(B, L, E)
    for shape in ((B, 1, 1, L), (B, 1, L, L)):
        assert_close(layer(x, draw.mask(*shape)), "output")


@check(
    "A mask (B, H, L, L) differs from item to item and from head to head",
    category="masking",
    points=3,
    after="output_shape",
)
def test_mask_per_head(grader, candidate, draw):
    B, L, E, H = grader.B, grader.L, grader.E, grader.H
    layer = grader.layer_of(candidate)
    mask = torch.ones(B, H, L, L, dtype=torch.bool)
    mask[:, 1] = draw.mask(B, L, L, keep=0.3)

    assert_close(layer(draw.normal(B, L, E), draw.mask(B, H, L, L)), "output")
    assert_close(layer(draw.normal(B, L, E), mask), "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="mask")
def test_mask_dtypes(grader, candidate, draw):
    B, L, E, H = grader.B, grader.L, grader.E, grader.H
    layer = grader.layer_of(candidate)
    x = draw.normal(B, L, E)
    for shape in ((B, 1, L, L), (L, L), (B, 1, 1, L), (B, H, L, L)):
        mask = draw.mask(*shape)
        for dtype in MASK_DTYPES:
            assert_close(layer(x, mask.to(dtype)), "output")


@check(
    "A blocked position has no influence, whatever it holds",
    category="masking",
    points=3,
    after="output_shape",
)
def test_blocked_key_is_not_felt(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    x = draw.normal(B, L, E)
    x[1] = x[0]
    x[1, 2] *= -1
    mask = draw.mask(L, L)
    mask[2] = False  # but for one key, whose score is very low in one of the two items
    mask[:, 2] = False
    mask[:, 3] = True
    layer = grader.layer_of(candidate)
    for scale in (20, 50):  # in the end, unmasked, it would take all the weight of some queries
        x[:, 2] = scale * x[:, 2]
        assert_close(layer(x, mask), "output")


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_blocked_row_stays_alone(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = draw.mask(L, L)
    open_mask = mask.clone()
    mask[1] = False
    others = [0, 2, 3, 4, 5, 6]

    blocked, alone = layer(x, mask), layer(x, open_mask)

    assert_close(alone, "output")
    if not torch.allclose(blocked.output[:, others], alone.output[:, others], rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")

    padding = draw.mask(B, 1, 1, L)
    padding[0] = False
    blocked, alone = layer(x, padding), layer(x[1:], padding[1:])

    assert_close(alone, "output")
    if not torch.allclose(blocked.output[1:], alone.output, rtol=1e-4, atol=1e-5):
        fail("a blocked item changes the output of other items")


@check(
    "Large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)
    for scale in (30.0, 100.0):
        assert_close(layer(scale * draw.normal(B, L, E)), "output")
    for scale in (10.0, 20.0, 40.0, 40.0):
        mask = draw.mask(L, L, keep=0.2)  # a few open keys, some of them with low scores
        assert_close(layer(scale * draw.normal(B, L, E), mask), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate, dtype=torch.float64)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.float64)), "output")
    assert_close(layer(draw.normal(B, L, E, dtype=torch.float64), draw.mask(L, L)), "output")


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="values",
)
def test_bfloat16(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate, dtype=torch.bfloat16)
    x = draw.normal(B, L, E, dtype=torch.bfloat16)

    assert_close(layer(x), "output")
    assert_close(layer(x, draw.mask(L, L)), "output")


@check("float16 in, float16 out, without a mask", category="numerics", points=1, after="values")
def test_float16(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate, dtype=torch.float16)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.float16)), "output")


@check(
    "Gradients reach x by all three ways, and the weights, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(grader, candidate, draw):
    B, L, E, H = grader.B, grader.L, grader.E, grader.H
    layer = grader.layer_of(candidate)
    cotangents = [draw.normal(B, L, E)]
    for mask in (draw.mask(L, L), None, draw.mask(B, 1, 1, L), draw.mask(B, H, L, L)):
        assert_gradients_match(
            layer, draw.normal(B, L, E), mask, wrt=(0,), cotangents=cotangents, parameters=True
        )


@check(
    "A strided input, as transposing makes it, gives the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)

    assert_close(layer(draw.normal(L, B, E).transpose(0, 1)), "output")
    assert_close(layer(draw.normal(B, L, 2 * E)[..., ::2]), "output")
    assert_close(
        layer(draw.normal(B, E, L).transpose(1, 2), draw.mask(L, L).T.contiguous().T), "output"
    )


@check("The input is left as it was", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)

    assert_inputs_unchanged(layer, draw.normal(B, L, E))
    for mask in (draw.mask(L, L), draw.mask(B, 1, L, L).float(), draw.mask(B, 1, 1, L)):
        assert_inputs_unchanged(layer, draw.normal(B, L, E), mask)
    for dtype in MASK_DTYPES:
        assert_inputs_unchanged(layer, draw.normal(B, L, E), draw.mask(L, L).to(dtype))
    exact = grader.layer_of(candidate, dtype=torch.float64)
    assert_inputs_unchanged(exact, draw.normal(B, L, E, dtype=torch.float64), draw.mask(L, L))


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(grader, candidate, draw):
    B, L, E, H = grader.B, grader.L, grader.E, grader.H
    layer = grader.layer_of(candidate)
    x, mask = draw.normal(B, L, E), draw.mask(L, L)

    assert_close(layer(x, mask), "output")
    assert_close(layer(draw.normal(1, 3, E)), "output")
    assert_close(layer(x), "output")
    assert_close(layer(x, mask), "output")
    assert_close(layer(x, draw.mask(L, L)), "output")
    for heads in (H, 1):  # layers of the same and of other sizes, made later
        grader.layer_of(candidate, num_heads=heads)
        assert_close(layer(x, mask), "output")


@check("An input of another width raises", category="robustness", points=1, after="output_shape")
def test_bad_width(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    for width in (E - 1, E + 1):
        assert_rejected(
            grader.layer_of(candidate),
            draw.normal(B, L, width),
            why=f"an input of width {width} where the layer was made for {E}",
        )


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    layer = grader.layer_of(candidate)

    assert_written_from_scratch(candidate, layer, draw.normal(B, L, E))
    assert_written_from_scratch(candidate, layer, draw.normal(B, L, E), draw.mask(L, L))


@check(
    "No Python loop over heads", category="policy", points=0, after="output_shape", advisory=True
)
def test_no_loop_over_heads(grader, candidate, draw):
    B, L = grader.B, grader.L
    x = draw.normal(B, L, 24)

    few = grader.layer_of(candidate, 24, 2).observe(x)
    many = grader.layer_of(candidate, 24, 8).observe(x)

    assert_operations_do_not_grow(few, many, "heads")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    answer = grader.layer_of(candidate, dtype=torch.float64)(
        draw.normal(B, L, E, dtype=torch.float64)
    )

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


@check("float16 with a mask", category="numerics", points=0, after="mask", advisory=True)
def test_float16_with_mask(grader, candidate, draw):
    B, L, E = grader.B, grader.L, grader.E
    x = draw.normal(B, L, E, dtype=torch.float16)

    assert_close(grader.layer_of(candidate, dtype=torch.float16)(x, draw.mask(L, L)), "output")
