"""Self-attention with one fused projection: a map E → 3E, one product, then taken apart."""

# B batch  L length  H heads  D head size  E = H·D width

import torch
from graders.shared import self_attention

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
    fail,
    restated,
)

E, H = 33, 3  # D = 11
B, L = 2, 7


# every operator of PyTorch that multiplies matrices, by itself or under another's name
PRODUCTS = frozenset(
    "aten.mm aten.addmm aten.bmm aten.baddbmm aten.addbmm aten.mv aten.addmv aten.dot aten.vdot "
    "aten.matmul aten.linear aten.einsum aten.convolution aten.bilinear".split()
)


def _is_one_map(parameter):
    sizes = sorted(size for size in parameter.shape or [] if size != 1)
    return sizes == [E, 3 * E]  # three matrices in a stack are three maps


def _described(parameter):
    return f"{parameter.path} {'×'.join(map(str, parameter.shape))}"


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.FusedSelfAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads), and has weights for q, k, v and the output",
)
test_parameter_count = restated(
    self_attention.test_parameter_count,
    "Has no parameters but the maps: 4E², and 4E of biases at most",
)


@check(
    "Queries, keys and values have one map together, E → 3E",
    category="cost",
    points=3,
    after="constructor",
)
def test_one_map(candidate, draw):
    layer = layer_of(candidate)

    if not any(_is_one_map(parameter) for parameter in layer.parameters):
        found = ", ".join(_described(p) for p in layer.parameters if len(p.shape or []) > 1)
        fail(f"no parameter holds the 3E² weights of q, k and v for E = {E}", f"found {found}")


test_output_shape = self_attention.test_output_shape


@check(
    "They come from one product: four matrix products in all, for one head and one position",
    category="cost",
    points=3,
    after=("one_map", "output_shape"),
)
def test_one_product(candidate, draw):
    seen = layer_of(candidate, 11, 1).observe(draw.normal(1, 1, 11))

    products = {name: count for name, count in seen.operators.items() if name in PRODUCTS}
    if sum(products.values()) > 4:  # the projection, the scores, the weighted values, the output
        fail(
            f"takes {sum(products.values())} matrix products where 4 are wanted: "
            "q, k and v come from more than one",
            ", ".join(f"{name} {count} times" for name, count in sorted(products.items())),
        )
    several = layer_of(candidate, 11, 1).observe(draw.normal(1, 5, 11))
    for positions, largest in ((1, seen.largest_elements), (5, several.largest_elements)):
        if largest < positions * 3 * 11:  # the scores may have been computed without a product
            fail("no product gives the 3E features of q, k and v together")
    long = layer_of(candidate, 290, 1).observe(draw.normal(1, 300, 290))
    if long.largest_elements < 300 * 3 * 290:  # there are fewer scores
        fail("no product gives the 3E features of q, k and v together, at 300 positions")


test_values = restated(
    self_attention.test_values,
    "The 3E features go to q, k and v, and to the heads, rightly: several random shapes",
)
test_number_of_heads = self_attention.test_number_of_heads


@check(
    "Any length, from 1 to beyond 64, one after the other in one layer",
    category="shape",
    points=2,
    after="output_shape",
)
def test_lengths(candidate, draw):
    layer = layer_of(candidate)
    for length in (67, 1, 2, 13):
        assert_close(layer(draw.normal(B, length, E)), "output")
    assert_close(layer(draw.normal(B, 67, E), draw.mask(67, 67)), "output")


test_equal_sizes = restated(
    self_attention.test_equal_sizes,
    "Sizes that coincide are not confused: B, L or H = 3, L = D",
)
test_batch_items = self_attention.test_batch_items
test_mask = self_attention.test_mask
test_causal_mask = self_attention.test_causal_mask
test_padding_mask = self_attention.test_padding_mask
test_mask_per_head = self_attention.test_mask_per_head
test_mask_dtypes = self_attention.test_mask_dtypes
test_blocked_key_is_not_felt = self_attention.test_blocked_key_is_not_felt
test_blocked_row_stays_alone = self_attention.test_blocked_row_stays_alone
test_large_logits = self_attention.test_large_logits
test_float64 = self_attention.test_float64
test_bfloat16 = self_attention.test_bfloat16
test_float16 = self_attention.test_float16
test_gradients = restated(
    self_attention.test_gradients, "Gradients reach x and the fused weights, and are right"
)
test_non_contiguous = self_attention.test_non_contiguous
test_inputs_unchanged = self_attention.test_inputs_unchanged
test_repeatable = self_attention.test_repeatable


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(candidate.FusedSelfAttention, 10, 3, why="a width of 10 with 3 heads")


test_bad_width = self_attention.test_bad_width
test_written_from_scratch = self_attention.test_written_from_scratch
test_no_loop_over_heads = self_attention.test_no_loop_over_heads
test_float64_precision = self_attention.test_float64_precision
test_float16_with_mask = self_attention.test_float16_with_mask
