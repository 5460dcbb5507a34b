"""An encoder block, Post-LN: LayerNorm(x + Attention(x)), then LayerNorm(x + FFN(x)), ReLU."""

# B batch  L length  H heads  D head size  E = H·D width  F width of the feed-forward layer

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

E, H, F = 33, 3, 47  # D = 11
B, L = 2, 7
MASK_DTYPES = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32)
FFN_WIDTHS = (17, 37, 53, 61)
SPREAD = 3.0
"""Of the inputs: rows of some variance, so that the eps of a norm does not show."""
CLEAR = 3e-4
"""How far from the kink of the ReLU a feature is for rounding not to move it across."""


def block_of(candidate, embed_dim=E, num_heads=H, ffn_dim=F, dtype=torch.float32):
    return candidate.EncoderBlock(
        embed_dim=embed_dim, num_heads=num_heads, ffn_dim=ffn_dim, dtype=dtype
    )


def tokens(draw, B=B, L=L, E=E, dtype=torch.float32):
    return (SPREAD * draw.normal(B, L, E, dtype=torch.float64)).to(dtype)


def nearest_kink(block, *args):
    """Return how near to zero a feature of the reference comes before the ReLU."""
    reference, _ = block.references()
    seen = []
    hook = reference.ffn1.register_forward_hook(lambda *call: seen.append(call[-1].detach()))
    reference(*(a.double() if a.is_floating_point() else a for a in args))
    hook.remove()
    return float(seen[0].abs().min())


@check(
    "Is made with (embed_dim, num_heads, ffn_dim), and has six maps and two norms",
    category="shape",
    points=2,
)
def test_constructor(candidate, draw):
    block_of(candidate)


@check(
    "Has no parameters but six maps and two norms: 4E² + 2EF + 2E, and biases at most",
    category="cost",
    points=1,
    after="constructor",
)
def test_parameter_count(candidate, draw):
    assert_no_extra_parameters(block_of(candidate))


@check("Returns (B, L, E)", category="shape", points=2, after="constructor")
def test_output_shape(candidate, draw):
    answer = block_of(candidate)(tokens(draw))

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
        assert_close(block(2 * tokens(draw, B=items, L=1)), "output")
    block = block_of(candidate, 66)
    assert_close(block(towards_large_features(block)), "output")  # ReLU has no upper bound


def towards_large_features(block):
    """Return positions (F, 1, E) that each make one feature before the ReLU as large as can be."""
    reference, _ = block.references()
    with torch.no_grad():
        scale = reference.norm1.weight
        wanted = 100 * scale * reference.ffn1.weight  # (F, E), before the first norm
        v, out = reference.v_proj, reference.out_proj
        # One position attends to itself. What the maps nearly lose is left out of the inverse:
        # it would need positions so large that float32 has no digits left for the rest.
        both = torch.eye(len(scale), dtype=torch.float64) + out.weight @ v.weight
        shift = out.weight @ v.bias + out.bias
        inverse = torch.linalg.pinv(both, rtol=0.02)
        return ((wanted - shift) @ inverse.T)[:, None].float()


@check(
    "The whole block, on several random shapes", category="values", points=5, after="output_shape"
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L", (2, 3, 5, 7)) | draw.sizes("H D", (3, 5, 7, 11))
        width = n["H"] * n["D"]
        ffn = FFN_WIDTHS[draw.integer(0, len(FFN_WIDTHS) - 1)]
        block = block_of(candidate, width, n["H"], ffn)

        assert_close(block(tokens(draw, n["B"], n["L"], width)), "output")


@check(
    "The feed-forward layer is ffn_dim wide, be it narrower or wider than the block",
    category="values",
    points=1,
    after="output_shape",
)
def test_ffn_width(candidate, draw):
    for ffn_dim in (5, 13, 151):
        assert_close(block_of(candidate, ffn_dim=ffn_dim)(tokens(draw)), "output")


@check(
    "Heads are independent: 1 head, E heads, and in between",
    category="values",
    points=2,
    after="output_shape",
)
def test_number_of_heads(candidate, draw):
    for heads in (1, 2, 3, 5, 30):
        assert_close(block_of(candidate, 30, heads)(tokens(draw, E=30)), "output")


@check("Batch items are independent", category="values", points=1, after="output_shape")
def test_batch_items(candidate, draw):
    block = block_of(candidate)
    x = tokens(draw, B=3)

    assert_close(block(x), "output")
    assert_close(block(x[1:2]), "output")


@check("A long sequence", category="values", points=1, after="output_shape")
def test_long_sequence(candidate, draw):
    x = tokens(draw, B=1, L=67)

    assert_close(block_of(candidate)(x), "output")


@check("A mask (L, L): 0 blocks, 1 may attend", category="masking", points=4, after="output_shape")
def test_mask(candidate, draw):
    block = block_of(candidate)
    x = tokens(draw)
    for _ in range(2):
        assert_close(block(x, draw.mask(L, L)), "output")
    assert_close(block(tokens(draw, B=L), draw.mask(L, L)), "output")  # rows are no items
    assert_close(block(x, torch.ones(L, L).tril().bool()), "output")
    x[:, 3] = 0
    assert_close(block.without_biases()(x, draw.mask(L, L)), "output")


@check(
    "A padding mask (B, 1, 1, L), different from item to item",
    category="masking",
    points=3,
    after="output_shape",
)
def test_padding_mask(candidate, draw):
    block = block_of(candidate)
    x = tokens(draw)
    padding = torch.ones(B, 1, 1, L, dtype=torch.bool)
    padding[1, :, :, 4:] = False

    assert_close(block(x, padding), "output")
    assert_close(block(x, draw.mask(B, 1, 1, L)), "output")


@check(
    "Masks may be bool, integer or float",
    category="masking",
    points=2,
    after=("mask", "padding_mask"),
)
def test_mask_dtypes(candidate, draw):
    block = block_of(candidate)
    x = tokens(draw)
    mask, padding = draw.mask(L, L), draw.mask(B, 1, 1, L)
    for dtype in (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32):
        assert_close(block(x, mask.to(dtype)), "output")
        assert_close(block(x, padding.to(dtype)), "output")


@check(
    "A blocked position has no influence on the others, whatever it holds",
    category="masking",
    points=3,
    after="output_shape",
)
def test_blocked_position_is_not_felt(candidate, draw):
    block = block_of(candidate)
    x = tokens(draw)
    mask = draw.mask(L, L)
    mask[:, 2] = False
    mask[:, 3] = True
    x[:, 2] = 100 * x[:, 2]

    assert_close(block(x, mask), "output")


@check(
    "A row in which everything is blocked does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_blocked_row_stays_alone(candidate, draw):
    block = block_of(candidate)
    x, mask = tokens(draw), draw.mask(L, L)
    blocked = mask.clone()
    blocked[1] = False
    others = [0, *range(2, L)]

    answer = block(x, blocked)
    open_ = block(x, mask)

    assert_close(open_, "output")
    one, other = answer.output[:, others], open_.output[:, others]
    if not torch.allclose(one, other, rtol=1e-4, atol=1e-4):
        fail("a blocked row changes the output of other rows")

    padding = draw.mask(B, 1, 1, L)
    padding[0] = False
    answer, alone = block(x, padding), block(x[1:], padding[1:])
    assert_close(alone, "output")
    if not torch.allclose(answer.output[1:], alone.output, rtol=1e-4, atol=1e-4):
        fail("a blocked item changes the output of other items")


@check(
    "Large inputs and large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    block = block_of(candidate)
    x = tokens(draw)
    for scale in (15.0, 50.0):
        assert_close(block(x * scale), "output")
    # the variance is small beside the squares; of several positions, large scores might nearly tie
    assert_close(block(x[:, :1] + 300), "output")
    mask = draw.mask(L, L, keep=0.2)  # a few open positions, some of them with low scores
    assert_close(block(x * 10, mask), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    block = block_of(candidate, dtype=torch.float64)

    assert_close(block(2 * tokens(draw, dtype=torch.float64)), "output")
    assert_close(block(2 * tokens(draw, dtype=torch.float64), draw.mask(L, L)), "output")


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="values",
)
def test_bfloat16(candidate, draw):
    block = block_of(candidate, dtype=torch.bfloat16)
    x = tokens(draw, dtype=torch.bfloat16)

    assert_close(block(x), "output")
    assert_close(block(x, draw.mask(L, L)), "output")


@check("float16 in, float16 out, without a mask", category="numerics", points=1, after="values")
def test_float16(candidate, draw):
    block = block_of(candidate, dtype=torch.float16)

    assert_close(block(tokens(draw, dtype=torch.float16)), "output")


@check(
    "Gradients reach the input and every weight, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    block = block_of(candidate)
    for mask in ((draw.mask(5, 5),), (), (draw.mask(B, 1, 1, 5),)):
        x = tokens(draw, L=5)
        while nearest_kink(block, x, *mask) < CLEAR:  # there the gradient jumps
            x = tokens(draw, L=5)

        assert_gradients_match(
            block, x, *mask, wrt=(0,), cotangents=[draw.normal(B, 5, E)], parameters=True
        )


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    block = block_of(candidate)

    assert_close(block(tokens(draw, B=L, L=B).transpose(0, 1)), "output")
    assert_close(block(tokens(draw, L=E, E=L).transpose(1, 2)), "output")
    strided = tokens(draw, E=2 * E)[..., ::2]
    assert_close(block(strided, draw.mask(L, L).T.contiguous().T), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    block = block_of(candidate)

    assert_inputs_unchanged(block, tokens(draw))
    for mask in (draw.mask(L, L), draw.mask(B, 1, 1, L)):
        for dtype in MASK_DTYPES:
            assert_inputs_unchanged(block, tokens(draw), mask.to(dtype))


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    block = block_of(candidate)
    x, mask = tokens(draw), draw.mask(L, L)

    assert_close(block(x, mask), "output")
    assert_close(block(x), "output")
    assert_close(block(tokens(draw, B=1, L=3)), "output")
    assert_close(block(x, mask), "output")
    for heads in (H, 1):  # blocks of the same and of other sizes, made later
        block_of(candidate, num_heads=heads)
        assert_close(block(x, mask), "output")


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(candidate.EncoderBlock, 10, 3, 47, why="embed_dim 10 with 3 heads")


@check("Input of another width raises", category="robustness", points=1, after="output_shape")
def test_bad_input(candidate, draw):
    block = block_of(candidate)
    x = tokens(draw)

    assert_rejected(block, x[..., :-1], why="input of another width than embed_dim")
    assert_rejected(block, x[..., :1], why="input of width 1")


@check(
    "Written from scratch: no fused or official attention, no official layer",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    block = block_of(candidate)

    assert_written_from_scratch(candidate, block, tokens(draw))
    assert_written_from_scratch(candidate, block, tokens(draw), draw.mask(L, L))


@check(
    "No Python loop over heads", category="policy", points=0, after="output_shape", advisory=True
)
def test_no_loop_over_heads(candidate, draw):
    x = tokens(draw, E=24)

    few = block_of(candidate, 24, 2).observe(x)
    many = block_of(candidate, 24, 8).observe(x)

    assert_operations_do_not_grow(few, many, "heads")


@check("float16 with a mask", category="numerics", points=0, after="mask", advisory=True)
def test_float16_with_mask(candidate, draw):
    block = block_of(candidate, dtype=torch.float16)

    assert_close(block(tokens(draw, dtype=torch.float16), draw.mask(L, L)), "output")
