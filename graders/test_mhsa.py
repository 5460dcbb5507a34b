"""Multi-head self-attention: one input, three projections, concat over heads, then a map."""

# B batch  L length  H heads  D head size  E = H·D width

import torch
from graders.shared import self_attention

from mha_judge.grading import (
    assert_rejected,
    check,
)

E, H = 33, 3  # D = 11
B, L = 2, 7


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.MultiHeadSelfAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


test_constructor = self_attention.test_constructor
test_parameter_count = self_attention.test_parameter_count
test_output_shape = self_attention.test_output_shape
test_values = self_attention.test_values
test_number_of_heads = self_attention.test_number_of_heads
test_permutation = self_attention.test_permutation
test_lengths = self_attention.test_lengths
test_equal_sizes = self_attention.test_equal_sizes
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
test_gradients = self_attention.test_gradients
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
    assert_rejected(candidate.MultiHeadSelfAttention, 10, 3, why="a width of 10 with 3 heads")


test_bad_width = self_attention.test_bad_width
test_written_from_scratch = self_attention.test_written_from_scratch
test_no_loop_over_heads = self_attention.test_no_loop_over_heads
test_float64_precision = self_attention.test_float64_precision
test_float16_with_mask = self_attention.test_float16_with_mask
