"""Sliding-window attention: query i sees keys i − window + 1 … i, in memory linear in L."""

# B batch  H heads  L length  D head size

import itertools

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_grows_at_most,
    assert_inputs_unchanged,
    assert_memory_grows_linearly,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_stays_on_device,
    assert_written_from_scratch,
    check,
    fail,
    observe_way_back,
    report_speed,
    ways_to_observe,
)

DTYPES = (torch.float32, torch.bfloat16, torch.float64)


def qkv(draw, B=2, H=3, L=13, D=7, dtype=torch.float32):
    return [draw.normal(B, H, L, D, dtype=dtype) for _ in range(3)]


@check("Returns an output (B, H, L, D)", category="shape", points=3)
def test_output_shape(candidate, draw):
    answer = candidate.sliding_window_attention(*qkv(draw, L=15), 5)

    assert answer.output.shape == (2, 3, 15, 7)


@check(
    "Each query attends to the last `window` positions, on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for L in (11, 13, 17):
        n = draw.sizes("B H D", (2, 3, 5, 7))
        q, k, v = qkv(draw, n["B"], n["H"], L, n["D"])

        assert_close(candidate.sliding_window_attention(q, k, v, draw.integer(3, L // 2)), "output")


@check(
    "Every window has its exact width: query i sees i − window + 1 … i, no key more or fewer",
    category="values",
    points=4,
    after="output_shape",
)
def test_every_window(candidate, draw):
    q, k, v = qkv(draw, L=7)
    for window in (4, 6, 3, 5, 2):
        assert_close(candidate.sliding_window_attention(q, k, v, window), "output")


@check(
    "A window of 1 shows each query itself alone: the output is v",
    category="values",
    points=2,
    after="output_shape",
)
def test_window_of_one(candidate, draw):
    for L in (1, 7, 8):
        assert_close(candidate.sliding_window_attention(*qkv(draw, L=L), 1), "output")


@check(
    "A window as long as the sequence, or longer, is plain causal attention",
    category="values",
    points=3,
    after="output_shape",
)
def test_long_window(candidate, draw):
    for L, window in ((7, 7), (7, 8), (7, 13), (5, 50), (1, 3), (2, 3)):
        assert_close(candidate.sliding_window_attention(*qkv(draw, L=L), window), "output")


@check(
    "Any length goes with any window, a multiple of it or not",
    category="shape",
    points=2,
    after="output_shape",
)
def test_lengths_and_windows(candidate, draw):
    for L, window in ((12, 4), (13, 4), (15, 4), (16, 4), (9, 8), (19, 9), (23, 2), (31, 7)):
        assert_close(candidate.sliding_window_attention(*qkv(draw, L=L), window), "output")
    # longer than blocks of any usual size, with windows that reach over several of them
    for L, window in ((150, 100), (301, 70), (270, 290)):
        q, k, v = qkv(draw, B=1, H=2, L=L, D=5)
        assert_close(candidate.sliding_window_attention(q, k, v, window), "output")
    q, k, v = qkv(draw, B=1, H=1, L=1050, D=1)
    assert_close(candidate.sliding_window_attention(q, k, v, draw.integer(520, 600)), "output")


@check(
    "The first queries share their weight among the keys that there are",
    category="values",
    points=3,
    after="output_shape",
)
def test_first_queries(candidate, draw):
    q, k, v = qkv(draw, L=6)

    # every value near 20, every score below 0: a place before the sequence would take weight
    assert_close(candidate.sliding_window_attention(q.abs(), -k.abs(), v + 20, 6), "output")
    # a score of exactly 0 is a score like others, and does not tell such a place
    assert_close(candidate.sliding_window_attention(0 * q, k, v + 20, 4), "output")


@check(
    "The scale is √D for small and for large D", category="values", points=2, after="output_shape"
)
def test_scale(candidate, draw):
    for D in (2, 3, 64, 127):
        assert_close(candidate.sliding_window_attention(*qkv(draw, D=D), 5), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L or D = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for name in ("B", "H", "L", "D", "B H", "B H L D"):
        n = {"B": 2, "H": 3, "L": 11, "D": 7}
        n.update(dict.fromkeys(name.split(), 1))

        assert_close(candidate.sliding_window_attention(*qkv(draw, **n), 3), "output")


@check(
    "Keys outside the window have no influence, however low the scores inside are",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_low_scores(candidate, draw):
    # whole numbers and D = 16: every way to compute the logits gives them exactly
    q = draw.integers(2, 3, 11, 16, bound=20).abs() + 4
    k = -draw.integers(2, 3, 11, 16, bound=20).abs() - 4
    v = draw.normal(2, 3, 11, 16)
    for window in (11, 3):  # with 11 many queries have places before the first
        assert_close(candidate.sliding_window_attention(q, k, v, window), "output")


@check(
    "Large logits (1e4 and more) stay finite and right",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    for bound, lift in ((50, 0), (100, 200), (100, 400)):
        q, k = (draw.integers(2, 3, 11, 16, bound=bound) for _ in range(2))
        q[..., 0] = k[..., 0] = lift  # adds lift² / 4 to all scores: only their differences matter
        v = draw.normal(2, 3, 11, 16)

        assert_close(candidate.sliding_window_attention(q, k, v, 4), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    assert_close(candidate.sliding_window_attention(*qkv(draw, dtype=torch.float64), 5), "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="values")
def test_bfloat16(candidate, draw):
    assert_close(candidate.sliding_window_attention(*qkv(draw, dtype=torch.bfloat16), 5), "output")
    # distances that bfloat16 does not tell apart; who sees a loud key sees little else
    q, k, v = qkv(draw, B=1, H=1, L=700, D=4, dtype=torch.bfloat16)
    q[..., 0], k[..., 0] = 4.0, torch.where(torch.arange(700) % 31 == 0, 6.0, 0.0)
    for window in (draw.integer(257, 330), draw.integer(331, 400)):
        assert_close(candidate.sliding_window_attention(q, k, v, window), "output")


@check(
    "Gradients reach q, k and v, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    for window in (4, 13, 20):
        assert_gradients_match(
            candidate.sliding_window_attention,
            *qkv(draw),
            window,
            wrt=(0, 1, 2),
            cotangents=[draw.normal(2, 3, 13, 7)],
        )
    # sizes that nothing was asked for before: what is kept under inference_mode has no gradients
    attend, window, cotangents = candidate.sliding_window_attention, 14, [draw.normal(2, 3, 21, 7)]
    attend.observe(*qkv(draw, L=21), window, mode="inference_mode")
    assert_gradients_match(attend, *qkv(draw, L=21), window, wrt=(0, 1, 2), cotangents=cotangents)


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    q = draw.normal(2, 3, 7, 13).transpose(2, 3)
    k = draw.normal(2, 13, 3, 7).transpose(1, 2)
    v = draw.normal(2, 3, 13, 14)[..., ::2]

    assert_close(candidate.sliding_window_attention(q, k, v, 5), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    for window in (5, 20):
        assert_inputs_unchanged(candidate.sliding_window_attention, *qkv(draw), window)


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_repeatable(candidate, draw):
    first, other = qkv(draw), qkv(draw, L=17)

    assert_close(candidate.sliding_window_attention(*first, 5), "output")
    assert_close(candidate.sliding_window_attention(*first, 3), "output")
    assert_close(candidate.sliding_window_attention(*other, 5), "output")
    assert_close(candidate.sliding_window_attention(*first, 5), "output")


@check(
    "Queries and keys of different width raise",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_widths(candidate, draw):
    q, k, v = qkv(draw)

    attend = candidate.sliding_window_attention
    assert_rejected(attend, q, k[..., :-1], v, 5, why="keys narrower than the queries")
    assert_rejected(attend, q[..., :-1], k, v, 5, why="keys wider than the queries")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    assert_written_from_scratch(candidate, candidate.sliding_window_attention, *qkv(draw), 5)


@check(
    "No intermediate grows faster than the length: twice the length, at most 2.2 times the memory",
    category="cost",
    points=4,
    after=("values", "inputs_unchanged"),
)
def test_memory(candidate, draw):
    def check_growth(window, B, H, width, dtype=torch.float32, words="", **how):
        short, long = (
            candidate.sliding_window_attention.observe(
                *qkv(draw, B, H, L, width, dtype), window, **how
            )
            for L in (512, 1024)
        )
        what = f"the largest intermediate{words}"
        assert_grows_at_most(short.largest_elements, long.largest_elements, 2.2, what)

    check_growth(draw.integer(65, 160), 1, 1, 2)
    for number, (words, how) in enumerate(itertools.islice(ways_to_observe(draw, 3), 6)):
        sizes = draw.integer(2, 32), *((1, 1, 40), (2, 1, 4), (1, 2, 4))[number % 3]
        check_growth(*sizes, DTYPES[number % 3], f" {words}", **how)


@check(
    "The backward pass makes nothing that grows faster than the length either",
    category="cost",
    points=1,
    after=("memory", "gradients"),
)
def test_backward_memory(candidate, draw):
    attend, length = candidate.sliding_window_attention, draw.integer(450, 512)
    short, long = (
        observe_way_back(attend, draw, *qkv(draw, 1, 1, L, 4), 9, learning=3, output=(1, 1, L, 4))
        for L in (length, 2 * length)
    )
    what = "the largest intermediate of the backward pass"
    assert_grows_at_most(short.largest_elements, long.largest_elements, 2.2, what)


@check(
    "The operations grow no faster than the length either",
    category="cost",
    points=0,
    after="memory",
    advisory=True,
)
def test_work(candidate, draw):
    short, long = (
        candidate.sliding_window_attention.observe(*qkv(draw, 1, 1, L, 4), 8) for L in (512, 1024)
    )
    assert_grows_at_most(short.flops, long.flops, 2.2, "the number of operations")


@check(
    "No Python loop over positions, blocks or heads",
    category="policy",
    points=0,
    after="values",
    advisory=True,
)
def test_no_loop(candidate, draw):
    attend = candidate.sliding_window_attention
    short, long = attend.observe(*qkv(draw, L=12), 4), attend.observe(*qkv(draw, L=48), 4)
    assert_operations_do_not_grow(short, long, "positions")

    few, many = attend.observe(*qkv(draw, H=2), 4), attend.observe(*qkv(draw, H=8), 4)
    assert_operations_do_not_grow(few, many, "heads")


@check("float16 in, float16 out", category="numerics", points=0, after="bfloat16", advisory=True)
def test_float16(candidate, draw):
    assert_close(candidate.sliding_window_attention(*qkv(draw, dtype=torch.float16), 5), "output")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.sliding_window_attention(*qkv(draw, dtype=torch.float64), 5)

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


@check("On a GPU in float32: the same values", category="gpu", points=2, after="values")
def test_gpu_float32(gpu, draw):
    assert_close(gpu.sliding_window_attention(*qkv(draw), 4), "output")


@check(
    "On a GPU in bfloat16: the same values, at larger logits too",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_half(gpu, draw):
    q, k, v = qkv(draw, dtype=torch.bfloat16)

    assert_close(gpu.sliding_window_attention(q, k, v, 4), "output")
    assert_close(gpu.sliding_window_attention(6 * q, k, v, 4), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="values",
)
def test_gpu_device(gpu, draw):
    assert_stays_on_device(gpu, gpu.sliding_window_attention, *qkv(draw), 4)


@check(
    "On a GPU: four times the length takes four times the memory, not sixteen",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_memory(gpu, draw):
    def inputs(length):
        return *qkv(draw, 1, 4, length, 16, torch.float16), 64

    assert_memory_grows_linearly(gpu, gpu.sliding_window_attention, inputs, 4096)


@check(
    "On a GPU: takes the time that its work takes",
    category="gpu",
    points=0,
    after="gpu_float32",
    advisory=True,
)
def test_gpu_speed(gpu, draw):
    sets = [qkv(draw, 2, 8, 512, 64, torch.float16) for _ in range(6)]
    with_window = [(*args, 64) for args in sets]

    report_speed(gpu, gpu.sliding_window_attention, with_window, heads=sets)
