"""Scaled dot-product attention: weights = softmax(q kᵀ / √D) over the keys, output = weights v."""

# B batch  H heads  L query length  S key length  D head size  Dv head size of values

import torch
from graders.shared import functions

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_stays_on_device,
    assert_written_from_scratch,
    check,
    fail,
    report_speed,
)


def qkv(draw, leading=(2, 3), L=5, S=7, D=11, Dv=13, dtype=torch.float32):
    q = draw.normal(*leading, L, D, dtype=dtype)
    k = draw.normal(*leading, S, D, dtype=dtype)
    v = draw.normal(*leading, S, Dv, dtype=dtype)
    return q, k, v


test_output_shape = functions.test_output_shape
test_weights_shape = functions.test_weights_shape
test_values = functions.test_values


@check(
    "The weights are softmax(q kᵀ / √D) over the keys",
    category="values",
    points=3,
    after="weights_shape",
)
def test_weights(candidate, draw):
    answer = candidate.scaled_dot_product_attention(*qkv(draw))

    assert_close(answer, "weights")


test_scale = functions.test_scale
test_size_one = functions.test_size_one


@check(
    "Works with no, one and three leading dimensions",
    category="shape",
    points=1,
    after="output_shape",
)
def test_leading_dimensions(candidate, draw):
    for leading in ((), (3,), (2, 3, 2)):
        assert_close(candidate.scaled_dot_product_attention(*qkv(draw, leading)), "output")


@check(
    "A mask (L, S) works with no, one and three leading dimensions",
    category="masking",
    points=1,
    after="leading_dimensions",
)
def test_mask_leading_dimensions(candidate, draw):
    for leading in ((), (3,), (2, 3, 2)):
        q, k, v = qkv(draw, leading)

        assert_close(candidate.scaled_dot_product_attention(q, k, v, draw.mask(5, 7)), "output")


@check(
    "L = S = D = H = B hides nothing: square inputs are right too",
    category="values",
    points=1,
    after="values",
)
def test_square(candidate, draw):
    q, k, v = qkv(draw, (4, 4), 4, 4, 4, 4)

    assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")


test_key_order = functions.test_key_order


@check(
    "A mask (L, S): 0 blocks, 1 may attend",
    category="masking",
    points=4,
    after="output_shape",
)
def test_mask(candidate, draw):
    for leading in ((2, 3), (5, 3), (2, 5)):  # L = B and L = H too
        q, k, v = qkv(draw, leading)

        assert_close(candidate.scaled_dot_product_attention(q, k, v, draw.mask(5, 7)), "output")


@check(
    "Padding masks (B, 1, 1, S) and masks (B, 1, L, S) broadcast",
    category="masking",
    points=2,
    after="output_shape",
)
def test_mask_broadcasts(candidate, draw):
    q, k, v = qkv(draw)
    for shape in ((2, 1, 1, 7), (2, 1, 5, 7)):
        assert_close(candidate.scaled_dot_product_attention(q, k, v, draw.mask(*shape)), "output")
    for shape in ((2, 1, 1, 7), (1, 7)):  # one query, as in decoding
        assert_close(
            candidate.scaled_dot_product_attention(q[..., :1, :], k, v, draw.mask(*shape)), "output"
        )


@check("A mask (B, H, L, S) differs from head to head", category="masking", points=2, after="mask")
def test_mask_per_head(candidate, draw):
    for B, H, L in ((2, 3, 5), (1, 5, 3)):
        q, k, v = qkv(draw, (B, H), L)

        assert_close(
            candidate.scaled_dot_product_attention(q, k, v, draw.mask(B, H, L, 7)), "output"
        )


@check("A causal mask leaves the future out", category="masking", points=2, after="output_shape")
def test_causal_mask(candidate, draw):
    q, k, v = qkv(draw, L=7, S=7)

    answer = candidate.scaled_dot_product_attention(q, k, v, torch.ones(7, 7).tril().bool())

    assert_close(answer, "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="mask")
def test_mask_dtypes(candidate, draw):
    q, k, v = qkv(draw)
    mask = draw.mask(2, 1, 5, 7)
    for dtype in (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32, torch.float64):
        assert_close(candidate.scaled_dot_product_attention(q, k, v, mask.to(dtype)), "output")


@check(
    "A blocked position weighs 0, and its key and value have no influence",
    category="masking",
    points=3,
    after="output_shape",
)
def test_blocked_key_is_not_felt(candidate, draw):
    q, k, v = qkv(draw)
    mask = draw.mask(5, 7)
    mask[:, 2] = False
    mask[:, 3] = True
    k[..., 2, :] = 300 * draw.normal(2, 3, 11)  # for some queries the highest score by far
    v[..., 2, :] = 1e30

    answer = candidate.scaled_dot_product_attention(q, k, v, mask)

    assert_close(answer, "output")


@check(
    "Masked weights are exact: 0 where blocked, rows sum to 1",
    category="masking",
    points=1,
    after=("weights_shape", "mask"),
)
def test_masked_weights(candidate, draw):
    q, k, v = qkv(draw)
    mask = draw.mask(2, 1, 5, 7)

    answer = candidate.scaled_dot_product_attention(q, k, v, mask)

    assert_close(answer, "weights")
    if bool((answer.weights * ~mask).any()):
        fail("a blocked key weighs more than 0")


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_blocked_row_stays_alone(candidate, draw):
    q, k, v = qkv(draw)
    mask = draw.mask(5, 7)
    mask[1] = False

    answer = candidate.scaled_dot_product_attention(q, k, v, mask)
    others = [0, 2, 3, 4]
    alone = candidate.scaled_dot_product_attention(q[..., others, :], k, v, mask[others])

    assert_close(alone, "output")
    if not torch.allclose(answer.output[..., others, :], alone.output, rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")


@check(
    "Large logits (±1e4) stay finite and right", category="numerics", points=3, after="output_shape"
)
def test_large_logits(candidate, draw):
    for bound in (50, 100, 200):
        # whole numbers and D = 16: every way to compute the logits gives them exactly
        q, k = draw.integers(2, 3, 5, 16, bound=bound), draw.integers(2, 3, 7, 16, bound=bound)
        v = draw.normal(2, 3, 7, 13)

        assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")


@check(
    "Large logits stay right under a mask",
    category="numerics",
    points=1,
    after=("large_logits", "mask"),
)
def test_masked_large_logits(candidate, draw):
    q, k = draw.integers(2, 3, 5, 16, bound=50), draw.integers(2, 3, 7, 16, bound=50)
    v = draw.normal(2, 3, 7, 13)

    for one, other in ((q, k), (-q.abs(), k.abs())):  # all scores of the second are low
        answer = candidate.scaled_dot_product_attention(one, other, v, draw.mask(5, 7))
        assert_close(answer, "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    assert_close(candidate.scaled_dot_product_attention(*qkv(draw, dtype=torch.float64)), "output")


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="values",
)
def test_bfloat16(candidate, draw):
    q, k, v = qkv(draw, dtype=torch.bfloat16)

    assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")
    assert_close(candidate.scaled_dot_product_attention(q, k, v, draw.mask(5, 7)), "output")


@check("float16 in, float16 out", category="numerics", points=1, after="values")
def test_float16(candidate, draw):
    assert_close(candidate.scaled_dot_product_attention(*qkv(draw, dtype=torch.float16)), "output")


@check(
    "The weights follow the dtype and the leading dimensions of the input",
    category="values",
    points=1,
    after=("weights", "leading_dimensions", "float64", "bfloat16"),
)
def test_weights_everywhere(candidate, draw):
    for leading in ((), (3,), (2, 3, 2)):
        assert_close(candidate.scaled_dot_product_attention(*qkv(draw, leading)), "weights")
    for dtype in (torch.float64, torch.bfloat16):
        assert_close(candidate.scaled_dot_product_attention(*qkv(draw, dtype=dtype)), "weights")


@check(
    "Gradients reach q, k and v, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    q, k, v = qkv(draw)
    cotangents = [draw.normal(2, 3, 5, 13)]

    assert_gradients_match(
        candidate.scaled_dot_product_attention, q, k, v, wrt=(0, 1, 2), cotangents=cotangents
    )


@check(
    "Gradients are right through a mask",
    category="gradients",
    points=1,
    after=("gradients", "mask"),
)
def test_masked_gradients(candidate, draw):
    q, k, v = qkv(draw)
    cotangents = [draw.normal(2, 3, 5, 13)]

    assert_gradients_match(
        candidate.scaled_dot_product_attention,
        q,
        k,
        v,
        draw.mask(5, 7),
        wrt=(0, 1, 2),
        cotangents=cotangents,
    )


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    q = draw.normal(2, 5, 3, 11).transpose(1, 2)
    k = draw.normal(2, 3, 11, 7).transpose(2, 3)
    v = draw.normal(2, 3, 7, 26)[..., ::2]

    assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    q, k, v = qkv(draw)

    assert_inputs_unchanged(candidate.scaled_dot_product_attention, q, k, v)
    mask = draw.mask(5, 7)
    for dtype in (torch.bool, torch.int64, torch.float32):
        assert_inputs_unchanged(candidate.scaled_dot_product_attention, q, k, v, mask.to(dtype))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    first, other = qkv(draw), qkv(draw, (1, 2), 3, 5, 7, 2)
    mask = draw.mask(5, 7)

    assert_close(candidate.scaled_dot_product_attention(*first, mask), "output")
    assert_close(candidate.scaled_dot_product_attention(*other), "output")
    assert_close(candidate.scaled_dot_product_attention(*first), "output")
    assert_close(candidate.scaled_dot_product_attention(*first, mask), "output")


test_bad_widths = functions.test_bad_widths


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    assert_written_from_scratch(candidate, candidate.scaled_dot_product_attention, *qkv(draw))


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.scaled_dot_product_attention(*qkv(draw, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


@check("float16 with a mask", category="numerics", points=0, after="mask", advisory=True)
def test_float16_with_mask(candidate, draw):
    q, k, v = qkv(draw, dtype=torch.float16)

    assert_close(candidate.scaled_dot_product_attention(q, k, v, draw.mask(5, 7)), "output")


@check(
    "On a GPU in float32: the same values, with and without a mask",
    category="gpu",
    points=2,
    after="mask",
)
def test_gpu_float32(gpu, draw):
    q, k, v = qkv(draw)

    assert_close(gpu.scaled_dot_product_attention(q, k, v), "output")
    assert_close(gpu.scaled_dot_product_attention(q, k, v, draw.mask(5, 7)), "output")


@check(
    "On a GPU in bfloat16 and float16: the same values, at larger logits too",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_half(gpu, draw):
    for dtype in (torch.bfloat16, torch.float16):
        q, k, v = qkv(draw, dtype=dtype)

        assert_close(gpu.scaled_dot_product_attention(q, k, v), "output")
        assert_close(gpu.scaled_dot_product_attention(6 * q, k, v), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="mask",
)
def test_gpu_device(gpu, draw):
    q, k, v = qkv(draw)

    assert_stays_on_device(gpu, gpu.scaled_dot_product_attention, q, k, v)
    assert_stays_on_device(gpu, gpu.scaled_dot_product_attention, q, k, v, draw.mask(5, 7))


@check(
    "On a GPU: takes the time that its work takes",
    category="gpu",
    points=0,
    after="gpu_float32",
    advisory=True,
)
def test_gpu_speed(gpu, draw):
    sets = [qkv(draw, (2, 8), 512, 512, 64, 64, torch.float16) for _ in range(6)]

    report_speed(gpu, gpu.scaled_dot_product_attention, sets, heads=sets)
