"""Dual attention: ((q + u) · k + (q + w) · r) / √D, causal, behind a memory, in memory O(L · S)."""

# B batch  H heads  L queries  S keys, S ≥ L  D head size

import itertools

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
    observe_way_back,
    ways_to_observe,
)

DTYPES = (torch.float32, torch.bfloat16, torch.float64)
MOST = 4
"""How many times B · H · L · S numbers a tensor may hold."""


def drawn(draw, B=2, H=3, L=5, S=11, D=7, dtype=torch.float32):
    """Return q, k, v, r, content_bias and position_bias."""
    shapes = ((B, H, L, D), (B, H, S, D), (B, H, S, D), (H, S, D), (H, D), (H, D))
    return [draw.normal(*shape, dtype=dtype) for shape in shapes]


def assert_small(seen, scores, words):
    """Assert that no tensor is much larger than the scores."""
    if seen.largest_elements > MOST * scores:
        times = seen.largest_elements / scores
        fail(
            f"{words} holds {times:.3g} times B · H · L · S numbers; {MOST} times are allowed",
            f"{seen.largest_elements} numbers, where there are {scores} scores",
        )


@check("Returns an output (B, H, L, D)", category="shape", points=3)
def test_output_shape(candidate, draw):
    answer = candidate.dual_attention(*drawn(draw, L=6, S=6))

    assert answer.output.shape == (2, 3, 6, 7)


@check(
    "The scores weigh content and distance, on several random shapes without a memory",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for L in (5, 11, 17):
        n = draw.sizes("B H D", (2, 3, 5, 7))

        assert_close(candidate.dual_attention(*drawn(draw, L=L, S=L, **n)), "output")


@check(
    "With a memory the queries are the last L of S positions, in mask and distances",
    category="values",
    points=5,
    after="output_shape",
)
def test_memory(candidate, draw):
    for L, S in ((7, 8), (7, 11), (5, 17), (1, 6), (2, 13)):
        n = draw.sizes("B H D", (2, 3, 5, 7))

        assert_close(candidate.dual_attention(*drawn(draw, L=L, S=S, **n)), "output")


@check(
    "Every pair takes the row of r for its distance: the last one for its own key",
    category="values",
    points=4,
    after="output_shape",
)
def test_distances(candidate, draw):
    for L, S in ((7, 7), (5, 9), (4, 19)):
        q, k, v, r, u, w = drawn(draw, L=L, S=S)

        assert_close(candidate.dual_attention(q, 0 * k, v, r, u, w), "output")


@check(
    "The content bias goes with the keys and the position bias with the distances, head by head",
    category="values",
    points=4,
    after="output_shape",
)
def test_biases(candidate, draw):
    for L, S in ((7, 7), (5, 9)):
        q, k, v, r, u, w = drawn(draw, L=L, S=S)
        for content, position in ((u, 0 * w), (0 * u, w), (2 * u, 2 * w)):
            args = 0 * q, k, v, r, content, position
            assert_close(candidate.dual_attention(*args), "output")


@check(
    "No query sees a key after itself, and each sees all of the memory",
    category="masking",
    points=3,
    after="output_shape",
)
def test_future(candidate, draw):
    for L, S in ((8, 8), (5, 12), (1, 7)):
        q, k, v, r, u, w = drawn(draw, L=L, S=S)
        assert_close(candidate.dual_attention(q, k, v + 20, r, u, w), "output")

        v[..., S // 2 :, :] *= 100  # a share of a later value shows
        assert_close(candidate.dual_attention(q, k, v, r, u, w), "output")


@check(
    "Both terms are divided by √D, for small and for large D",
    category="values",
    points=3,
    after="output_shape",
)
def test_scale(candidate, draw):
    for D in (2, 3, 64, 127):
        assert_close(candidate.dual_attention(*drawn(draw, D=D)), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L, S or D = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for names in ("B", "H", "L", "D", "L S", "B H", "B H L S D"):
        n = {"B": 2, "H": 3, "L": 5, "S": 11, "D": 7}
        n.update(dict.fromkeys(names.split(), 1))

        assert_close(candidate.dual_attention(*drawn(draw, **n)), "output")


@check(
    "Long segments and long memories are right to the end",
    category="values",
    points=2,
    after=("values", "memory"),
)
def test_long(candidate, draw):
    for L, S in ((64, 301), (140, 270), (301, 450), (530, 700), (5, 1100)):
        assert_close(candidate.dual_attention(*drawn(draw, B=1, H=2, L=L, S=S, D=5)), "output")


@check(
    "Large scores (1e4 and more) stay finite and right",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    for bound, lift in ((50, 0), (100, 200), (100, 400)):
        # whole numbers and D = 16: every way to compute the scores gives them exactly
        q, k, v, r, u, w = (draw.integers(*x.shape, bound=bound) for x in drawn(draw, D=16))
        q[..., 0] = k[..., 0] = lift  # adds to all scores alike: only their differences matter

        assert_close(candidate.dual_attention(q, k, v, r, u, w), "output")


@check(
    "Later keys have no influence, however low the scores of the others are",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_low_scores(candidate, draw):
    for L, S in ((8, 8), (5, 11)):
        q, k, v, r, u, w = drawn(draw, L=L, S=S, D=16)
        q, k, r, u, w = (draw.integers(*x.shape, bound=20).abs() + 4 for x in (q, k, r, u, w))
        assert_close(candidate.dual_attention(q, -k, v, -r, u, w), "output")

        q[..., 0], k[..., 0] = 900.0, 800.0  # every score is 180 000 lower
        assert_close(candidate.dual_attention(q, -k, v, -r, u, w), "output")


@check("float64 in, float64 out", category="numerics", points=1, after=("values", "memory"))
def test_float64(candidate, draw):
    assert_close(candidate.dual_attention(*drawn(draw, dtype=torch.float64)), "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after=("values", "memory"))
def test_bfloat16(candidate, draw):
    assert_close(candidate.dual_attention(*drawn(draw, dtype=torch.bfloat16)), "output")
    # distances that bfloat16 does not tell apart; who sees a loud one sees little else
    q, k, v, r, u, w = drawn(draw, B=1, H=1, L=290, S=600, D=4, dtype=torch.bfloat16)
    q[..., 0], r[..., 0] = 2.0, torch.where(torch.arange(600) % 31 == 0, 8.0, 0.0)
    assert_close(candidate.dual_attention(q, k, v, r, u, w), "output")


@check(
    "Gradients reach all six inputs, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    for L, S in ((7, 7), (5, 11)):
        assert_gradients_match(
            candidate.dual_attention,
            *drawn(draw, L=L, S=S),
            wrt=range(6),
            cotangents=[draw.normal(2, 3, L, 7)],
        )
    unlearned = [torch.zeros(3, 7) for _ in range(2)]  # as biases often begin
    assert_gradients_match(
        candidate.dual_attention,
        *drawn(draw)[:4],
        *unlearned,
        wrt=range(6),
        cotangents=[draw.normal(2, 3, 5, 7)],
    )


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after=("values", "memory"),
)
def test_non_contiguous(candidate, draw):
    q, k, v, r, u, w = drawn(draw)
    q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))
    r, u = r.transpose(0, 1).contiguous().transpose(0, 1), u.mT.contiguous().mT
    w = w.repeat_interleave(2, dim=-1)[..., ::2]

    assert_close(candidate.dual_attention(q, k, v, r, u, w), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    for L in (5, 11):
        assert_inputs_unchanged(candidate.dual_attention, *drawn(draw, L=L))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_repeatable(candidate, draw):
    first = drawn(draw)
    for args in (first, drawn(draw, L=11), drawn(draw, S=8), drawn(draw, L=3), first):
        assert_close(candidate.dual_attention(*args), "output")


@check(
    "Sizes that do not belong together raise: widths, and the lengths of k, v and r",
    category="robustness",
    points=2,
    after="output_shape",
)
def test_bad_sizes(candidate, draw):
    attend = candidate.dual_attention
    for L in (5, 11, 1):
        q, k, v, r, u, w = drawn(draw, L=L)
        for args, why in (
            ((q, k, v, torch.cat((r[:, :1], r), dim=1)), "more embeddings than keys"),
            ((q, k[..., :-1], v, r), "keys narrower than the queries"),
            ((q, k, v, r[..., :-1]), "embeddings narrower than the queries"),
            ((q, k, v, r[:, 1:]), "fewer embeddings than keys"),
            ((q, k, v[:, :, 1:], r), "fewer values than keys"),
        ):
            assert_rejected(attend, *args, u, w, why=why)


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after=("values", "memory"),
)
def test_written_from_scratch(candidate, draw):
    for S in (5, 11):
        assert_written_from_scratch(candidate, candidate.dual_attention, *drawn(draw, S=S))


@check(
    "No tensor holds a vector for each pair of positions",
    category="cost",
    points=4,
    after=("values", "memory", "inputs_unchanged"),
)
def test_size_of_tensors(candidate, draw):
    # no longer than need be: where each operation is watched, a loop over pairs is slow
    seen = candidate.dual_attention.observe(*drawn(draw, 1, 1, 256, 256, 16))
    assert_small(seen, 256 * 256, "the largest tensor")
    seen = candidate.dual_attention.observe(*drawn(draw, 1, 1, 33, 540, 2))
    assert_small(seen, 33 * 540, "the largest tensor behind a long memory")

    for number, (words, how) in enumerate(itertools.islice(ways_to_observe(draw, 6), 9)):
        L, S = ((96, 96), (96, 120), (101, 102))[number % 3]
        B, D = ((1, 6), (2, 5), (1, 6))[number // 3 % 3]
        args = drawn(draw, B, 1, L, S, D, DTYPES[number % 3])

        seen = candidate.dual_attention.observe(*args, **how)

        assert_small(seen, B * L * S, f"the largest tensor {words}")


@check(
    "Nor does the backward pass make such a tensor",
    category="cost",
    points=1,
    after=("size_of_tensors", "gradients"),
)
def test_backward_size(candidate, draw):
    for L, S, D in ((256, 256, 16), (97, 140, 6)):
        args, output = drawn(draw, 1, 1, L, S, D), (1, 1, L, D)

        seen = observe_way_back(candidate.dual_attention, draw, *args, learning=6, output=output)

        assert_small(seen, L * S, "the largest tensor of the backward pass")


@check(
    "No Python loop over queries, keys or heads",
    category="policy",
    points=0,
    after=("values", "memory"),
    advisory=True,
)
def test_no_loop(candidate, draw):
    attend = candidate.dual_attention
    short, long = attend.observe(*drawn(draw)), attend.observe(*drawn(draw, L=20, S=44))
    assert_operations_do_not_grow(short, long, "positions")

    few, many = attend.observe(*drawn(draw, H=2)), attend.observe(*drawn(draw, H=8))
    assert_operations_do_not_grow(few, many, "heads")


@check("float16 in, float16 out", category="numerics", points=0, after="bfloat16", advisory=True)
def test_float16(candidate, draw):
    assert_close(candidate.dual_attention(*drawn(draw, dtype=torch.float16)), "output")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.dual_attention(*drawn(draw, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")
