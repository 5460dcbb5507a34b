"""Multi-head attention with a mask: concat over heads of softmax(q kᵀ / √D) v, then a map."""

# B batch  L query length  S key length  H query heads  D head size  E = H·D width

import torch
from graders.shared import cross_attention, self_attention

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_rejected,
    assert_stays_on_device,
    assert_written_from_scratch,
    check,
    fail,
    report_speed,
    restated,
)

E, H = 33, 3  # D = 11
B, L, S = 2, 5, 7


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.MultiHeadAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


def qkv(draw, B=B, L=L, S=S, E=E, dtype=torch.float32):
    q = draw.normal(B, L, E, dtype=dtype)
    k = draw.normal(B, S, E, dtype=dtype)
    v = draw.normal(B, S, E, dtype=dtype)
    return q, k, v


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads), and has maps for q, k, v and the output",
)
test_parameter_count = self_attention.test_parameter_count
test_output_shape = cross_attention.test_output_shape


@check(
    "Self-attention: q, k and v are one tensor", category="values", points=3, after="constructor"
)
def test_self_attention(candidate, draw):
    x = draw.normal(B, L, E)

    assert_close(layer_of(candidate)(x, x, x), "output")


@check(
    "Three different tensors, on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L S H D", (2, 3, 5, 7, 11))
        width = n["H"] * n["D"]

        assert_close(
            layer_of(candidate, width, n["H"])(*qkv(draw, n["B"], n["L"], n["S"], width)), "output"
        )


@check(
    "Keys and values come from their own inputs", category="values", points=2, after="constructor"
)
def test_k_and_v_differ(candidate, draw):
    q, k, v = qkv(draw, S=L)

    assert_close(layer_of(candidate)(q, k, v), "output")


test_number_of_heads = cross_attention.test_number_of_heads
test_batch_items = cross_attention.test_batch_items


@check(
    "Sizes of 1 are sizes like others: B, L or S = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    layer = layer_of(candidate)
    for sizes in ({"B": 1}, {"L": 1}, {"S": 1}, {"B": 1, "L": 1, "S": 1}):
        assert_close(layer(*qkv(draw, **sizes)), "output")
    assert_close(layer(*qkv(draw, L=1), draw.mask(B, 1, 1, S)), "output")


@check(
    "A mask (L, S): 0 blocks, 1 may attend",
    category="masking",
    points=4,
    after="constructor",
)
def test_mask(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    for _ in range(2):
        assert_close(layer(q, k, v, draw.mask(L, S)), "output")


@check("A causal mask (L, L) in self-attention", category="masking", points=2, after="constructor")
def test_causal_mask(candidate, draw):
    x = draw.normal(B, L, E)

    assert_close(layer_of(candidate)(x, x, x, torch.ones(L, L).tril().bool()), "output")


@check(
    "A padding mask (B, 1, 1, S) and a mask (B, 1, L, S)",
    category="masking",
    points=3,
    after="constructor",
)
def test_padding_mask(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    for shape in ((B, 1, 1, S), (B, 1, L, S)):
        assert_close(layer(q, k, v, draw.mask(*shape)), "output")


@check(
    "A mask (B, H, L, S) differs from item to item and from head to head",
    category="masking",
    points=3,
    after="constructor",
)
def test_mask_per_head(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = torch.ones(B, H, L, S, dtype=torch.bool)
    mask[:, 1] = draw.mask(B, L, S, keep=0.3)

    assert_close(layer(q, k, v, draw.mask(B, H, L, S)), "output")
    assert_close(layer(q, k, v, mask), "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="mask")
def test_mask_dtypes(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = draw.mask(B, 1, L, S)
    for dtype in (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32):
        assert_close(layer(q, k, v, mask.to(dtype)), "output")


test_blocked_key_is_not_felt = cross_attention.test_blocked_key_is_not_felt


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_blocked_row_stays_alone(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = draw.mask(L, S)
    mask[1] = False
    others = [0, 2, 3, 4]

    answer = layer(q, k, v, mask)
    alone = layer(q[:, others], k, v, mask[others])

    assert_close(alone, "output")
    if not torch.allclose(answer.output[:, others], alone.output, rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")


test_large_logits = cross_attention.test_large_logits


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float64)

    assert_close(layer(*qkv(draw, dtype=torch.float64)), "output")


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="values",
)
def test_bfloat16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.bfloat16)
    q, k, v = qkv(draw, dtype=torch.bfloat16)

    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, draw.mask(L, S)), "output")


@check("float16 in, float16 out, without a mask", category="numerics", points=1, after="values")
def test_float16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float16)

    assert_close(layer(*qkv(draw, dtype=torch.float16)), "output")


@check(
    "Gradients reach q, k, v and the weights, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    q, k, v = qkv(draw)
    cotangents = [draw.normal(B, L, E)]

    assert_gradients_match(
        layer_of(candidate),
        q,
        k,
        v,
        draw.mask(L, S),
        wrt=(0, 1, 2),
        cotangents=cotangents,
        parameters=True,
    )


test_non_contiguous = cross_attention.test_non_contiguous


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)

    assert_inputs_unchanged(layer, *qkv(draw))
    for mask in (draw.mask(L, S), draw.mask(B, 1, L, S).float(), draw.mask(B, 1, 1, S)):
        assert_inputs_unchanged(layer, *qkv(draw), mask)


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = draw.mask(L, S)

    assert_close(layer(q, k, v, mask), "output")
    assert_close(layer(*qkv(draw, B=1, L=3, S=2)), "output")
    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, mask), "output")


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(candidate.MultiHeadAttention, 10, 3, why="embed_dim 10 with 3 heads")


@check(
    "Inputs of another width raise, keys and values of different length too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_inputs(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)

    assert_rejected(
        layer, q[..., :-1], k[..., :-1], v[..., :-1], why="inputs of another width than embed_dim"
    )
    assert_rejected(layer, q, k, v[:, :-1], why="k and v of different length")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    layer = layer_of(candidate)

    assert_written_from_scratch(candidate, layer, *qkv(draw))
    assert_written_from_scratch(candidate, layer, *qkv(draw), draw.mask(L, S))


test_no_loop_over_heads = cross_attention.test_no_loop_over_heads
test_float64_precision = cross_attention.test_float64_precision
test_float16_with_mask = cross_attention.test_float16_with_mask


@check(
    "On a GPU in float32: the same values, with and without a mask",
    category="gpu",
    points=2,
    after="mask",
)
def test_gpu_float32(gpu, draw):
    layer = layer_of(gpu)
    q, k, v = qkv(draw)

    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, draw.mask(L, S)), "output")


@check(
    "On a GPU in bfloat16 and float16: the same values",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_half(gpu, draw):
    for dtype in (torch.bfloat16, torch.float16):
        assert_close(layer_of(gpu, dtype=dtype)(*qkv(draw, dtype=dtype)), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="mask",
)
def test_gpu_device(gpu, draw):
    layer = layer_of(gpu)
    q, k, v = qkv(draw)

    assert_stays_on_device(gpu, layer, q, k, v)
    assert_stays_on_device(gpu, layer, q, k, v, draw.mask(L, S))


@check(
    "On a GPU: takes the time that its work takes",
    category="gpu",
    points=0,
    after="gpu_float32",
    advisory=True,
)
def test_gpu_speed(gpu, draw):
    sizes = {"embed_dim": 512, "num_heads": 8}
    sets = [qkv(draw, 2, 512, 512, 512) for _ in range(6)]
    heads = [[x.reshape(2, 512, 8, 64).transpose(1, 2) for x in args] for args in sets]

    report_speed(gpu, layer_of(gpu, **sizes), sets, heads=heads, sizes=sizes)
