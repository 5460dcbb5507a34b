"""Scaled dot-product attention on NumPy arrays; in the masks 1 blocks."""

# B batch  H heads  L query length  S key length  D head size  Dv head size of values

import numpy
import torch
from graders.shared import functions

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_not_imported,
    check,
    fail,
)


def qkv(draw, leading=(2, 3), L=5, S=7, D=11, Dv=13, dtype=torch.float64):
    q = draw.normal(*leading, L, D, dtype=dtype)
    k = draw.normal(*leading, S, D, dtype=dtype)
    v = draw.normal(*leading, S, Dv, dtype=dtype)
    return q, k, v


def large_qkv(draw, bound):
    q, k = draw.integers(2, 3, 5, 16, bound=bound), draw.integers(2, 3, 7, 16, bound=bound)
    return q.double(), k.double(), draw.normal(2, 3, 7, 13, dtype=torch.float64)


def blocking(draw, *shape):
    return ~draw.mask(*shape)


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
    for _ in range(2):
        assert_close(candidate.scaled_dot_product_attention(*qkv(draw)), "weights")


test_scale = functions.test_scale
test_size_one = functions.test_size_one


@check(
    "Works with no, one and three leading dimensions", category="shape", points=1, after="values"
)
def test_leading_dimensions(candidate, draw):
    for leading in ((), (3,), (2, 3, 2)):
        answer = candidate.scaled_dot_product_attention(*qkv(draw, leading))

        assert_close(answer, "output")


@check(
    "A mask (L, S) works with no, one and three leading dimensions",
    category="masking",
    points=1,
    after="leading_dimensions",
)
def test_mask_leading_dimensions(candidate, draw):
    for leading in ((), (3,), (2, 3, 2)):
        q, k, v = qkv(draw, leading)

        assert_close(
            candidate.scaled_dot_product_attention(q, k, v, blocking(draw, 5, 7)), "output"
        )


@check(
    "L = S = D = H = B hides nothing: square inputs are right too",
    category="values",
    points=1,
    after="values",
)
def test_square(candidate, draw):
    q, k, v = qkv(draw, (4, 4), 4, 4, 4, 4)

    assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")
    assert_close(candidate.scaled_dot_product_attention(q, k, v, blocking(draw, 4, 4)), "output")


test_key_order = functions.test_key_order


@check(
    "A mask (L, S): 1 blocks, 0 may attend",
    category="masking",
    points=4,
    after="output_shape",
)
def test_mask(candidate, draw):
    for leading in ((2, 3), (5, 3), (2, 5)):  # L = B and L = H too
        q, k, v = qkv(draw, leading)
        mask = blocking(draw, 5, 7).double()

        assert_close(candidate.scaled_dot_product_attention(q, k, v, mask), "output")
    q[..., 1, :], k[..., 3, :] = 0, 0  # scores of exactly 0 are scores like others
    assert_close(candidate.scaled_dot_product_attention(q, k, v, mask), "output")


@check(
    "Padding masks (B, 1, 1, S) and masks (B, 1, L, S) broadcast",
    category="masking",
    points=2,
    after="output_shape",
)
def test_mask_broadcasts(candidate, draw):
    q, k, v = qkv(draw)
    for shape in ((2, 1, 1, 7), (2, 1, 5, 7)):
        mask = blocking(draw, *shape).double()

        assert_close(candidate.scaled_dot_product_attention(q, k, v, mask), "output")
    for shape in ((2, 1, 1, 7), (1, 7)):  # one query, as in decoding
        mask = blocking(draw, *shape).double()

        assert_close(candidate.scaled_dot_product_attention(q[..., :1, :], k, v, mask), "output")


@check("A mask (B, H, L, S) differs from head to head", category="masking", points=2, after="mask")
def test_mask_per_head(candidate, draw):
    for B, H, L in ((2, 3, 5), (1, 5, 3)):
        q, k, v = qkv(draw, (B, H), L)
        mask = blocking(draw, B, H, L, 7).double()

        assert_close(candidate.scaled_dot_product_attention(q, k, v, mask), "output")


@check(
    "A causal mask, 1 above the diagonal, leaves the future out",
    category="masking",
    points=2,
    after="output_shape",
)
def test_causal_mask(candidate, draw):
    q, k, v = qkv(draw, L=7, S=7)

    answer = candidate.scaled_dot_product_attention(q, k, v, torch.ones(7, 7).triu(1).double())

    assert_close(answer, "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="mask")
def test_mask_dtypes(candidate, draw):
    q, k, v = qkv(draw)
    dtypes = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32, torch.float64)
    for shape in ((2, 1, 5, 7), (5, 7), (2, 1, 1, 7), (2, 3, 5, 7)):
        mask = blocking(draw, *shape)
        for dtype in dtypes:
            assert_close(candidate.scaled_dot_product_attention(q, k, v, mask.to(dtype)), "output")


@check(
    "A blocked position weighs 0, and its key and value have no influence",
    category="masking",
    points=3,
    after="output_shape",
)
def test_blocked_key_is_not_felt(candidate, draw):
    q, k, v = qkv(draw)
    mask = blocking(draw, 5, 7).double()
    mask[:, 2] = 1
    mask[:, 3] = 0
    k[..., 2, :] = 3_000 * draw.normal(2, 3, 11)  # for some queries the highest score by far
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
    mask = blocking(draw, 2, 1, 5, 7)

    answer = candidate.scaled_dot_product_attention(q, k, v, mask.double())

    assert_close(answer, "weights")
    if bool((answer.weights * mask).any()):
        fail("a blocked key weighs more than 0")


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_blocked_row_stays_alone(candidate, draw):
    q, k, v = qkv(draw)
    mask = blocking(draw, 5, 7).double()
    mask[1] = 1

    answer = candidate.scaled_dot_product_attention(q, k, v, mask)
    others = [0, 2, 3, 4]
    alone = candidate.scaled_dot_product_attention(q[..., others, :], k, v, mask[others])

    assert_close(alone, "output")
    if not torch.allclose(answer.output[..., others, :], alone.output, rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")

    mask = blocking(draw, 2, 1, 1, 7).double()
    mask[0] = 1
    answer = candidate.scaled_dot_product_attention(q, k, v, mask)
    alone = candidate.scaled_dot_product_attention(q[1:], k[1:], v[1:], mask[1:])
    assert_close(alone, "output")
    if not torch.allclose(answer.output[1:], alone.output, rtol=1e-4, atol=1e-5):
        fail("a blocked item changes the output of other items")


@check(
    "Large logits (±1e4) stay finite and right", category="numerics", points=3, after="output_shape"
)
def test_large_logits(candidate, draw):
    for bound in (50, 100, 200):
        q, k, v = large_qkv(draw, bound)

        assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")


@check(
    "Large logits stay right under a mask",
    category="numerics",
    points=1,
    after=("large_logits", "mask"),
)
def test_masked_large_logits(candidate, draw):
    for bound, keep in ((50, 0.6), (200, 0.2), (200, 0.2)):
        q, k, v = large_qkv(draw, bound)
        mask = ~draw.mask(5, 7, keep=keep)  # a few open keys, some of them with low scores

        assert_close(candidate.scaled_dot_product_attention(q, k, v, mask.double()), "output")


@check(
    "float32 and float64 are as good, with and without a mask",
    category="numerics",
    points=1,
    after="mask",
)
def test_float32(candidate, draw):
    mask = blocking(draw, 5, 7)
    for dtype in (torch.float32, torch.float64):
        q, k, v = qkv(draw, dtype=dtype)

        for blocked in (None, mask.bool(), mask.to(dtype)):
            assert_close(candidate.scaled_dot_product_attention(q, k, v, blocked), "output")


@check(
    "The weights follow the leading dimensions and the dtype of the input",
    category="values",
    points=1,
    after=("weights", "leading_dimensions"),
)
def test_weights_everywhere(candidate, draw):
    answer = candidate.scaled_dot_product_attention(*qkv(draw, dtype=torch.float32))
    assert_close(answer, "weights")
    for leading in ((), (3,), (2, 3, 2)):
        assert_close(candidate.scaled_dot_product_attention(*qkv(draw, leading)), "weights")


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
    mask = blocking(draw, 7, 5).double().T
    mask[:, 0] = 0  # no query is left without a key
    assert_close(candidate.scaled_dot_product_attention(q, k, v, mask), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    for dtype in (torch.float32, torch.float64):
        q, k, v = qkv(draw, dtype=dtype)

        assert_inputs_unchanged(candidate.scaled_dot_product_attention, q, k, v)
    mask = blocking(draw, 5, 7)
    dtypes = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32, torch.float64)
    for dtype in dtypes:
        assert_inputs_unchanged(candidate.scaled_dot_product_attention, q, k, v, mask.to(dtype))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    first, other = qkv(draw), qkv(draw, (1, 2), 3, 5, 7, 2)
    mask = blocking(draw, 5, 7).double()

    assert_close(candidate.scaled_dot_product_attention(*first, mask), "output")
    assert_close(candidate.scaled_dot_product_attention(*other), "output")
    assert_close(candidate.scaled_dot_product_attention(*first), "output")
    assert_close(candidate.scaled_dot_product_attention(*first, mask), "output")


test_bad_widths = functions.test_bad_widths


@check(
    "Written with NumPy: PyTorch is not imported", category="policy", points=3, after="output_shape"
)
def test_written_in_numpy(candidate, draw):
    assert_not_imported(candidate, "torch")
    assert_not_imported(candidate, "scipy")


@check(
    "float32 in, float32 out, with and without a mask",
    category="numerics",
    points=0,
    after="float32",
    advisory=True,
)
def test_float32_stays(candidate, draw):
    q, k, v = qkv(draw, dtype=torch.float32)
    for mask in (None, blocking(draw, 5, 7)):
        found = candidate.scaled_dot_product_attention.attempt(q, k, v, mask)
        output = found[0] if isinstance(found, (list, tuple)) else found
        if output.dtype != numpy.float32:
            where = "a mask" if mask is not None else "no mask"
            fail(
                f"with {where}, float32 comes back as {output.dtype}: np.sqrt(D) and "
                "mask * -1e9 are float64, and widen what they meet"
            )


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="values",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.scaled_dot_product_attention(*qkv(draw))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")
