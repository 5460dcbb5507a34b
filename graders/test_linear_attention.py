"""Linear attention: weights φ(q) · φ(k) with φ = elu + 1, rows divided by their sums, in O(L)."""

# B batch  H heads  L length  D head size

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
)


def qkv(draw, B=2, H=3, L=13, D=7, dtype=torch.float32):
    return [draw.normal(B, H, L, D, dtype=dtype) for _ in range(3)]


def assert_small_denominators(candidate, q, k, v, *causal):
    """Assert that denominators near 0.01 are divided by as they are; causal, the first are less.

    A constant of 1e-6 beside them is tolerated: it changes the output by a ten-thousandth, which is
    as much as rounding changes an output some hundred times as large.
    """
    low = 3.5 if causal else 4.0
    answer = candidate.linear_attention(-q.abs() / 4 - low, -k.abs() / 4 - low, v, *causal)

    assert_close(answer.beside(output=1000.0), "output")


def assert_grows_with_length(candidate, draw, *causal):
    """Assert that twice the length takes twice the work: products counted, and numbers written."""
    for dtype, mode in (
        (torch.float32, ""),
        (torch.float64, "no_grad"),
        (torch.bfloat16, "inference_mode"),
    ):
        short, long = (
            candidate.linear_attention.observe(*qkv(draw, 1, 1, L, 4, dtype), *causal, mode=mode)
            for L in (1024, 2048)
        )
        what = f"in {dtype}, at twice the length, the number of {{}}"
        assert_grows_at_most(short.flops, long.flops, 2.2, what.format("operations in products"))
        assert_grows_at_most(
            short.written_elements, long.written_elements, 2.2, what.format("elements written")
        )


@check("Returns an output (B, H, L, D)", category="shape", points=3)
def test_output_shape(candidate, draw):
    answer = candidate.linear_attention(*qkv(draw))

    assert answer.output.shape == (2, 3, 13, 7)


@check(
    "The output is φ(q) (Σ φ(k) vᵀ) / φ(q) Σ φ(k), on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for D in (7, 11, 17):
        n = draw.sizes("B H L", (2, 3, 5, 13, 19))
        q, k, v = qkv(draw, **n, D=D)

        assert_close(candidate.linear_attention(q, k, v), "output")
        assert_close(candidate.linear_attention(q, k, v, False), "output")


@check(
    "φ(x) = elu(x) + 1: x + 1 above zero, exp x below",
    category="values",
    points=3,
    after="output_shape",
)
def test_features(candidate, draw):
    q, k, v = qkv(draw, D=16)

    assert_close(candidate.linear_attention(q.abs(), k.abs(), v), "output")
    assert_close(candidate.linear_attention(-q.abs(), -k.abs(), v), "output")
    assert_close(candidate.linear_attention(2 * q, 2 * k, v), "output")


@check(
    "The weights of a query sum to 1: values that are alike come out as they are",
    category="values",
    points=3,
    after="output_shape",
)
def test_normalised(candidate, draw):
    q, k, v = qkv(draw)

    assert_close(candidate.linear_attention(q, k, v[:, :, :1].expand_as(v)), "output")
    assert_close(candidate.linear_attention(q, k, v + 20), "output")
    assert_small_denominators(candidate, q, k, v)


@check(
    "Causal: position i attends to 0 … i, on several random shapes",
    category="masking",
    points=5,
    after="output_shape",
)
def test_causal(candidate, draw):
    for D in (7, 11, 17):
        n = draw.sizes("B H L", (2, 3, 5, 13, 19))

        assert_close(candidate.linear_attention(*qkv(draw, **n, D=D), True), "output")


@check(
    "Causal: the weights sum to 1 over the past alone",
    category="masking",
    points=2,
    after="output_shape",
)
def test_causal_normalised(candidate, draw):
    q, k, v = qkv(draw)

    assert_close(candidate.linear_attention(q, k, v[:, :, :1].expand_as(v), True), "output")
    assert_close(candidate.linear_attention(q, k, v + 20, True), "output")
    assert_small_denominators(candidate, q, k, v, True)


@check(
    "Long sequences are right to the end, at any length",
    category="values",
    points=2,
    after="output_shape",
)
def test_long_sequences(candidate, draw):
    for L in (64, 131, 300):
        q, k, v = qkv(draw, B=1, H=2, L=L)

        assert_close(candidate.linear_attention(q, k, v), "output")
        assert_close(candidate.linear_attention(q, k, v, True), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L or D = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for name in ("B", "H", "L", "D", "B H", "B H L D"):
        n = {"B": 2, "H": 3, "L": 13, "D": 7}
        n.update(dict.fromkeys(name.split(), 1))
        q, k, v = qkv(draw, **n)

        for causal in (False, True):  # above zero: a sum of one product is not next to nothing
            assert_close(candidate.linear_attention(q.abs(), k.abs(), v, causal), "output")


@check("float64 in, float64 out", category="numerics", points=1, after=("values", "causal"))
def test_float64(candidate, draw):
    for causal in (False, True):
        answer = candidate.linear_attention(*qkv(draw, dtype=torch.float64), causal)

        assert_close(answer, "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after=("values", "causal"))
def test_bfloat16(candidate, draw):
    for causal in (False, True):
        answer = candidate.linear_attention(*qkv(draw, L=5, dtype=torch.bfloat16), causal)

        assert_close(answer, "output")


@check("float16 in, float16 out", category="numerics", points=1, after=("values", "causal"))
def test_float16(candidate, draw):
    for causal in (False, True):
        answer = candidate.linear_attention(*qkv(draw, L=5, dtype=torch.float16), causal)

        assert_close(answer, "output")


@check(
    "Gradients reach q, k and v, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    assert_gradients_match(
        candidate.linear_attention,
        *qkv(draw),
        wrt=(0, 1, 2),
        cotangents=[draw.normal(2, 3, 13, 7)],
    )


@check(
    "Gradients are right in the causal form",
    category="gradients",
    points=2,
    after=("gradients", "causal"),
)
def test_causal_gradients(candidate, draw):
    assert_gradients_match(
        candidate.linear_attention,
        *qkv(draw),
        True,
        wrt=(0, 1, 2),
        cotangents=[draw.normal(2, 3, 13, 7)],
    )


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_non_contiguous(candidate, draw):
    q = draw.normal(2, 13, 3, 7).transpose(1, 2)
    k = draw.normal(2, 13, 3, 7).transpose(1, 2)
    v = draw.normal(2, 3, 13, 14)[..., ::2]

    for causal in (False, True):
        assert_close(candidate.linear_attention(q, k, v, causal), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    for causal in (False, True):
        assert_inputs_unchanged(candidate.linear_attention, *qkv(draw), causal)


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_repeatable(candidate, draw):
    first, other = qkv(draw), qkv(draw)

    for causal in (True, False):
        assert_close(candidate.linear_attention(*first, causal), "output")
        assert_close(candidate.linear_attention(*other, causal), "output")
        assert_close(candidate.linear_attention(*first, not causal), "output")
        assert_close(candidate.linear_attention(*first, causal), "output")


@check(
    "Queries and keys of different width raise",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_widths(candidate, draw):
    q, k, v = qkv(draw)

    for causal in (False, True):
        attend = candidate.linear_attention
        assert_rejected(attend, q, k[..., :-1], v, causal, why="keys narrower than the queries")
        assert_rejected(attend, q[..., :-1], k, v, causal, why="keys wider than the queries")


@check("Written from scratch: no fused or official attention", category="policy", points=2)
def test_written_from_scratch(candidate, draw):
    for causal in (False, True):
        assert_written_from_scratch(candidate, candidate.linear_attention, *qkv(draw), causal)


@check(
    "The work grows with the length, not with its square",
    category="cost",
    points=4,
    after="values",
)
def test_work(candidate, draw):
    assert_grows_with_length(candidate, draw)


@check(
    "The work of the causal form grows with the length, not with its square",
    category="cost",
    points=3,
    after=("work", "causal"),
)
def test_causal_work(candidate, draw):
    assert_grows_with_length(candidate, draw, True)


@check(
    "The work of the backward pass grows with the length, too",
    category="cost",
    points=2,
    after=("work", "causal_work", "gradients", "causal_gradients"),
)
def test_backward_work(candidate, draw):
    # not the numbers written: of each slice that a loop takes PyTorch makes a gradient as long as
    # what it was sliced from
    length = draw.integer(450, 512)
    for causal in (False, True):
        short, long = (
            observe_way_back(
                candidate.linear_attention,
                draw,
                *qkv(draw, 1, 1, L, 4),
                causal,
                learning=3,
                output=(1, 1, L, 4),
            )
            for L in (length, 2 * length)
        )
        what = "of the backward pass, at twice the length,"
        assert_grows_at_most(
            short.flops, long.flops, 2.2, f"the number of operations in products {what}"
        )
        assert_grows_at_most(
            short.largest_elements, long.largest_elements, 2.2, f"the largest intermediate {what}"
        )


@check(
    "No Python loop over positions, chunks or heads",
    category="policy",
    points=0,
    after=("values", "causal"),
    advisory=True,
)
def test_no_loop(candidate, draw):
    attend = candidate.linear_attention
    short, long = attend.observe(*qkv(draw, L=12), True), attend.observe(*qkv(draw, L=300), True)
    assert_operations_do_not_grow(short, long, "positions")

    few, many = attend.observe(*qkv(draw, H=2)), attend.observe(*qkv(draw, H=8))
    assert_operations_do_not_grow(few, many, "heads")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.linear_attention(*qkv(draw, dtype=torch.float64))

    error = (answer.output - answer.expected["output"].exact).abs().max()
    if error > 1e-7:
        fail(
            "float64 inputs come out with float32 precision: computes in float32 on the way, or "
            "adds a constant to the denominator"
        )


@check(
    "On a GPU in float32: the same values, causal or not", category="gpu", points=2, after="causal"
)
def test_gpu_float32(gpu, draw):
    q, k, v = qkv(draw)

    assert_close(gpu.linear_attention(q, k, v), "output")
    assert_close(gpu.linear_attention(q, k, v, True), "output")


@check(
    "On a GPU in bfloat16 and float16: the same values",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_half(gpu, draw):
    for dtype in (torch.bfloat16, torch.float16):
        assert_close(gpu.linear_attention(*qkv(draw, dtype=dtype)), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="causal",
)
def test_gpu_device(gpu, draw):
    q, k, v = qkv(draw)

    assert_stays_on_device(gpu, gpu.linear_attention, q, k, v)
    assert_stays_on_device(gpu, gpu.linear_attention, q, k, v, True)


@check(
    "On a GPU: four times the length takes four times the memory, not sixteen",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_memory(gpu, draw):
    def inputs(length):
        return qkv(draw, 1, 4, length, 16)

    assert_memory_grows_linearly(gpu, gpu.linear_attention, inputs, 4096)
