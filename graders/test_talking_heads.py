"""Talking-heads attention: the heads mix their logits by P_l, and their weights by P_w."""

# B batch  L length  H heads  D head size  E = H·D width

import torch
from graders.shared import self_attention

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
    restated,
)

E, H = 33, 3  # D = 11
B, L = 2, 7


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.TalkingHeadsAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads); has maps q, k, v, out, and two across the heads",
)
test_parameter_count = restated(
    self_attention.test_parameter_count,
    "Has no parameters but the six maps: 4E² + 2H², and their biases",
)
test_output_shape = self_attention.test_output_shape
test_values = self_attention.test_values
test_number_of_heads = restated(
    self_attention.test_number_of_heads,
    "Heads talk in both places: 1 head, E heads, and in between",
)
test_permutation = self_attention.test_permutation
test_lengths = self_attention.test_lengths
test_equal_sizes = self_attention.test_equal_sizes
test_batch_items = self_attention.test_batch_items


@check(
    "A mask (L, L) acts between P_l and the softmax: 0 blocks, 1 may attend",
    category="masking",
    points=4,
    after="output_shape",
)
def test_mask(candidate, draw):
    x = draw.normal(B, L, E)
    for heads in (H, 11, 11):  # of many rows of P_l some add up to less than zero
        layer = layer_of(candidate, num_heads=heads)
        assert_close(layer(x, draw.mask(L, L)), "output")
    x[:, 3] = 0
    assert_close(layer.without_biases()(x, draw.mask(L, L)), "output")


test_causal_mask = self_attention.test_causal_mask
test_padding_mask = self_attention.test_padding_mask
test_mask_per_head = restated(
    self_attention.test_mask_per_head,
    "A mask (B, H, L, L) blocks in the softmax of the head that it names, and P_w mixes after it",
)
test_mask_dtypes = self_attention.test_mask_dtypes
test_blocked_key_is_not_felt = self_attention.test_blocked_key_is_not_felt
test_blocked_row_stays_alone = self_attention.test_blocked_row_stays_alone


@check(
    "Large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    for scale in (6.0, 30.0, 100.0):  # exp overflows from the first on
        assert_close(layer(scale * draw.normal(B, L, E)), "output")
    for scale in (10.0, 20.0, 40.0, 40.0):
        mask = draw.mask(L, L, keep=0.2)  # a few open keys, some of them with low scores
        assert_close(layer(scale * draw.normal(B, L, E), mask), "output")


test_float64 = self_attention.test_float64
test_bfloat16 = self_attention.test_bfloat16
test_float16 = self_attention.test_float16
test_gradients = restated(
    self_attention.test_gradients,
    "Gradients reach x by all three ways, and all six maps, and are right",
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
    assert_rejected(candidate.TalkingHeadsAttention, 10, 3, why="a width of 10 with 3 heads")


test_bad_width = self_attention.test_bad_width
test_written_from_scratch = self_attention.test_written_from_scratch
test_no_loop_over_heads = self_attention.test_no_loop_over_heads
test_float64_precision = self_attention.test_float64_precision
test_float16_with_mask = self_attention.test_float16_with_mask
