"""Sparse attention: a pattern of near, strided and global pairs, and attention under any mask."""

# B batch  H heads  L length  D head size

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
)

FAR = 1000  # a stride that no distance reaches


def qkv(draw, B=2, H=3, L=11, D=7, dtype=torch.float32):
    return [draw.normal(B, H, L, D, dtype=dtype) for _ in range(3)]


def pattern(draw, L=11, keep=0.6):
    """Return a mask (L, L) in which not every position may attend to itself."""
    mask = draw.mask(L, L, keep=keep)
    mask[L // 2, L // 2] = False
    mask[L // 2, 0] = True  # or the row might have no key
    return mask


def regular(draw, L=11):
    """Return a mask in which each row has as many keys, and each key as many queries."""
    steps = draw.permutation(L)[:4]
    apart = (torch.arange(L) - torch.arange(L).unsqueeze(-1)) % L
    return torch.isin(apart, steps)


def lopsided(draw, L=11):
    """Return a mask in which each key has as many queries, but queries have not as many keys."""
    mask = torch.zeros(L, L).bool()
    for key in range(L):
        others = draw.permutation(L - 1)[:3]
        mask[(key + 1 + others) % L, key] = True
    mask.fill_diagonal_(True)
    return mask


def assert_pattern(candidate, *case):
    assert_close(candidate.sparse_mask(*case), "mask")


@check("sparse_mask returns a boolean tensor (L, L)", category="shape", points=2)
def test_mask_form(candidate, draw):
    answer = candidate.sparse_mask(11, 2, 4, 1)

    assert answer.mask.shape == (11, 11)


@check(
    "A pair may attend if it is near, or strided, or global: on several random patterns",
    category="values",
    points=4,
    after="mask_form",
)
def test_mask_values(candidate, draw):
    for L in (13, 19, 29):
        assert_pattern(candidate, L, draw.integer(1, 3), draw.integer(5, 8), draw.integer(1, 3))
    assert_pattern(candidate, 263, 2, 11, 1)  # more positions than a byte counts


@check(
    "The window alone: |i − j| ≤ window, to both sides",
    category="values",
    points=3,
    after="mask_form",
)
def test_window(candidate, draw):
    for window in (3, 2, 1, 0, 7):
        assert_pattern(candidate, 11, window, FAR, 0)
    assert_pattern(candidate, 530, draw.integer(300, 520), FAR, 0)


@check(
    "The stride alone: i − j divisible by it, forwards and backwards",
    category="values",
    points=3,
    after="mask_form",
)
def test_stride(candidate, draw):
    for stride in (3, 2, 4, 5, 7):
        assert_pattern(candidate, 11, 0, stride, 0)
    assert_pattern(candidate, 530, 0, draw.integer(200, 260), 0)


@check(
    "The global positions alone: the first ones see all, and all see them",
    category="values",
    points=3,
    after="mask_form",
)
def test_global(candidate, draw):
    for num_global in (2, 1, 4, 0):
        assert_pattern(candidate, 11, 0, FAR, num_global)
    assert_pattern(candidate, 530, 0, FAR, draw.integer(300, 520))


@check(
    "Extremes: one position, a stride of 1, windows and global positions beyond the length",
    category="shape",
    points=2,
    after="mask_form",
)
def test_mask_extremes(candidate, draw):
    for case in ((1, 0, 1, 0), (7, 0, 1, 0), (7, 7, FAR, 0), (7, 30, 3, 0), (7, 0, 7, 0)):
        assert_pattern(candidate, *case)
    for case in ((7, 0, FAR, 7), (7, 1, 3, 20), (7, 0, 6, 0), (2, 0, 2, 0), (1, 5, 5, 5)):
        assert_pattern(candidate, *case)
    for case in ((7, 256, FAR, 0), (7, 0, 258, 0), (7, 0, FAR, 257)):  # more than a byte holds
        assert_pattern(candidate, *case)


@check("A stride of 0 raises", category="robustness", points=1, after="mask_form")
def test_bad_stride(candidate, draw):
    for beside in ((1, 0, 1), (30, 0, 0), (0, 0, 7)):  # a window, or enough that sees all, too
        assert_rejected(candidate.sparse_mask, 7, *beside, why="a stride of 0")


@check("sparse_attention returns an output (B, H, L, D)", category="shape", points=2)
def test_output_shape(candidate, draw):
    answer = candidate.sparse_attention(*qkv(draw), pattern(draw))

    assert answer.output.shape == (2, 3, 11, 7)


@check(
    "Only the pairs that the mask allows attend, whatever its pattern",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L D", (2, 3, 5, 7, 11, 13))

        answer = candidate.sparse_attention(*qkv(draw, **n), pattern(draw, n["L"], keep=0.5))

        assert_close(answer, "output")
    q, k, v = qkv(draw, B=1, H=2, L=150, D=5)
    assert_close(candidate.sparse_attention(q, k, v, pattern(draw, 150, keep=0.5)), "output")
    assert_close(candidate.sparse_attention(*qkv(draw), regular(draw)), "output")
    assert_close(candidate.sparse_attention(*qkv(draw), lopsided(draw)), "output")


@check(
    "The rows of the mask are queries, its columns keys",
    category="masking",
    points=2,
    after="output_shape",
)
def test_lopsided_mask(candidate, draw):
    for mask in (torch.ones(11, 11).tril(), torch.ones(11, 11).triu(-2)):
        assert_close(candidate.sparse_attention(*qkv(draw), mask.bool()), "output")


@check(
    "A mask of True everywhere is plain attention, a diagonal one returns v",
    category="masking",
    points=2,
    after="output_shape",
)
def test_full_and_diagonal(candidate, draw):
    q, k, v = qkv(draw)

    for scores in (1, 0):  # a score of exactly 0 is a score like others
        for mask in (torch.ones(11, 11).bool(), torch.eye(11).bool()):
            assert_close(candidate.sparse_attention(scores * q, k, v, mask), "output")


@check(
    "A blocked position weighs 0, and its key and value have no influence",
    category="masking",
    points=3,
    after="output_shape",
)
def test_blocked_key_is_not_felt(candidate, draw):
    q, k, v = qkv(draw)
    mask = pattern(draw)
    mask[:, 2] = False
    mask[:, 3] = True
    k[..., 2, :] = 300 * draw.normal(2, 3, 7)  # for some queries the highest score by far
    v[..., 2, :] = 1e30

    assert_close(candidate.sparse_attention(q, k, v, mask), "output")


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="values",
)
def test_blocked_row_stays_alone(candidate, draw):
    q, k, v = qkv(draw)
    mask = pattern(draw)
    mask[1] = True
    blocked = mask.clone()
    blocked[1] = False

    plain = candidate.sparse_attention(q, k, v, mask)
    answer = candidate.sparse_attention(q, k, v, blocked)
    others = [0, *range(2, 11)]

    assert_close(plain, "output")
    one, other = (a.output[..., others, :] for a in (answer, plain))
    if not torch.allclose(one, other, rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")


@check(
    "The scale is √D for small and for large D", category="values", points=2, after="output_shape"
)
def test_scale(candidate, draw):
    for D in (2, 3, 64, 127):
        assert_close(candidate.sparse_attention(*qkv(draw, D=D), pattern(draw)), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L or D = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for name in ("B", "H", "D", "B H", "L", "B H L D"):
        n = {"B": 2, "H": 3, "L": 11, "D": 7}
        n.update(dict.fromkeys(name.split(), 1))
        mask = pattern(draw) if n["L"] > 1 else torch.ones(1, 1).bool()

        assert_close(candidate.sparse_attention(*qkv(draw, **n), mask), "output")


@check(
    "Large logits (±1e4) stay finite and right under a mask",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    for bound in (50, 100):
        # whole numbers and D = 16: every way to compute the logits gives them exactly
        q, k = (draw.integers(2, 3, 11, 16, bound=bound) for _ in range(2))
        v = draw.normal(2, 3, 11, 16)

        assert_close(candidate.sparse_attention(q, k, v, pattern(draw, keep=0.8)), "output")
        # every score is below what a blocked one may be filled with
        low = candidate.sparse_attention(q.abs(), -k.abs() - 1, v, pattern(draw, keep=0.8))
        assert_close(low, "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    answer = candidate.sparse_attention(*qkv(draw, dtype=torch.float64), pattern(draw))

    assert_close(answer, "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="values")
def test_bfloat16(candidate, draw):
    answer = candidate.sparse_attention(*qkv(draw, dtype=torch.bfloat16), pattern(draw))

    assert_close(answer, "output")


@check(
    "Gradients reach q, k and v, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    assert_gradients_match(
        candidate.sparse_attention,
        *qkv(draw),
        pattern(draw),
        wrt=(0, 1, 2),
        cotangents=[draw.normal(2, 3, 11, 7)],
    )


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    q = draw.normal(2, 11, 3, 7).transpose(1, 2)
    k = draw.normal(2, 11, 3, 7).transpose(1, 2)
    v = draw.normal(2, 3, 11, 14)[..., ::2]
    mask = draw.mask(11, 22)[:, ::2]
    mask.fill_diagonal_(True)

    assert_close(candidate.sparse_attention(q, k, v, mask), "output")
    assert_close(candidate.sparse_attention(q, k, v, mask.T), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    assert_inputs_unchanged(candidate.sparse_attention, *qkv(draw), pattern(draw))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after=("output_shape", "mask_form"),
)
def test_repeatable(candidate, draw):
    q, k, v = qkv(draw)
    first, other = pattern(draw), draw.mask(11, 11, keep=0.3)

    for mask in (first, other, first):
        assert_close(candidate.sparse_attention(q, k, v, mask), "output")
    for case in ((11, 2, 4, 1), (11, 1, 5, 2), (11, 2, 4, 1)):
        assert_pattern(candidate, *case)


@check(
    "Queries and keys of different width raise, and a mask of another length",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_input(candidate, draw):
    q, k, v = qkv(draw)
    mask = pattern(draw)

    attend = candidate.sparse_attention
    assert_rejected(attend, q, k[..., :-1], v, mask, why="keys narrower than the queries")
    assert_rejected(attend, q[..., :-1], k, v, mask, why="keys wider than the queries")
    for length in (10, 4):
        for part in (mask[:length, :length], mask[:, :length], mask[:length]):
            why = f"a mask {tuple(part.shape)} for 11 positions"
            assert_rejected(attend, q, k, v, part, why=why)


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    mask = pattern(draw)

    assert_written_from_scratch(candidate, candidate.sparse_attention, *qkv(draw), mask)


@check(
    "No Python loop over heads or batch items",
    category="policy",
    points=0,
    after="values",
    advisory=True,
)
def test_no_loop(candidate, draw):
    attend, mask = candidate.sparse_attention, pattern(draw)
    small, many = attend.observe(*qkv(draw), mask), attend.observe(*qkv(draw, H=8), mask)
    assert_operations_do_not_grow(small, many, "heads")

    large = attend.observe(*qkv(draw, B=7), mask)
    assert_operations_do_not_grow(small, large, "batch items")


@check("float16 in, float16 out", category="numerics", points=0, after="bfloat16", advisory=True)
def test_float16(candidate, draw):
    answer = candidate.sparse_attention(*qkv(draw, dtype=torch.float16), pattern(draw))

    assert_close(answer, "output")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.sparse_attention(*qkv(draw, dtype=torch.float64), pattern(draw))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")
