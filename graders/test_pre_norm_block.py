"""A decoder-only block: x + Attention(RMSNorm(x)), then + SwiGLU(RMSNorm(·)), causal, no biases."""

# B batch  L length  H query heads  G key/value heads  D head size
# E = H·D width  F width of the feed-forward layer

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

E, H, G, F = 60, 6, 2, 47  # D = 10: H/G = 3, so that neither H = 2G nor G = H/G hides an order
B, L = 2, 7
FFN_WIDTHS = (17, 37, 53, 61)
SMALL = 1e-3
"""Of rows whose mean square is about ε."""
FAINT = 0.03
"""Of rows beside which what the sub-layers add is large, and ε is small."""
BLURRED = 0.05
"""The error, as a share of the result: above 0.1 where frequencies are rounded to bfloat16, more
where positions are, and 0.02 at most otherwise."""
LOUD = 300.0
"""Of features whose squares float16 does not hold."""


def block_of(candidate, embed_dim=E, num_heads=H, num_kv_heads=G, ffn_dim=F, dtype=torch.float32):
    return candidate.PreNormBlock(
        embed_dim=embed_dim,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        ffn_dim=ffn_dim,
        dtype=dtype,
    )


def with_extreme_scores(block):
    """Return positions (E,) whose scores with themselves are as low, and as high, as they get.

    A norm leaves a row its direction alone, so that scores are bounded: by ±100 or so for a few
    features in the heads of a wide block.

    Args:
        block: Has a single key/value head.
    """
    reference, _ = block.references()
    with torch.no_grad():
        scale = reference.norm1.weight
        q = scale * reference.q_proj.weight[: reference.head_dim]  # (D, E), of head 0
        products = q.T @ (scale * reference.k_proj.weight)  # (E, E)
        _, directions = torch.linalg.eigh(products + products.T)
        return [directions[:, end].float() for end in (0, -1)]


@check(
    "Is made with (embed_dim, num_heads, num_kv_heads, ffn_dim), and has seven maps and two norms",
    category="shape",
    points=2,
)
def test_constructor(candidate, draw):
    block_of(candidate)


@check(
    "Has no parameters but seven maps and two norms: 2E² + 2EGD + 3EF + 2E, and biases at most",
    category="cost",
    points=1,
    after="constructor",
)
def test_parameter_count(candidate, draw):
    assert_no_extra_parameters(block_of(candidate))


@check("Returns (B, L, E)", category="shape", points=2, after="constructor")
def test_output_shape(candidate, draw):
    answer = block_of(candidate)(draw.normal(B, L, E))

    assert answer.output.shape == (B, L, E)


@check(
    "One position alone: residuals, norms and feed-forward layer, with nothing to attend to",
    category="values",
    points=3,
    after="output_shape",
)
def test_one_position(candidate, draw):
    block = block_of(candidate)
    for items in (1, 13):
        for spread in (1.0, FAINT, 30.0):
            assert_close(block(spread * draw.normal(items, 1, E)), "output")
    wide = block_of(candidate, 240)
    reference, _ = wide.references()
    with torch.no_grad():  # each makes one gate as large, or as low, as can be
        rows = 100 * reference.gate_proj.weight / reference.norm2.weight  # (F, E)
        rows = rows.masked_fill(reference.norm2.weight == 0, 0)
    for sign in (1, -1):
        assert_close(wide(sign * rows[:, None].float()), "output")  # SiLU has no upper bound


@check(
    "The whole block, on several random shapes", category="values", points=5, after="output_shape"
)
def test_values(candidate, draw):
    for spread in (1.0, FAINT, 3.0):
        n = draw.sizes("B L", (2, 3, 5, 7)) | draw.sizes("H G", (2, 3, 5))
        heads, width = n["H"] * n["G"], 6 * n["H"] * n["G"]
        ffn = FFN_WIDTHS[draw.integer(0, len(FFN_WIDTHS) - 1)]
        block = block_of(candidate, width, heads, n["G"], ffn)

        assert_close(block(spread * draw.normal(n["B"], n["L"], width)), "output")


@check(
    "Query heads in order share key/value heads: 0 0 0 1 1 1, not 0 1 0 1 0 1",
    category="values",
    points=3,
    after="output_shape",
)
def test_groups(candidate, draw):
    for heads, groups in ((6, 2), (6, 3), (6, 6), (6, 1), (12, 3), (8, 4)):
        block = block_of(candidate, 4 * heads, heads, groups)
        assert_close(block(draw.normal(B, L, 4 * heads)), "output")


@check(
    "Features i and i + D/2 turn by position · 10000^(−2i/D), for small and for large D",
    category="values",
    points=2,
    after="output_shape",
)
def test_frequencies(candidate, draw):
    for width in (2, 4, 6, 64):
        assert_close(block_of(candidate, 2 * width, 2, 1)(draw.normal(1, 9, 2 * width)), "output")


@check(
    "The feed-forward layer is ffn_dim wide, be it narrower or wider than the block",
    category="values",
    points=1,
    after="output_shape",
)
def test_ffn_width(candidate, draw):
    for ffn_dim in (5, 13, 151):
        assert_close(block_of(candidate, ffn_dim=ffn_dim)(draw.normal(B, L, E)), "output")


@check("Batch items are independent", category="values", points=1, after="output_shape")
def test_batch_items(candidate, draw):
    block = block_of(candidate)
    x = draw.normal(3, L, E)

    assert_close(block(x), "output")
    assert_close(block(x[1:2]), "output")
    assert_close(block(draw.normal(L, L, E)), "output")


@check("A long sequence", category="values", points=1, after="output_shape")
def test_long_sequence(candidate, draw):
    assert_close(block_of(candidate)(FAINT * draw.normal(1, 267, E)), "output")


@check(
    "A position sees itself and those before it, and none after it",
    category="masking",
    points=3,
    after="output_shape",
)
def test_causal(candidate, draw):
    block = block_of(candidate)
    for length in (2, 3, 13):
        x = FAINT * draw.normal(B, length, E)
        assert_close(block(x), "output")
        x[:, -1] = draw.normal(B, E)
        assert_close(block(x), "output")


@check(
    "ε is 1e-6 and stands under the root: rows whose mean square is as small",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_eps(candidate, draw):
    block = block_of(candidate)
    for size in (SMALL, SMALL / 10):
        assert_close(block(size * draw.normal(B, L, E)), "output")
    x = SMALL * draw.normal(B, L, E)
    x[:, 0] = 0
    assert_close(block(x), "output")


@check(
    "Very high and very low scores give finite and right results",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    block = block_of(candidate, 384, 192, 1, 7)
    low, high = with_extreme_scores(block)

    # the first one tells an overflow from what a blocked score does, which shows in the second, too
    assert_close(block(torch.stack([high, high, -high, high])[None]), "output")
    assert_close(block(torch.stack([low, -low, low, -low])[None]), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    block = block_of(candidate, dtype=torch.float64)

    assert_close(block(draw.normal(B, L, E, dtype=torch.float64)), "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="values")
def test_bfloat16(candidate, draw):
    block = block_of(candidate, dtype=torch.bfloat16)

    assert_close(block(draw.normal(B, L, E, dtype=torch.bfloat16)), "output")


@check("float16 in, float16 out", category="numerics", points=1, after="values")
def test_float16(candidate, draw):
    block = block_of(candidate, dtype=torch.float16)

    assert_close(block(draw.normal(B, L, E, dtype=torch.float16)), "output")


@check(
    "float16 norms rows whose squares exceed it: 300² is computed in float32",
    category="numerics",
    points=1,
    after="float16",
)
def test_float16_squares(candidate, draw):
    block = block_of(candidate, 240, ffn_dim=2, dtype=torch.float16)
    reference, _ = block.references()
    with torch.no_grad():  # gate and up are as large as they get, and few features share the output
        rows = reference.norm2.weight * (reference.gate_proj.weight + reference.up_proj.weight)
        k = reference.k_proj.weight  # without a norm in front, no score is large by chance
        rows -= rows @ torch.linalg.pinv(k) @ k
    x = LOUD * rows / rows.abs().amax(-1, keepdim=True)  # (F, E)
    assert_close(block(x[:, None].to(torch.float16)), "output")
    assert_close(block(1e-3 * draw.normal(1, 3, 240, dtype=torch.float16)), "output")


@check(
    "bfloat16 does not blur the positions: angles are computed in float32",
    category="numerics",
    points=2,
    after="bfloat16",
)
def test_bfloat16_far_on(candidate, draw):
    block = block_of(candidate, 80, 2, 1, dtype=torch.bfloat16)  # D = 40
    answer = block(FAINT * draw.normal(1, 1000, 80, dtype=torch.bfloat16))

    exact = answer.expected["output"].exact
    off = float((answer.output.double() - exact).norm() / exact.norm())
    if not off < BLURRED:  # NaN is not
        fail(
            "far on in bfloat16, positions are not told apart: were the angles rounded?",
            f"the error is {off:.0%} of the result; rounding alone makes about 1%",
        )


@check(
    "Gradients reach the input and every weight, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    assert_gradients_match(
        block_of(candidate),
        draw.normal(B, 5, E),
        wrt=(0,),
        cotangents=[draw.normal(B, 5, E)],
        parameters=True,
    )


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    block = block_of(candidate)

    assert_close(block(draw.normal(L, B, E).transpose(0, 1)), "output")
    assert_close(block(draw.normal(B, E, L).transpose(1, 2)), "output")
    assert_close(block(draw.normal(B, L, 2 * E)[..., ::2]), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    assert_inputs_unchanged(block_of(candidate), draw.normal(B, L, E))


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    block = block_of(candidate)
    x = draw.normal(B, L, E)

    assert_close(block(x), "output")
    assert_close(block(draw.normal(1, L + 6, E)), "output")
    assert_close(block(draw.normal(1, 3, E)), "output")
    assert_close(block(x), "output")
    for heads in (H, G):  # blocks of the same and of other sizes, made later
        block_of(candidate, num_heads=heads)
        assert_close(block(x), "output")


@check(
    "Sizes that do not divide raise, an odd head size and an input of another width too",
    category="robustness",
    points=2,
    after="output_shape",
)
def test_bad_sizes(candidate, draw):
    for sizes, why in (
        ((50, 6, 2, 47), "embed_dim 50 with 6 heads"),
        ((60, 6, 4, 47), "6 heads with 4 key/value heads"),
        ((30, 6, 2, 47), "heads of 5 features, which is odd"),
        ((6, 6, 3, 47), "heads of 1 feature, which is odd"),
    ):
        assert_rejected(candidate.PreNormBlock, *sizes, why=why)
    for width in (E - 1, 2 * E):
        assert_rejected(
            block_of(candidate),
            draw.normal(B, L, width),
            why="an input of another width than embed_dim",
        )


@check(
    "Written from scratch: no fused or official attention, no official layer",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    assert_written_from_scratch(candidate, block_of(candidate), draw.normal(B, L, E))


@check(
    "No Python loop over positions or heads",
    category="policy",
    points=0,
    after="output_shape",
    advisory=True,
)
def test_no_loop(candidate, draw):
    block = block_of(candidate)
    short, long = block.observe(draw.normal(B, 3, E)), block.observe(draw.normal(B, 12, E))
    assert_operations_do_not_grow(short, long, "positions")

    few = block_of(candidate, 32, 2, 1).observe(draw.normal(B, 3, 32))
    many = block_of(candidate, 32, 8, 1).observe(draw.normal(B, 3, 32))
    assert_operations_do_not_grow(few, many, "heads")
