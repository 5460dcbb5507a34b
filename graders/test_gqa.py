"""Grouped-query attention: query head h uses key/value head h // (H / G)."""

# B batch  L length  H query heads  G key/value heads  D head size  E = H·D width

import torch
from graders.shared import self_attention, without_masks

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_stays_on_device,
    check,
    fail,
    restated,
)

E, H, G = 66, 6, 2  # D = 11: H/G = 3, so that neither H = 2G nor G = H/G hides an order
B, L = 2, 7


def layer_of(candidate, embed_dim=E, num_heads=H, num_kv_heads=G, dtype=torch.float32):
    return candidate.GroupedQueryAttention(
        embed_dim=embed_dim, num_heads=num_heads, num_kv_heads=num_kv_heads, dtype=dtype
    )


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads, num_kv_heads); k and v maps have num_kv_heads · D outputs",
    points=3,
)
test_parameter_count = restated(
    self_attention.test_parameter_count, "Has no parameters but the four maps"
)
test_output_shape = self_attention.test_output_shape


@check(
    "Query heads in order share key/value heads: 0 0 0 1 1 1, not 0 1 0 1 0 1",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for heads, groups, D in ((6, 2, 5), (6, 3, 5), (12, 3, 3)):
        E = heads * D
        layer = layer_of(candidate, E, heads, groups)
        for _ in range(2):
            n = draw.sizes("B L", (2, 3, 5, 7, 11))
            assert_close(layer(draw.normal(n["B"], n["L"], E)), "output")


@check("G = H is multi-head attention", category="values", points=2, after="constructor")
def test_multi_head(candidate, draw):
    assert_close(layer_of(candidate, num_kv_heads=H)(draw.normal(B, L, E)), "output")


@check("G = 1 is multi-query attention", category="values", points=2, after="constructor")
def test_multi_query(candidate, draw):
    assert_close(layer_of(candidate, num_kv_heads=1)(draw.normal(B, L, E)), "output")


@check("G = 1 = H, and head size 1", category="shape", points=1, after="output_shape")
def test_one_head(candidate, draw):
    assert_close(layer_of(candidate, 11, 1, 1)(draw.normal(B, L, 11)), "output")
    assert_close(layer_of(candidate, 6, 6, 3)(draw.normal(B, L, 6)), "output")


@check("H = 2G and many groups", category="values", points=1, after="constructor")
def test_pairs(candidate, draw):
    assert_close(layer_of(candidate, 40, 8, 4)(draw.normal(B, L, 40)), "output")


@check(
    "The length plays no part in the grouping: L = G, L = H, L = H/G",
    category="values",
    points=2,
    after="output_shape",
)
def test_lengths(candidate, draw):
    layer = layer_of(candidate)
    for length in (2, 3, 6, 1, 13):
        assert_close(layer(draw.normal(B, length, E)), "output")


test_batch_items = without_masks.test_batch_items


@check(
    "A mask (L, L): 0 blocks, 1 may attend",
    category="masking",
    points=4,
    after="output_shape",
)
def test_mask(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    for _ in range(2):
        assert_close(layer(x, draw.mask(L, L)), "output")


@check("A causal mask", category="masking", points=2, after="output_shape")
def test_causal_mask(candidate, draw):
    mask = torch.ones(L, L).tril().bool()

    assert_close(layer_of(candidate)(draw.normal(B, L, E), mask), "output")


test_padding_mask = restated(self_attention.test_padding_mask, points=2)


test_mask_per_head = restated(
    self_attention.test_mask_per_head, "A mask (B, H, L, L) counts query heads, not groups"
)


@check("Masks may be bool, integer or float", category="masking", points=1, after="mask")
def test_mask_dtypes(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = draw.mask(B, 1, L, L)
    for dtype in (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32):
        assert_close(layer(x, mask.to(dtype)), "output")


test_blocked_key_is_not_felt = restated(self_attention.test_blocked_key_is_not_felt, points=2)


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_blocked_row_stays_alone(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = draw.mask(L, L)
    open_mask = mask.clone()
    mask[1] = False
    others = [0, 2, 3, 4, 5, 6]

    blocked, alone = layer(x, mask), layer(x, open_mask)

    assert_close(alone, "output")
    if not torch.allclose(blocked.output[:, others], alone.output[:, others], rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")


@check(
    "Large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    for scale in (30.0, 100.0):
        assert_close(layer(scale * draw.normal(B, L, E)), "output")
    for scale in (10.0, 20.0):
        mask = draw.mask(L, L, keep=0.2)  # a few open keys, some of them with low scores
        assert_close(layer(scale * draw.normal(B, L, E), mask), "output")


test_float64 = restated(without_masks.test_float64, after="values")


test_bfloat16 = self_attention.test_bfloat16
test_float16 = self_attention.test_float16


@check(
    "Gradients reach x and the weights, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    x = draw.normal(B, L, E)
    cotangents = [draw.normal(B, L, E)]

    assert_gradients_match(
        layer_of(candidate), x, draw.mask(L, L), wrt=(0,), cotangents=cotangents, parameters=True
    )


@check(
    "A strided input, as transposing makes it, gives the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    layer = layer_of(candidate)

    assert_close(layer(draw.normal(L, B, E).transpose(0, 1)), "output")
    assert_close(
        layer(draw.normal(B, E, L).transpose(1, 2), draw.mask(L, L).T.contiguous().T), "output"
    )


@check("The input is left as it was", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)

    assert_inputs_unchanged(layer, draw.normal(B, L, E))
    for mask in (draw.mask(L, L), draw.mask(B, 1, L, L).float(), draw.mask(B, 1, 1, L)):
        assert_inputs_unchanged(layer, draw.normal(B, L, E), mask)


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    x, mask = draw.normal(B, L, E), draw.mask(L, L)

    assert_close(layer(x, mask), "output")
    assert_close(layer(draw.normal(1, 3, E)), "output")
    assert_close(layer(x), "output")
    assert_close(layer(x, mask), "output")


@check(
    "Heads that do not divide the width, or groups that do not divide the heads, raise",
    category="robustness",
    points=2,
    after="constructor",
)
def test_bad_sizes(candidate, draw):
    assert_rejected(candidate.GroupedQueryAttention, 50, 6, 2, why="embed_dim 50 with 6 heads")
    assert_rejected(candidate.GroupedQueryAttention, 60, 6, 4, why="6 heads with 4 key/value heads")


@check("An input of another width raises", category="robustness", points=1, after="output_shape")
def test_bad_width(candidate, draw):
    assert_rejected(
        layer_of(candidate),
        draw.normal(B, L, E - 1),
        why="an input of another width than embed_dim",
    )


test_written_from_scratch = self_attention.test_written_from_scratch


@check(
    "No Python loop over heads", category="policy", points=0, after="output_shape", advisory=True
)
def test_no_loop_over_heads(candidate, draw):
    x = draw.normal(B, L, 48)

    few = layer_of(candidate, 48, 4, 2).observe(x)
    many = layer_of(candidate, 48, 16, 8).observe(x)

    assert_operations_do_not_grow(few, many, "heads")


test_float64_precision = self_attention.test_float64_precision


@check(
    "On a GPU in float32: the same values, with and without a mask",
    category="gpu",
    points=2,
    after="mask",
)
def test_gpu_float32(gpu, draw):
    layer = layer_of(gpu)
    x = draw.normal(B, L, E)

    assert_close(layer(x), "output")
    assert_close(layer(x, draw.mask(L, L)), "output")


@check(
    "On a GPU in bfloat16 and float16: the same values",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_half(gpu, draw):
    for dtype in (torch.bfloat16, torch.float16):
        assert_close(layer_of(gpu, dtype=dtype)(draw.normal(B, L, E, dtype=dtype)), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="mask",
)
def test_gpu_device(gpu, draw):
    layer = layer_of(gpu)
    x = draw.normal(B, L, E)

    assert_stays_on_device(gpu, layer, x)
    assert_stays_on_device(gpu, layer, x, draw.mask(L, L))
