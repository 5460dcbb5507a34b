"""ALiBi: slopes for any number of heads, and scores that fall with the distance, cached or not."""

# B batch  H heads  L queries  S keys, of which the last L are the queries' positions  D head size

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_stays_on_device,
    assert_written_from_scratch,
    check,
    fail,
)

BOTH = (True, False)


def inputs(draw, B=2, H=3, L=7, S=7, D=5, dtype=torch.float32):
    """Return q, k, v and slopes, which differ from head to head and stand in random order."""
    q = draw.normal(B, H, L, D, dtype=dtype)
    k, v = (draw.normal(B, H, S, D, dtype=dtype) for _ in range(2))
    return q, k, v, ((1 + draw.permutation(H)) / (H + 1)).to(dtype)


def assert_slopes(candidate, *numbers_of_heads):
    for num_heads in numbers_of_heads:
        assert_close(candidate.alibi_slopes(num_heads), "slopes")


@check("alibi_slopes returns a tensor or a NumPy array of shape (H,)", category="shape", points=2)
def test_slopes_form(candidate, draw):
    answer = candidate.alibi_slopes(8)

    assert answer.slopes.shape == (8,)


@check(
    "A power of two: slopes fall from 2^(−8/H) to 2^(−8), each by the same factor",
    category="values",
    points=4,
    after="slopes_form",
)
def test_slopes_of_powers(candidate, draw):
    assert_slopes(candidate, 4, 8, 16, 2, 1, 32, 64, 128)


@check(
    "Another number: the slopes of the power below, then every second one of the power above",
    category="values",
    points=4,
    after="slopes_form",
)
def test_slopes_of_other_numbers(candidate, draw):
    assert_slopes(candidate, 12, 3, 6, 5, 7, 20, 24, 40, 71, 112)
    assert_slopes(candidate, draw.integer(9, 15), draw.integer(17, 31), draw.integer(33, 63))


@check("alibi_attention returns an output (B, H, L, D)", category="shape", points=3)
def test_output_shape(candidate, draw):
    answer = candidate.alibi_attention(*inputs(draw))

    assert answer.output.shape == (2, 3, 7, 5)


@check(
    "A causal query sees the keys up to its own, and scores fall by slope · distance",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L D", (2, 3, 5, 7, 11))

        answer = candidate.alibi_attention(*inputs(draw, S=n["L"], **n))

        assert_close(answer, "output")
    assert_close(candidate.alibi_attention(*inputs(draw, 1, 4, 13, 13), True), "output")


@check(
    "causal=False: keys to both sides, and those after the query lose as much by distance",
    category="values",
    points=3,
    after="output_shape",
)
def test_both_sides(candidate, draw):
    for L in (7, 11):
        assert_close(candidate.alibi_attention(*inputs(draw, L=L, S=L), False), "output")


@check(
    "Each head has the slope that is passed for it, whatever the slopes are",
    category="values",
    points=3,
    after="output_shape",
)
def test_slope_of_each_head(candidate, draw):
    q, k, v, slopes = inputs(draw, H=4)
    for chosen in (slopes, slopes.flip(0), 3 * slopes, 0 * slopes, slopes - 0.5):
        for causal in BOTH:
            assert_close(candidate.alibi_attention(q, k, v, chosen, causal), "output")


@check(
    "With a cache the queries are the last of the keys' positions, one or several",
    category="masking",
    points=4,
    after="output_shape",
)
def test_cache(candidate, draw):
    for L, S in ((1, 9), (4, 11), (2, 5), (6, 7), (1, 2)):
        assert_close(candidate.alibi_attention(*inputs(draw, L=L, S=S)), "output")


@check(
    "With a cache and causal=False, too, distances start from the last positions",
    category="values",
    points=2,
    after="both_sides",
)
def test_cache_on_both_sides(candidate, draw):
    for L, S in ((4, 11), (2, 5), (1, 9), (6, 7)):
        assert_close(candidate.alibi_attention(*inputs(draw, L=L, S=S), False), "output")


@check(
    "The scale is √D for small and for large D, and is not applied to the bias",
    category="values",
    points=2,
    after="output_shape",
)
def test_scale(candidate, draw):
    for D in (2, 3, 64, 127):
        assert_close(candidate.alibi_attention(*inputs(draw, D=D)), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L, S or D = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for name in ("B", "H", "L", "D", "B H", "L S", "B H L S D"):
        n = {"B": 2, "H": 3, "L": 7, "S": 7, "D": 5}
        n.update(dict.fromkeys(name.split(), 1))
        for causal in BOTH:
            assert_close(candidate.alibi_attention(*inputs(draw, **n), causal), "output")


@check(
    "There is no longest sequence: hundreds of positions, and one step after a thousand",
    category="shape",
    points=2,
    after="output_shape",
)
def test_many_positions(candidate, draw):
    # with such slopes the farthest keys count as well, or most of all
    for causal, L, S in ((True, 300, 300), (False, 150, 280)):
        q, k, v, slopes = inputs(draw, B=1, H=2, L=L, S=S)
        assert_close(candidate.alibi_attention(q, k, v, 0.01 * slopes, causal), "output")
    for L, S, share in ((1, 1100, 0.005), (3, 1050, -0.05)):
        q, k, v, slopes = inputs(draw, B=1, H=2, L=L, S=S)
        for causal in BOTH:
            assert_close(candidate.alibi_attention(q, k, v, share * slopes, causal), "output")


@check(
    "Keys after the query have no influence, however low the other scores are",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_low_scores(candidate, draw):
    for least in (4, 200):  # with 200 every score is below −100 000
        # whole numbers and D = 16: every way to compute the logits gives them exactly
        q = draw.integers(2, 3, 11, 16, bound=20).abs() + least
        k = -draw.integers(2, 3, 11, 16, bound=20).abs() - least
        *_, v, slopes = inputs(draw, S=11, D=16)
        for steps in (11, 4):
            assert_close(candidate.alibi_attention(q[..., -steps:, :], k, v, slopes), "output")


@check(
    "Large logits (1e4 and more) stay finite and right",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    # steep slopes: the best key may be so far away that exp(−slope · distance) is 0
    for bound, lift, steep in ((50, 0, 1), (100, 200, 1), (100, 400, 1), (50, 0, 100)):
        q, k = (draw.integers(2, 3, 11, 16, bound=bound) for _ in range(2))
        q[..., 0] = k[..., 0] = lift  # adds lift² / 4 to all scores: only their differences matter
        *_, v, slopes = inputs(draw, S=11, D=16)

        assert_close(candidate.alibi_attention(q, k, v, steep * slopes), "output")
    # a score of 800 outweighs biases of −130, −260 and −400, whose exp is 0 in float32
    q, k, v, slopes = inputs(draw, B=1, H=2, L=3, S=400, D=16)
    k[:] = 0
    k[:, :, draw.integer(0, 20)] = 200
    for chosen in (slopes, torch.ones_like(slopes)):
        for causal in BOTH:
            assert_close(candidate.alibi_attention(0 * q + 1, k, v, chosen, causal), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    assert_close(candidate.alibi_attention(*inputs(draw, dtype=torch.float64)), "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="values")
def test_bfloat16(candidate, draw):
    for causal in BOTH:
        args = inputs(draw, dtype=torch.bfloat16)
        assert_close(candidate.alibi_attention(*args, causal), "output")


@check(
    "bfloat16 does not blur which of two near keys is nearer, a thousand positions on",
    category="numerics",
    points=2,
    after="bfloat16",
)
def test_bfloat16_far_on(candidate, draw):
    # Scores of 0 and slopes of 1/2 and 1/4, whose products with near distances are exact: a right
    # answer rounds weights and values alone.
    slopes = torch.tensor([0.5, 0.25], dtype=torch.bfloat16)
    for L, S in ((1, 701), (5, 1003), (400, 400)):
        q, k, v, _ = inputs(draw, 1, 2, L, S, dtype=torch.bfloat16)

        answer = candidate.alibi_attention(0 * q, k, v, slopes)

        exact = answer.expected["output"].exact
        if not (answer.output.double() - exact).abs().max() <= 0.05 * exact.abs().max():
            fail("in bfloat16 the weights of near keys are wrong where many keys come before")


@check(
    "Gradients reach q, k, v and the slopes, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    for L, causal in ((7, True), (4, True), (7, False)):
        assert_gradients_match(
            candidate.alibi_attention,
            *inputs(draw, L=L),
            causal,
            wrt=(0, 1, 2, 3),
            cotangents=[draw.normal(2, 3, L, 5)],
        )
    q, k, v, _ = inputs(draw)
    assert_gradients_match(
        candidate.alibi_attention,
        *(q, k, v, torch.zeros(3)),  # which change nothing, but have gradients
        wrt=(0, 1, 2, 3),
        cotangents=[draw.normal(2, 3, 7, 5)],
    )
    # sizes that nothing was asked for before: what is kept under inference_mode has no gradients
    attend, args = candidate.alibi_attention, inputs(draw, L=19, S=19)
    attend.observe(*args, mode="inference_mode")
    assert_gradients_match(attend, *args, wrt=(0, 1, 2, 3), cotangents=[draw.normal(2, 3, 19, 5)])


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    q = draw.normal(2, 3, 5, 7).transpose(2, 3)
    k = draw.normal(2, 7, 3, 5).transpose(1, 2)
    v = draw.normal(2, 3, 7, 10)[..., ::2]
    slopes = draw.normal(6).abs()[::2]

    assert_close(candidate.alibi_attention(q, k, v, slopes), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    for causal in BOTH:
        assert_inputs_unchanged(candidate.alibi_attention, *inputs(draw), causal)


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after=("output_shape", "slopes_form"),
)
def test_repeatable(candidate, draw):
    q, k, v, slopes = inputs(draw)

    for chosen, steps in ((slopes, 7), (slopes / 2, 7), (slopes, 3), (slopes, 7)):
        for causal in BOTH:
            answer = candidate.alibi_attention(q[..., -steps:, :], k, v, chosen, causal)
            assert_close(answer, "output")
    assert_slopes(candidate, 8, 4, 8)


@check(
    "Widths, lengths and numbers of slopes that do not fit raise",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_sizes(candidate, draw):
    q, k, v, slopes = inputs(draw)

    attend = candidate.alibi_attention
    assert_rejected(attend, q, k[..., :-1], v, slopes, why="keys narrower than the queries")
    assert_rejected(attend, q[..., :-1], k, v, slopes, why="keys wider than the queries")
    assert_rejected(attend, q, k, v[..., :-1, :], slopes, why="fewer values than keys")
    assert_rejected(attend, q[..., 1:, :], k[..., :-1, :], v, slopes, why="more values than keys")
    assert_rejected(attend, q, k, v, slopes[:2], why="2 slopes for 3 heads")
    assert_rejected(attend, q, k, v, torch.ones(4), why="4 slopes for 3 heads")


@check("More queries than keys raise", category="robustness", points=1, after="output_shape")
def test_more_queries_than_keys(candidate, draw):
    for S in (6, 2):
        for causal in BOTH:
            args = inputs(draw, S=S)
            assert_rejected(candidate.alibi_attention, *args, causal, why=f"7 queries, {S} keys")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    assert_written_from_scratch(candidate, candidate.alibi_attention, *inputs(draw))


@check(
    "No Python loop over heads or positions",
    category="policy",
    points=0,
    after="values",
    advisory=True,
)
def test_no_loop(candidate, draw):
    attend = candidate.alibi_attention
    few, many = attend.observe(*inputs(draw, H=2)), attend.observe(*inputs(draw, H=8))
    assert_operations_do_not_grow(few, many, "heads")

    short, long = attend.observe(*inputs(draw)), attend.observe(*inputs(draw, L=28, S=28))
    assert_operations_do_not_grow(short, long, "positions")


@check("float16 in, float16 out", category="numerics", points=0, after="bfloat16", advisory=True)
def test_float16(candidate, draw):
    assert_close(candidate.alibi_attention(*inputs(draw, dtype=torch.float16)), "output")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.alibi_attention(*inputs(draw, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


@check(
    "On a GPU in float32 and bfloat16: the same values", category="gpu", points=2, after="values"
)
def test_gpu_values(gpu, draw):
    for dtype in (torch.float32, torch.bfloat16):
        for causal in BOTH:
            assert_close(gpu.alibi_attention(*inputs(draw, L=4, dtype=dtype), causal), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="values",
)
def test_gpu_device(gpu, draw):
    assert_stays_on_device(gpu, gpu.alibi_attention, *inputs(draw))
