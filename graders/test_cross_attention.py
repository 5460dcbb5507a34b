"""Cross-attention: queries from x (B, L, E), keys and values from a context (B, S, Ec)."""

# B batch  L query length  S context length  H heads  D head size  E = H·D width  Ec context width

import torch
from graders.shared import self_attention

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
    restated,
)
from mha_judge.grading.expecting.compare import compare
from mha_judge.grading.expecting.expected import Expected

E, H, Ec = 33, 3, 26  # D = 11
B, L, S = 2, 5, 7
MASK_DTYPES = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32)


def layer_of(candidate, embed_dim=E, num_heads=H, context_dim=Ec, dtype=torch.float32):
    return candidate.CrossAttention(
        embed_dim=embed_dim, num_heads=num_heads, context_dim=context_dim, dtype=dtype
    )


def pair(draw, B=B, L=L, S=S, E=E, Ec=Ec, dtype=torch.float32):
    return draw.normal(B, L, E, dtype=dtype), draw.normal(B, S, Ec, dtype=dtype)


def assert_items_close(answer, items):
    """Assert that the outputs of some items of the batch are right."""
    wanted = answer.expected["output"]
    some = Expected(wanted.exact[items], wanted.rounded[items], wanted.largest_logit)
    compare(answer.output[items], some, "the output of the other items")


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads, context_dim), and has maps for q, k, v and the output",
)
test_parameter_count = restated(
    self_attention.test_parameter_count,
    "Has no parameters but the four maps: 2E² + 2E·Ec, and 4E of biases at most",
)


@check("Returns (B, L, E) where L ≠ S and E ≠ Ec", category="shape", points=2, after="constructor")
def test_output_shape(candidate, draw):
    answer = layer_of(candidate)(*pair(draw))

    assert answer.output.shape == (B, L, E)


@check(
    "Queries from x, keys and values from the context, on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for x_is_longer in (False, True, False):
        n = draw.sizes("B L S H D Ec", (2, 3, 5, 7, 11, 13))
        L, S = sorted((n["L"], n["S"]), reverse=x_is_longer)
        width = n["H"] * n["D"]
        layer = layer_of(candidate, width, n["H"], n["Ec"])

        assert_close(layer(*pair(draw, n["B"], L, S, width, n["Ec"])), "output")


@check(
    "The context may be narrower than x, wider, or just as wide",
    category="values",
    points=2,
    after="output_shape",
)
def test_context_width(candidate, draw):
    for width in (1, 20, 33, 66, 70):
        layer = layer_of(candidate, context_dim=width)
        assert_close(layer(*pair(draw, Ec=width)), "output")


@check(
    "x and the context may be equally long, or either the longer one",
    category="values",
    points=2,
    after="output_shape",
)
def test_lengths(candidate, draw):
    layer = layer_of(candidate)
    for length, context_length in ((7, 7), (11, 3), (3, 29)):
        assert_close(layer(*pair(draw, L=length, S=context_length)), "output")


@check(
    "Heads are independent: 1 head, E heads, and in between",
    category="values",
    points=2,
    after="output_shape",
)
def test_number_of_heads(candidate, draw):
    for heads in (1, 2, 3, 6, 30):
        assert_close(layer_of(candidate, 30, heads)(*pair(draw, E=30)), "output")


@check("Batch items are independent", category="values", points=1, after="output_shape")
def test_batch_items(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw, B=3)

    assert_close(layer(x, context), "output")
    assert_close(layer(x[1:2], context[1:2]), "output")


@check(
    "The order of the context does not matter, nor does a query depend on the others",
    category="values",
    points=1,
    after="output_shape",
)
def test_order(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw)
    mask = draw.mask(B, S)
    order = draw.permutation(S)

    assert_close(layer(x, context[:, order], mask[:, order]), "output")
    assert_close(layer(x.flip(1), context, mask), "output")
    assert_close(layer(x[:, :2], context, mask), "output")


@check(
    "Sizes of 1 are sizes like others: B, L or S = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    layer = layer_of(candidate)
    for sizes in ({"B": 1}, {"L": 1}, {"S": 1}, {"B": 1, "L": 1, "S": 1}):
        assert_close(layer(*pair(draw, **sizes)), "output")
    assert_close(layer(*pair(draw, L=1), draw.mask(B, S)), "output")


@check("A mask (B, S): 1 keeps, 0 is padding", category="masking", points=4, after="constructor")
def test_mask(candidate, draw):
    layer = layer_of(candidate)
    for _ in range(2):
        assert_close(layer(*pair(draw), draw.mask(B, S).long()), "output")
    x, context = pair(draw)
    x[:, 1], context[:, 3] = 0, 0
    assert_close(layer.without_biases()(x, context, draw.mask(B, S).long()), "output")


@check(
    "Each item has its own mask, also where B is 1, H or L, and L is S",
    category="masking",
    points=3,
    after="constructor",
)
def test_own_mask(candidate, draw):
    layer = layer_of(candidate)
    for count, length in ((1, L), (H, L), (L, L), (S, S)):  # the wrong axis may broadcast here
        x, context = pair(draw, B=count, L=length)
        assert_close(layer(x, context, draw.mask(count, S).long()), "output")
    as_wide = layer_of(candidate, context_dim=E)
    x, context = pair(draw, L=S, Ec=E)
    assert_close(as_wide(x, context, draw.mask(B, S).long()), "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="mask")
def test_mask_dtypes(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw)
    mask = draw.mask(B, S)
    for dtype in MASK_DTYPES:
        assert_close(layer(x, context, mask.to(dtype)), "output")


@check(
    "The padding of the context has no influence, whatever it holds",
    category="masking",
    points=3,
    after="constructor",
)
def test_padding_is_not_felt(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw)
    mask = draw.mask(B, S).long()
    mask[:, 2:4] = torch.tensor([0, 1])
    for scale in (10.0, 1000.0):  # unmasked, padding would take all the weight of some queries
        noise = scale * draw.normal(B, S, Ec)
        assert_close(layer(x, torch.where(mask[..., None] == 1, context, noise), mask), "output")


@check(
    "An item whose context is nothing but padding does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_empty_context_stays_alone(candidate, draw):
    layer = layer_of(candidate)
    mask = draw.mask(3, S).long()
    mask[1] = 0

    assert_items_close(layer(*pair(draw, B=3), mask), [0, 2])


@check(
    "Large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw)
    for scale in (30.0, 100.0):
        assert_close(layer(x * scale, context * scale), "output")
    for scale in (10.0, 20.0):
        mask = draw.mask(B, S, keep=0.2).long()  # a few keys are left, some with low scores
        assert_close(layer(x * scale, context * scale, mask), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float64)
    x, context = pair(draw, dtype=torch.float64)

    assert_close(layer(x, context), "output")
    assert_close(layer(x, context, draw.mask(B, S).long()), "output")


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="values",
)
def test_bfloat16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.bfloat16)
    x, context = pair(draw, dtype=torch.bfloat16)

    assert_close(layer(x, context), "output")
    assert_close(layer(x, context, draw.mask(B, S).long()), "output")


@check("float16 in, float16 out, without a mask", category="numerics", points=1, after="values")
def test_float16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float16)

    assert_close(layer(*pair(draw, dtype=torch.float16)), "output")


@check(
    "Gradients reach x, the context and the weights, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw)
    for mask in ((), (draw.mask(B, S).long(),)):
        assert_gradients_match(
            layer,
            x,
            context,
            *mask,
            wrt=(0, 1),
            cotangents=[draw.normal(B, L, E)],
            parameters=True,
        )


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(L, B, E).transpose(0, 1)
    context = draw.normal(B, Ec, S).transpose(1, 2)

    assert_close(layer(x, context), "output")
    assert_close(layer(x, context, draw.mask(B, S).T.contiguous().T), "output")
    assert_close(layer(draw.normal(B, L, 2 * E)[..., ::2], context), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)
    mask = draw.mask(B, S)

    assert_inputs_unchanged(layer, *pair(draw))
    for dtype in MASK_DTYPES:
        assert_inputs_unchanged(layer, *pair(draw), mask.to(dtype))


@check(
    "Every call reads its own context: nothing is kept from the call before",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw)
    mask = draw.mask(B, S).long()

    assert_close(layer(x, context, mask), "output")
    assert_close(layer(x, draw.normal(B, S, Ec)), "output")
    assert_close(layer(*pair(draw, B=1, L=3, S=2)), "output")
    assert_close(layer(x, context), "output")
    assert_close(layer(x, context, mask), "output")
    for heads in (H, 1):  # layers of the same and of other sizes, made later
        layer_of(candidate, num_heads=heads)
        assert_close(layer(x, context, mask), "output")


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(candidate.CrossAttention, 10, 3, 6, why="embed_dim 10 with 3 heads")


@check(
    "Shapes that do not fit raise: widths, batch sizes, a mask of another length",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_inputs(candidate, draw):
    layer = layer_of(candidate)
    x, context = pair(draw)
    mask = draw.mask(B, S)

    assert_rejected(layer, x[..., :-1], context, why="an x of another width than embed_dim")
    assert_rejected(layer, x, context[..., :-1], why="a context of another width than context_dim")
    assert_rejected(layer, x, draw.normal(3, S, Ec), why="x of 2 items with a context of 3")
    assert_rejected(layer, x, context, mask[:, :-1], why="a mask shorter than the context")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    layer = layer_of(candidate)

    assert_written_from_scratch(candidate, layer, *pair(draw))
    assert_written_from_scratch(candidate, layer, *pair(draw), draw.mask(B, S))


@check(
    "No Python loop over heads", category="policy", points=0, after="output_shape", advisory=True
)
def test_no_loop_over_heads(candidate, draw):
    x, context = pair(draw, E=24)

    few = layer_of(candidate, 24, 2).observe(x, context)
    many = layer_of(candidate, 24, 8).observe(x, context)

    assert_operations_do_not_grow(few, many, "heads")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = layer_of(candidate, dtype=torch.float64)(*pair(draw, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


@check("float16 with a mask", category="numerics", points=0, after="mask", advisory=True)
def test_float16_with_mask(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float16)

    assert_close(layer(*pair(draw, dtype=torch.float16), draw.mask(B, S).long()), "output")
