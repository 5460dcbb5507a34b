"""Multi-query attention: H query heads, one key head and one value head."""

# B batch  L length  H query heads  D head size  E = H·D width

import torch
from graders.shared import self_attention

from mha_judge.grading import (
    assert_close,
    assert_grows_at_most,
    assert_rejected,
    check,
    restated,
)

E, H = 33, 3  # D = 11
B, L = 2, 7


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.MultiQueryAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads); the k and v maps have D outputs, not E",
    points=3,
)
test_parameter_count = restated(
    self_attention.test_parameter_count,
    "Has no parameters but the four maps: 2E² + 2ED, and 2E + 2D of biases at most",
)
test_output_shape = self_attention.test_output_shape
test_values = restated(
    self_attention.test_values,
    "Every query head reads the one key head and the one value head, on several random shapes",
)


@check(
    "Keys and values are projected once, not once for each query head",
    category="cost",
    points=1,
    after="values",
)
def test_projected_once(candidate, draw):
    x = draw.normal(B, 3, 48)  # so short that the maps do most of the work

    few = layer_of(candidate, 48, 2).observe(x)
    # from D = 24 to D = 6 and 2 the k and v maps shrink, and nothing else grows
    for heads in (8, 24):
        many = layer_of(candidate, 48, heads).observe(x)

        assert_grows_at_most(
            few.flops, many.flops, 0.9, f"the work from 2 heads to {heads}, at one width,"
        )


test_number_of_heads = restated(
    self_attention.test_number_of_heads,
    "Query heads are independent: 1 head, E heads, and in between",
)


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


test_equal_sizes = self_attention.test_equal_sizes
test_batch_items = self_attention.test_batch_items
test_mask = self_attention.test_mask
test_causal_mask = self_attention.test_causal_mask
test_padding_mask = self_attention.test_padding_mask
test_mask_per_head = restated(
    self_attention.test_mask_per_head,
    "A mask (B, H, L, L) differs from query head to query head, though they share the keys",
)
test_mask_dtypes = self_attention.test_mask_dtypes
test_blocked_key_is_not_felt = self_attention.test_blocked_key_is_not_felt
test_blocked_row_stays_alone = self_attention.test_blocked_row_stays_alone
test_large_logits = self_attention.test_large_logits
test_float64 = self_attention.test_float64
test_bfloat16 = self_attention.test_bfloat16
test_float16 = self_attention.test_float16
test_gradients = restated(
    self_attention.test_gradients,
    "Gradients reach x and the weights, from all heads, and are right",
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
    assert_rejected(candidate.MultiQueryAttention, 10, 3, why="a width of 10 with 3 heads")


test_bad_width = self_attention.test_bad_width
test_written_from_scratch = self_attention.test_written_from_scratch
test_no_loop_over_heads = self_attention.test_no_loop_over_heads
test_float64_precision = self_attention.test_float64_precision
test_float16_with_mask = self_attention.test_float16_with_mask
