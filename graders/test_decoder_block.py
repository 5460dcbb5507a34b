"""A decoder block, Post-LN: causal self-attention, cross-attention, feed-forward layer."""

# B batch  L length  S memory length  H heads  D head size  E = H·D width
# F width of the feed-forward layer

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
B, L, S = 2, 5, 7
MASK_DTYPES = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32)
FFN_WIDTHS = (17, 37, 53, 61)
SPREAD = 3.0
"""Of the inputs: rows of some variance, so that the eps of a norm does not show."""
CLEAR = 3e-4
"""How far from the kink of the ReLU a feature is for rounding not to move it across."""


def block_of(candidate, embed_dim=E, num_heads=H, ffn_dim=F, dtype=torch.float32):
    return candidate.DecoderBlock(
        embed_dim=embed_dim, num_heads=num_heads, ffn_dim=ffn_dim, dtype=dtype
    )


def tokens(draw, B=B, L=L, E=E, dtype=torch.float32):
    return (SPREAD * draw.normal(B, L, E, dtype=torch.float64)).to(dtype)


def inputs(draw, B=B, L=L, S=S, E=E, dtype=torch.float32):
    return tokens(draw, B, L, E, dtype), tokens(draw, B, S, E, dtype)


def nearest_kink(block, *args):
    """Return how near to zero a feature of the reference comes before the ReLU."""
    reference, _ = block.references()
    seen = []
    hook = reference.ffn1.register_forward_hook(lambda *call: seen.append(call[-1].detach()))
    reference(*(a.double() if a.is_floating_point() else a for a in args))
    hook.remove()
    return float(seen[0].abs().min())


@check(
    "Is made with (embed_dim, num_heads, ffn_dim), and has ten maps and three norms",
    category="shape",
    points=2,
)
def test_constructor(candidate, draw):
    block_of(candidate)


@check(
    "Has no parameters but ten maps and three norms: 8E² + 2EF + 3E, and biases at most",
    category="cost",
    points=1,
    after="constructor",
)
def test_parameter_count(candidate, draw):
    assert_no_extra_parameters(block_of(candidate))


@check("Returns (B, L, E) where L ≠ S", category="shape", points=2, after="constructor")
def test_output_shape(candidate, draw):
    answer = block_of(candidate)(*inputs(draw))

    assert answer.output.shape == (B, L, E)


@check(
    "One position and a memory of one: residuals, norms and feed-forward layer",
    category="values",
    points=3,
    after="constructor",
)
def test_one_position(candidate, draw):
    block = block_of(candidate)
    for items in (1, 13):
        x, memory = inputs(draw, B=items, L=1, S=1)

        assert_close(block(2 * x, memory), "output")
    block = block_of(candidate, 66)
    memory = towards_large_features(block)
    assert_close(block(tokens(draw, B=len(memory), L=1, E=66), memory), "output")


def towards_large_features(block):
    """Return memories (F, 1, E) that each make one feature before the ReLU very large."""
    reference, _ = block.references()
    with torch.no_grad():
        wanted = 100 * reference.norm2.weight * reference.ffn1.weight  # (F, E), before the norm
        v, out = reference.cross_attention.v_proj, reference.cross_attention.out_proj
        shift = out.weight @ v.bias + out.bias
        # What the maps nearly lose is left out of their inverse: it would need memories so large
        # that float32 has no digits left for the rest.
        inverse = torch.linalg.pinv(out.weight @ v.weight, rtol=0.02)
        return ((wanted - shift) @ inverse.T)[:, None].float()


@check(
    "The whole block, on several random shapes", category="values", points=5, after="output_shape"
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L S", (2, 3, 5, 7, 11)) | draw.sizes("H D", (3, 5, 7, 11))
        width = n["H"] * n["D"]
        ffn = FFN_WIDTHS[draw.integer(0, len(FFN_WIDTHS) - 1)]
        block = block_of(candidate, width, n["H"], ffn)

        assert_close(block(*inputs(draw, n["B"], n["L"], n["S"], width)), "output")


@check(
    "The memory may be as long as x, longer, shorter, or one position",
    category="values",
    points=2,
    after="constructor",
)
def test_memory_length(candidate, draw):
    block = block_of(candidate)
    for length in (L, L + 8, L - 2, 1):
        assert_close(block(*inputs(draw, S=length)), "output")


@check(
    "The feed-forward layer is ffn_dim wide, be it narrower or wider than the block",
    category="values",
    points=1,
    after="output_shape",
)
def test_ffn_width(candidate, draw):
    for ffn_dim in (5, 13, 151):
        assert_close(block_of(candidate, ffn_dim=ffn_dim)(*inputs(draw)), "output")


@check(
    "Heads are independent: 1 head, E heads, and in between",
    category="values",
    points=2,
    after="output_shape",
)
def test_number_of_heads(candidate, draw):
    for heads in (1, 2, 3, 5, 30):
        assert_close(block_of(candidate, 30, heads)(*inputs(draw, E=30)), "output")


@check("Batch items are independent", category="values", points=1, after="output_shape")
def test_batch_items(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw, B=3)

    assert_close(block(x, memory), "output")
    assert_close(block(x[1:2], memory[1:2]), "output")


@check("A long sequence and a long memory", category="values", points=1, after="output_shape")
def test_long_sequence(candidate, draw):
    block = block_of(candidate)

    assert_close(block(*inputs(draw, B=1, L=131, S=3)), "output")
    assert_close(block(*inputs(draw, B=1, L=3, S=71)), "output")


@check(
    "The future has no influence, whatever it holds",
    category="masking",
    points=4,
    after="constructor",
)
def test_future_is_not_felt(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw, L=7, S=7)
    future = x.clone()
    future[:, 4:] = 100 * x[:, 4:]

    assert_close(block(x, memory), "output")
    assert_close(block(future, memory), "output")
    assert_close(block(x[:, :4], memory), "output")
    x[:, 2] = 0
    assert_close(block.without_biases()(x, memory), "output")


@check(
    "Every position sees the whole memory, the first one too",
    category="masking",
    points=2,
    after="constructor",
)
def test_memory_is_seen_in_full(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw, L=7, S=7)
    other = memory.clone()
    other[:, 3:] = tokens(draw, L=4)

    assert_close(block(x, memory), "output")
    assert_close(block(x, other), "output")


@check(
    "A memory mask (B, 1, 1, S): 0 blocks, 1 may be attended to",
    category="masking",
    points=4,
    after="output_shape",
)
def test_memory_mask(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw)
    padding = torch.ones(B, 1, 1, S, dtype=torch.bool)
    padding[1, :, :, 4:] = False

    assert_close(block(x, memory, padding), "output")
    assert_close(block(x, memory, draw.mask(B, 1, 1, S)), "output")
    for sizes in ({"S": L}, {"B": 1, "S": L}, {"L": 1, "S": L}, {"B": 1, "L": 1, "S": L}):
        assert_close(block(*inputs(draw, **sizes), draw.mask(sizes.get("B", B), 1, 1, L)), "output")
    x, memory = inputs(draw)
    memory[:, 3] = 0
    assert_close(block.without_biases()(x, memory, draw.mask(B, 1, 1, S)), "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="memory_mask")
def test_mask_dtypes(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw)
    mask = draw.mask(B, 1, 1, S)
    for dtype in (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32):
        assert_close(block(x, memory, mask.to(dtype)), "output")


@check(
    "A blocked position of the memory has no influence, whatever it holds",
    category="masking",
    points=3,
    after="output_shape",
)
def test_blocked_memory_is_not_felt(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw)
    mask = draw.mask(B, 1, 1, S)
    mask[..., 2] = False
    mask[..., 3] = True
    memory[:, 2] = 300 * memory[:, 2]

    assert_close(block(x, memory, mask), "output")


@check(
    "An item whose whole memory is blocked does not disturb the others",
    category="masking",
    points=1,
    after="memory_mask",
)
def test_blocked_item_stays_alone(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw, B=3)
    mask = draw.mask(3, 1, 1, S)
    blocked = mask.clone()
    blocked[1] = False

    answer = block(x, memory, blocked)
    open_ = block(x, memory, mask)

    assert_close(open_, "output")
    one, other = answer.output[[0, 2]], open_.output[[0, 2]]
    if not torch.allclose(one, other, rtol=1e-4, atol=1e-4):
        fail("an item whose memory is blocked changes the output of other items")


@check(
    "Large inputs and large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw)
    for scale in (3.0, 10.0):  # the scores of x with x grow with the square
        assert_close(block(x * scale, memory * 5 * scale), "output")
    # the variance is small beside the squares; of several positions, large scores might nearly tie
    assert_close(block(x[:, :1] + 300, memory), "output")
    for scale in (100.0, 500.0, 500.0):
        mask = draw.mask(B, 1, 1, S, keep=0.2)  # a few open positions, some with low scores
        assert_close(block(x, memory * scale, mask), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    block = block_of(candidate, dtype=torch.float64)
    x, memory = inputs(draw, dtype=torch.float64)

    assert_close(block(2 * x, 2 * memory), "output")
    assert_close(block(2 * x, 2 * memory, draw.mask(B, 1, 1, S)), "output")


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="values",
)
def test_bfloat16(candidate, draw):
    block = block_of(candidate, dtype=torch.bfloat16)
    x, memory = inputs(draw, dtype=torch.bfloat16)

    assert_close(block(x, memory), "output")
    assert_close(block(x, memory, draw.mask(B, 1, 1, S)), "output")


@check(
    "Gradients reach x, the memory and every weight, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    block = block_of(candidate)
    for mask in ((draw.mask(B, 1, 1, S),), ()):
        x, memory = inputs(draw)
        while nearest_kink(block, x, memory, *mask) < CLEAR:  # there the gradient jumps
            x = tokens(draw)

        assert_gradients_match(
            block,
            x,
            memory,
            *mask,
            wrt=(0, 1),
            cotangents=[draw.normal(B, L, E)],
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
    x = tokens(draw, B=L, L=B).transpose(0, 1)
    memory = tokens(draw, L=E, E=S).transpose(1, 2)
    mask = draw.mask(S, 1, 1, B).transpose(0, 3)
    mask[..., 0] = True

    assert_close(block(x, memory), "output")
    assert_close(block(x, memory, mask), "output")
    assert_close(block(x, tokens(draw, L=S, E=2 * E)[..., ::2]), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    block = block_of(candidate)

    assert_inputs_unchanged(block, *inputs(draw))
    for dtype in MASK_DTYPES:
        assert_inputs_unchanged(block, *inputs(draw), draw.mask(B, 1, 1, S).to(dtype))


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    block = block_of(candidate)
    (x, memory), mask = inputs(draw), draw.mask(B, 1, 1, S)

    assert_close(block(x, memory, mask), "output")
    assert_close(block(x, memory), "output")
    assert_close(block(x, tokens(draw, L=S)), "output")
    assert_close(block(*inputs(draw, B=1, L=3, S=2)), "output")
    assert_close(block(x, memory, mask), "output")
    for heads in (H, 1):  # blocks of the same and of other sizes, made later
        block_of(candidate, num_heads=heads)
        assert_close(block(x, memory, mask), "output")


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(candidate.DecoderBlock, 10, 3, 47, why="embed_dim 10 with 3 heads")


@check(
    "Input or memory of another width raises, different batch sizes too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_inputs(candidate, draw):
    block = block_of(candidate)
    x, memory = inputs(draw, B=3)

    assert_rejected(block, x[..., :-1], memory, why="x of another width than embed_dim")
    assert_rejected(block, x, memory[..., :-1], why="a memory of another width than embed_dim")
    assert_rejected(block, x[:2], memory, why="x and memory of different batch sizes")


@check(
    "Written from scratch: no fused or official attention, no official layer",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    block = block_of(candidate)

    assert_written_from_scratch(candidate, block, *inputs(draw))
    assert_written_from_scratch(candidate, block, *inputs(draw), draw.mask(B, 1, 1, S))


@check(
    "No Python loop over heads or positions",
    category="policy",
    points=0,
    after="output_shape",
    advisory=True,
)
def test_no_loops(candidate, draw):
    x, memory = inputs(draw, E=24)

    few = block_of(candidate, 24, 2).observe(x[:, :3], memory[:, :3])
    many = block_of(candidate, 24, 8).observe(x, memory)

    assert_operations_do_not_grow(few, many, "heads or positions")


@check("float16 in, float16 out", category="numerics", points=0, after="values", advisory=True)
def test_float16(candidate, draw):
    block = block_of(candidate, dtype=torch.float16)

    assert_close(block(*inputs(draw, dtype=torch.float16)), "output")
