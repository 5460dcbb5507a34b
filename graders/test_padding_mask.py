"""Multi-head self-attention over a padded batch: padding has no influence on the tokens."""

# B batch  L length  H heads  D head size  E = H·D width

from functools import partial

import torch
from graders.shared import self_attention

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
    restated,
)
from mha_judge.grading.checks.extremes import lowest_with_itself
from mha_judge.grading.expecting.compare import compare
from mha_judge.grading.failures import CheckFailure

E, H = 33, 3  # D = 11
B, L = 5, 7
MASK_DTYPES = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32)


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.MultiHeadAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


def queries_and_keys(layer, x):
    """Return those of positions (N, E) in float64, (N, H, D) each."""
    reference, _ = layer.references()
    q, k = reference.q_proj(x), reference.k_proj(x)
    return q.unflatten(-1, (H, -1)), k.unflatten(-1, (H, -1))


def lengths(draw, count, longest):
    """Return how many tokens each sequence has: one is full, the others have 1 … longest − 1."""
    drawn = [longest, *(draw.integer(1, longest - 1) for _ in range(count - 1))]
    return torch.tensor(drawn)[draw.permutation(count)]


def padded_right(draw, B=B, L=L):
    """Return a mask (B, L) as a tokenizer makes it: 1 for a token, then 0 for padding."""
    return (torch.arange(L) < lengths(draw, B, L)[:, None]).long()


def one_padded(draw, length):
    """Return x (1, L, 4) and a mask with one place of padding, where the numbers are large."""
    x, mask = draw.normal(1, length, 4), torch.ones(1, length, dtype=torch.int64)
    place = draw.integer(0, length - 1)
    x[:, place] *= 300
    mask[:, place] = 0
    return x, mask


def assert_tokens_close(answer, mask, expected=None):
    """Assert that the output is right at the tokens; what stands at padding is not graded."""
    expected = expected or answer.expected["output"]
    tokens = (mask != 0)[..., None]  # (B, L, 1)
    found = torch.where(tokens, answer.output, expected.rounded)
    compare(found, expected, "the output at the tokens")


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (hidden_size, num_heads), and has maps for q, k, v and the output",
)
test_parameter_count = self_attention.test_parameter_count


@check(
    "Returns (B, L, E), with a mask (B, L) and without one",
    category="shape",
    points=2,
    after="constructor",
)
def test_output_shape(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)

    assert layer(x).output.shape == (B, L, E)
    assert layer(x, padded_right(draw)).output.shape == (B, L, E)


test_values = restated(
    self_attention.test_values,
    "Without a mask every position attends to every other, on several random shapes",
    points=4,
    after="constructor",
)


@check(
    "Heads are independent: 1 head, E heads, and in between",
    category="values",
    points=2,
    after="constructor",
)
def test_number_of_heads(candidate, draw):
    mask = padded_right(draw)
    for heads in (1, 2, 3, 6, 30):
        layer = layer_of(candidate, 30, heads)
        assert_close(layer(draw.normal(B, L, 30)), "output")
        assert_tokens_close(layer(draw.normal(B, L, 30), mask), mask)


@check("Padding on the right", category="masking", points=5, after="constructor")
def test_padding_right(candidate, draw):
    layer = layer_of(candidate)
    mask = padded_right(draw)
    shorter = mask * (torch.arange(L) < L - 2)  # no sequence is full: L comes out all the same

    assert_tokens_close(layer(draw.normal(B, L, E), mask), mask)
    assert_tokens_close(layer(draw.normal(B, L, E), shorter), shorter)
    x = draw.normal(B, L, E)
    x[:, 0] = 0
    assert_tokens_close(layer.without_biases()(x, mask), mask)


@check("Padding on the left", category="masking", points=2, after="constructor")
def test_padding_left(candidate, draw):
    layer = layer_of(candidate)
    mask = padded_right(draw).flip(-1)
    mask[0, : L - 2] = 0  # nearly all of a sequence

    assert_tokens_close(layer(draw.normal(B, L, E), mask), mask)


@check("Padding anywhere, between tokens too", category="masking", points=2, after="constructor")
def test_padding_anywhere(candidate, draw):
    layer = layer_of(candidate)
    mask = draw.mask(B, L, keep=0.5).long()
    mask[:, [0, L - 1]] = 1
    mask[:, 2:4] = torch.tensor([0, 1])

    assert_tokens_close(layer(draw.normal(B, L, E), mask), mask)


@check(
    "Each sequence has its own padding, also where B is 1, H or L",
    category="masking",
    points=3,
    after="constructor",
)
def test_own_padding(candidate, draw):
    layer = layer_of(candidate)
    for count in (1, H, L):  # a mask on the wrong axis may still broadcast here
        mask = padded_right(draw, count) if count > 1 else torch.tensor([[1, 1, 1, 1, 1, 0, 0]])
        assert_tokens_close(layer(draw.normal(count, L, E), mask), mask)


@check(
    "Padding has no influence on the tokens, whatever it holds",
    category="masking",
    points=3,
    after="constructor",
)
def test_padding_is_not_felt(candidate, draw):
    layer = layer_of(candidate)
    mask = padded_right(draw)
    x = draw.normal(B, L, E)
    expected = layer(x, mask).expected["output"]

    for scale in (10.0, 1000.0):  # unmasked, padding would take all the weight of some tokens
        filled = torch.where(mask[..., None] == 1, x, scale * draw.normal(B, L, E))
        assert_tokens_close(layer(filled, mask), mask, expected)


@check(
    "A sequence gets the same alone, without padding, as in a padded batch",
    category="masking",
    points=2,
    after="constructor",
)
def test_alone_or_padded(candidate, draw):
    layer = layer_of(candidate)
    mask = padded_right(draw)
    x = draw.normal(B, L, E)

    assert_tokens_close(layer(x, mask), mask)
    for index in range(B):
        count = int(mask[index].sum())
        assert_close(layer(x[index : index + 1, :count]), "output")


@check(
    "A mask of ones is no mask, whatever was masked before",
    category="masking",
    points=1,
    after="values",
)
def test_mask_of_ones(candidate, draw):
    layer = layer_of(candidate)
    mask = padded_right(draw)

    assert_tokens_close(layer(draw.normal(B, L, E), mask), mask)
    assert_close(layer(draw.normal(B, L, E), torch.ones(B, L, dtype=torch.int64)), "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="padding_right")
def test_mask_dtypes(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = padded_right(draw)
    for dtype in MASK_DTYPES:
        assert_tokens_close(layer(x, mask.to(dtype)), mask)
    # one place of padding among more than a half counts; what stands there would be felt
    narrow = layer_of(candidate, 4, 1)
    x, mask = one_padded(draw, draw.integer(515, 530))
    for dtype in (torch.bfloat16, torch.float16):
        assert_tokens_close(narrow(x, mask.to(dtype)), mask)


@check(
    "A sequence of nothing but padding does not disturb the others",
    category="masking",
    points=1,
    after="padding_right",
)
def test_empty_sequence_stays_alone(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = padded_right(draw)
    mask[2] = 0

    assert_tokens_close(layer(x, mask), mask)


@check(
    "Sizes of 1 are sizes like others: B or L = 1, or one token left",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    layer = layer_of(candidate)
    for size in ((1, L), (B, 1), (1, 1)):
        assert_close(layer(draw.normal(*size, E)), "output")
        assert_close(layer(draw.normal(*size, E), torch.ones(*size, dtype=torch.int64)), "output")
    mask = torch.zeros(B, L, dtype=torch.int64)
    mask[:, 0] = 1
    assert_tokens_close(layer(draw.normal(B, L, E), mask), mask)


@check(
    "Large logits stay finite and right, with padding too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    for scale in (30.0, 100.0):
        assert_close(layer(scale * draw.normal(B, L, E)), "output")
    for scale in (10.0, 20.0):  # a few tokens are left, some of them with low scores
        mask = draw.mask(B, L, keep=0.2).long()
        assert_tokens_close(layer(scale * draw.normal(B, L, E), mask), mask)
    low = lowest_with_itself(draw, E, partial(queries_and_keys, layer))
    x, mask = torch.stack([low, -low, -low])[None], torch.tensor([[1, 0, 0]])  # padding is high
    assert_tokens_close(layer(x, mask), mask)


@check("float64 in, float64 out", category="numerics", points=1, after="padding_right")
def test_float64(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float64)
    x = draw.normal(B, L, E, dtype=torch.float64)
    mask = padded_right(draw)

    assert_close(layer(x), "output")
    assert_tokens_close(layer(x, mask), mask)


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="padding_right",
)
def test_bfloat16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.bfloat16)
    x = draw.normal(B, L, E, dtype=torch.bfloat16)
    mask = padded_right(draw)

    assert_close(layer(x), "output")
    assert_tokens_close(layer(x, mask), mask)
    x, mask = one_padded(draw, draw.integer(515, 530))
    narrow = layer_of(candidate, 4, 1, torch.bfloat16)
    for dtype in (torch.int64, torch.bfloat16):
        assert_tokens_close(narrow(x.bfloat16(), mask.to(dtype)), mask)


test_float16 = self_attention.test_float16


@check(
    "Gradients reach hidden_state and the weights, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = padded_right(draw)
    tokens = mask[..., None]
    of_all, of_tokens = draw.normal(B, L, E), draw.normal(B, L, E) * tokens

    for ones in ((), (torch.ones_like(mask),)):
        assert_gradients_match(layer, x, *ones, wrt=(0,), cotangents=[of_all], parameters=True)
    if answers_padding_too(layer, x, mask):
        assert_gradients_match(layer, x, mask, wrt=(0,), cotangents=[of_tokens], parameters=True)


def answers_padding_too(layer, x, mask):
    """Return whether the output is the reference's at the padding as well.

    It need not be. But gradients are taken of an answer as a whole, and one that is NaN at the
    padding, where every key was blocked, has no gradient at all.
    """
    answer = layer(x, mask)
    assert_tokens_close(answer, mask)
    try:
        assert_close(answer, "output")
    except CheckFailure:
        return False
    return True


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    layer = layer_of(candidate)
    mask = padded_right(draw)
    inputs = (
        draw.normal(L, B, E).transpose(0, 1),
        draw.normal(B, E, L).transpose(1, 2),
        draw.normal(B, L, 2 * E)[..., ::2],
    )
    for x in inputs:
        assert_close(layer(x), "output")
        assert_tokens_close(layer(x, mask.T.contiguous().T), mask)


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)
    mask = padded_right(draw)

    assert_inputs_unchanged(layer, draw.normal(B, L, E))
    empty = mask.clone()
    empty[2] = 0
    for dtype in MASK_DTYPES:
        assert_inputs_unchanged(layer, draw.normal(B, L, E), mask.to(dtype))
        assert_inputs_unchanged(layer, draw.normal(B, L, E), empty.to(dtype))


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = padded_right(draw)

    assert_tokens_close(layer(x, mask), mask)
    assert_close(layer(draw.normal(1, 3, E)), "output")
    assert_close(layer(x), "output")
    assert_tokens_close(layer(x, mask), mask)
    for heads in (H, 1):  # layers of the same and of other sizes, made later
        layer_of(candidate, num_heads=heads)
        assert_tokens_close(layer(x, mask), mask)


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(candidate.MultiHeadAttention, 10, 3, why="hidden_size 10 with 3 heads")


@check(
    "A hidden_state of another width raises, a mask of another length too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_inputs(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = padded_right(draw)

    assert_rejected(layer, x[..., :-1], why="a hidden_state of another width than hidden_size")
    assert_rejected(layer, x, mask[:, :-1], why="a mask shorter than hidden_state")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)

    assert_written_from_scratch(candidate, layer, x)
    assert_written_from_scratch(candidate, layer, x, torch.ones(B, L, dtype=torch.int64))


test_no_loop_over_heads = self_attention.test_no_loop_over_heads
test_float64_precision = self_attention.test_float64_precision


@check("float16 with a mask", category="numerics", points=0, after="padding_right", advisory=True)
def test_float16_with_mask(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float16)
    mask = padded_right(draw)

    assert_tokens_close(layer(draw.normal(B, L, E, dtype=torch.float16), mask), mask)


@check(
    "Padded positions come out finite",
    category="numerics",
    points=0,
    after="padding_right",
    advisory=True,
)
def test_finite_at_padding(candidate, draw):
    output = layer_of(candidate)(draw.normal(B, L, E), padded_right(draw)).output

    if not bool(torch.isfinite(output).all()):
        fail("NaN or inf stands at padded positions: later layers and losses may spread it")
