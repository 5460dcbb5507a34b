"""Flash attention: softmax(q kᵀ / √D) v over blocks of keys, exact, in memory linear in length."""

# B batch  H heads  L query length  S key length  D head size  Dv head size of values

import itertools

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_grows_at_most,
    assert_inputs_unchanged,
    assert_memory_grows_linearly,
    assert_rejected,
    assert_stays_on_device,
    assert_written_from_scratch,
    check,
    fail,
    report_speed,
    ways_to_observe,
)

DTYPES = (torch.bfloat16, torch.float32, torch.float64)
LEADING = ((1, 2), (1, 1, 2), (2,))


def qkv(draw, leading=(2, 3), L=5, S=7, D=11, Dv=13, dtype=torch.float32):
    q = draw.normal(*leading, L, D, dtype=dtype)
    k = draw.normal(*leading, S, D, dtype=dtype)
    v = draw.normal(*leading, S, Dv, dtype=dtype)
    return q, k, v


def assert_memory_is_linear(candidate, draw, ways, *causal):
    """Assert that no intermediate grows faster than the length, however the function is called."""

    def check_growth(length, block_size, words="", leading=(1, 2), dtype=torch.float32, **how):
        few, many = (
            candidate.flash_attention.observe(
                *qkv(draw, leading, L, L, 3, 3, dtype), block_size, *causal, **how
            )
            for L in (length, 4 * length)
        )
        what = f"the largest intermediate, from {length} to {4 * length} positions{words},"
        assert_grows_at_most(few.largest_elements, many.largest_elements, 4.4, what)

    check_growth(64, 16)
    check_growth(300, 128, leading=(1,))
    for number, (words, how) in enumerate(ways):
        place = number % len(DTYPES)
        check_growth(64, 32, f", {words}", LEADING[place], DTYPES[place], **how)


def apart(draw, L=5, S=11):
    """Return q, k, v whose scores lie 1e4 and more from 0 and at least 128 from one another.

    They are whole numbers that float32 holds, in whatever order they are computed.
    """
    q, k = draw.integers(2, 3, L, 16, bound=1), 16 * draw.integers(2, 3, S, 16, bound=1)
    q[..., -1], k[..., -1] = 1.0, draw.permutation(S)  # no two keys of a row are equal
    return 32 * q, 16 * k, draw.normal(2, 3, S, 13)  # scores are multiples of 32 · 16 / √16


def in_a_step(draw, step, dtype=torch.float32, length=160):
    """Return q, k, v whose scores rise or fall once, after 7 keys, and stay there.

    So many keys count, each of them little, or so many exponentials add up.
    """
    q, k, v = qkv(draw, (1, 2), length, length, 16, 3)
    q[..., -1], k[..., :7, -1], k[..., 7:, -1] = 4.0, 0.0, step  # √16 times the step
    return [one.to(dtype) for one in (q, k, v)]


@check("Returns an output (…, L, Dv) where L ≠ S and D ≠ Dv", category="shape", points=3)
def test_output_shape(candidate, draw):
    answer = candidate.flash_attention(*qkv(draw, S=6), 3)

    assert answer.output.shape == (2, 3, 5, 13)


@check(
    "The output is softmax(q kᵀ / √D) v, on several random shapes and blocks",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L D Dv", (2, 3, 5, 7, 11, 13))
        block_size, blocks = draw.integer(2, 5), draw.integer(2, 4)
        q, k, v = qkv(draw, (n["B"], n["H"]), n["L"], blocks * block_size, n["D"], n["Dv"])

        assert_close(candidate.flash_attention(q, k, v, block_size), "output")


@check(
    "Any block gives the same: 1 key, all but one, exactly all, more than there are",
    category="values",
    points=3,
    after="output_shape",
)
def test_block_sizes(candidate, draw):
    q, k, v = qkv(draw, S=12)
    for block_size in (1, 2, 3, 11, 12, 13, 64):
        assert_close(candidate.flash_attention(q, k, v, block_size), "output")


@check(
    "Lengths need not be multiples of the block",
    category="values",
    points=3,
    after="output_shape",
)
def test_partial_blocks(candidate, draw):
    for S, block_size in ((7, 4), (13, 5), (11, 3), (17, 16)):
        assert_close(candidate.flash_attention(*qkv(draw, S=S), block_size), "output")
    # longer than tiles of any usual size, of keys or of queries
    for block_size in (16, 64):
        q, k, v = qkv(draw, (1, 2), 150, 171, 5, 3)
        assert_close(candidate.flash_attention(q, k, v, block_size), "output")


@check(
    "Many blocks are as right as two, whether scores rise from block to block or fall",
    category="numerics",
    points=3,
    after="output_shape",
)
def test_rising_and_falling_scores(candidate, draw):
    q, k, v = qkv(draw, S=101)
    q[..., -1], k[..., -1] = 3.0, torch.linspace(-20, 20, 101)
    q[..., 1::2, -1] = -3.0  # rising for one query, falling for the next
    for block_size in (2, 7):
        assert_close(candidate.flash_attention(q, k, v, block_size), "output")
    k[..., 40:50, -1] = 400.0  # a peak in the middle, and far less on both sides
    assert_close(candidate.flash_attention(q, k, v, 7), "output")
    for step in (-11.0, -9.0, 5.0, 30.0, 86.0):
        assert_close(candidate.flash_attention(*in_a_step(draw, step), 7), "output")
    # few blocks, as merging them rounds each time
    assert_close(candidate.flash_attention(*in_a_step(draw, 7.5, torch.float16), 40), "output")


@check(
    "The scale is √D for small and for large D", category="values", points=2, after="output_shape"
)
def test_scale(candidate, draw):
    for D in (2, 3, 64, 127):
        assert_close(candidate.flash_attention(*qkv(draw, D=D, Dv=5), 4), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L, S, D or Dv = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for name in ("B", "H", "L", "S", "D", "Dv", "B H", "L S"):
        n = {"B": 2, "H": 3, "L": 5, "S": 7, "D": 11, "Dv": 13}
        n.update(dict.fromkeys(name.split(), 1))
        q, k, v = qkv(draw, (n["B"], n["H"]), n["L"], n["S"], n["D"], n["Dv"])

        assert_close(candidate.flash_attention(q, k, v, 3), "output")


@check(
    "L = S = D = H = B hides nothing: square inputs are right too, and not causal by themselves",
    category="values",
    points=1,
    after="output_shape",
)
def test_square(candidate, draw):
    for block_size in (2, 3):
        assert_close(
            candidate.flash_attention(*qkv(draw, (5, 5), 5, 5, 5, 5), block_size), "output"
        )


@check(
    "Causal: query i sees keys 0 … i, for any block",
    category="masking",
    points=4,
    after="output_shape",
)
def test_causal(candidate, draw):
    for length, block_size in ((7, 3), (12, 4), (13, 5), (5, 1), (11, 11), (7, 64)):
        q, k, v = qkv(draw, L=length, S=length)

        assert_close(candidate.flash_attention(q, k, v, block_size, True), "output")
    for block_size in (7, 16, 64):  # tiles of queries, where there are any, meet each block anew
        q, k, v = qkv(draw, (1, 2), 150, 150, 5, 3)
        assert_close(candidate.flash_attention(q, k, v, block_size, True), "output")


@check(
    "Works with no, one, three and four leading dimensions",
    category="shape",
    points=2,
    after=("values", "causal"),
)
def test_leading_dimensions(candidate, draw):
    for leading in ((), (3,), (2, 3, 2), (2, 1, 3, 2)):
        assert_close(candidate.flash_attention(*qkv(draw, leading), 3), "output")
        causal = candidate.flash_attention(*qkv(draw, leading, 7, 7), 3, True)
        assert_close(causal, "output")


@check(
    "Causal: a later key has no influence, however large its score and its value",
    category="masking",
    points=2,
    after="output_shape",
)
def test_later_keys_are_not_felt(candidate, draw):
    q, k, v = qkv(draw, L=13, S=13)
    k[..., 7:, :] = 300 * draw.normal(2, 3, 6, 11)
    v[..., 7:, :] = 1e30

    answer = candidate.flash_attention(q, k, v, 3, True)
    alone = candidate.flash_attention(*(t[..., :7, :].clone() for t in (q, k, v)), 3, True)

    assert_close(alone, "output")
    if not torch.allclose(answer.output[..., :7, :], alone.output, rtol=1e-4, atol=1e-5):
        fail("keys and values of later positions change earlier outputs")


@check(
    "Large logits (±1e4), a new maximum in any block: finite and exact",
    category="numerics",
    points=3,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    for block_size in (1, 3, 4, 16):
        assert_close(candidate.flash_attention(*apart(draw), block_size), "output")


@check(
    "Scores that all lie near −1e4, or near 1e4, are as good as scores near 0",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_scores_far_from_zero(candidate, draw):
    q, k, v = qkv(draw, S=11, D=16)
    # times 200, divided by √16: the scores move by 10 000, and by a little more
    for shift in (-200.0, 200.0, -220.0):
        q[..., -1], k[..., -1] = 200.0, shift
        assert_close(candidate.flash_attention(q, k, v, 4), "output")


@check(
    "Large logits stay exact where attention is causal",
    category="numerics",
    points=1,
    after=("large_logits", "causal"),
)
def test_causal_large_logits(candidate, draw):
    for block_size in (3, 4):
        assert_close(candidate.flash_attention(*apart(draw, 11, 11), block_size, True), "output")
    q, k, v = qkv(draw, L=11, S=11, D=16)
    q[..., -1], k[..., -1] = 200.0, -240.0  # all scores lie near −12 000
    assert_close(candidate.flash_attention(q, k, v, 4, True), "output")
    for step in (-11.0, -9.0, 5.0, 86.0):
        assert_close(candidate.flash_attention(*in_a_step(draw, step), 7, True), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    assert_close(candidate.flash_attention(*qkv(draw, dtype=torch.float64), 3), "output")


@check("bfloat16 in, bfloat16 out, causal or not", category="numerics", points=1, after="values")
def test_bfloat16(candidate, draw):
    assert_close(candidate.flash_attention(*qkv(draw, dtype=torch.bfloat16), 3), "output")
    causal = qkv(draw, L=7, S=7, dtype=torch.bfloat16)
    assert_close(candidate.flash_attention(*causal, 3, True), "output")


@check("float16 in, float16 out", category="numerics", points=1, after="values")
def test_float16(candidate, draw):
    assert_close(candidate.flash_attention(*qkv(draw, dtype=torch.float16), 3), "output")


@check(
    "Gradients reach q, k and v through every block, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    cotangents = [draw.normal(2, 3, 5, 13)]

    assert_gradients_match(
        candidate.flash_attention, *qkv(draw), 3, wrt=(0, 1, 2), cotangents=cotangents
    )


@check(
    "Gradients are right where attention is causal",
    category="gradients",
    points=1,
    after=("gradients", "causal"),
)
def test_causal_gradients(candidate, draw):
    cotangents = [draw.normal(2, 3, 7, 13)]
    q, k, v = qkv(draw, L=7, S=7)

    assert_gradients_match(
        candidate.flash_attention, q, k, v, 3, True, wrt=(0, 1, 2), cotangents=cotangents
    )


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

    assert_close(candidate.flash_attention(q, k, v, 3), "output")


@check(
    "The inputs are left as they were",
    category="robustness",
    points=2,
    after=("output_shape", "causal"),
)
def test_inputs_unchanged(candidate, draw):
    assert_inputs_unchanged(candidate.flash_attention, *qkv(draw), 3)
    assert_inputs_unchanged(candidate.flash_attention, *qkv(draw, L=7, S=7), 3, True)


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after=("values", "causal"),
)
def test_repeatable(candidate, draw):
    first, other = qkv(draw), qkv(draw, (1, 2), 7, 7, 5, 2)

    assert_close(candidate.flash_attention(*first, 3), "output")
    assert_close(candidate.flash_attention(*other, 2, True), "output")
    assert_close(candidate.flash_attention(*other, 2), "output")
    assert_close(candidate.flash_attention(*first, 3), "output")


@check(
    "Queries and keys of different width raise, keys and values of different length too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_input(candidate, draw):
    q, k, v = qkv(draw)

    attend = candidate.flash_attention
    assert_rejected(attend, q, k[..., :-1], v, 3, why="keys narrower than the queries")
    assert_rejected(attend, q[..., :-1], k, v, 3, why="keys wider than the queries")
    assert_rejected(attend, q, k, v[..., :-1, :], 3, why="fewer values than keys")
    assert_rejected(attend, q, k[..., :-1, :], v, 3, why="more values than keys")


@check("A block size below 1 raises", category="robustness", points=1, after="output_shape")
def test_bad_block_size(candidate, draw):
    for block_size in (0, -1):
        why = f"blocks of {block_size} keys"
        assert_rejected(candidate.flash_attention, *qkv(draw), block_size, why=why)


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    attend = candidate.flash_attention

    assert_written_from_scratch(candidate, attend, *qkv(draw), 3)
    assert_written_from_scratch(candidate, attend, *qkv(draw, L=7, S=7), 3, True)


@check(
    "The largest intermediate grows linearly with the length, not with its square",
    category="cost",
    points=4,
    after=("written_from_scratch", "inputs_unchanged"),
)
def test_memory(candidate, draw):
    assert_memory_is_linear(candidate, draw, ways_to_observe(draw, 3))


@check(
    "The causal mask is made block by block as well",
    category="cost",
    points=2,
    after=("memory", "causal"),
)
def test_causal_memory(candidate, draw):
    ways = itertools.islice(ways_to_observe(draw, 3), 4)

    assert_memory_is_linear(candidate, draw, ways, True)


@check(
    "The backward pass makes nothing that grows with the square of the length either",
    category="cost",
    points=2,
    after=("memory", "gradients", "causal"),
)
def test_backward_memory(candidate, draw):
    attend, length = candidate.flash_attention, draw.integer(64, 80)
    for causal, wrt in ((False, (0, 1, 2)), (True, (0, 1, 2)), (False, (2,))):
        few, many = (
            attend.observe_backward(
                *qkv(draw, (1,), L, L, 3, 3), 32, causal, wrt=wrt, cotangents=[draw.normal(1, L, 3)]
            )
            for L in (length, 4 * length)
        )
        what = "the largest intermediate of the backward pass, at four times the length,"
        assert_grows_at_most(few.largest_elements, many.largest_elements, 4.4, what)


@check(
    "However many keys there are, no more scores exist at once",
    category="cost",
    points=2,
    after="memory",
)
def test_keys_come_in_blocks(candidate, draw):
    ways = [("", {}), *ways_to_observe(draw, 3)][:4]
    for (words, how), block_size in zip(ways, (32, 40, 96, draw.integer(129, 256)), strict=True):
        few, many = (
            candidate.flash_attention.observe(*qkv(draw, (), 32, S, 1, 1), block_size, **how)
            for S in (2 * block_size, 8 * block_size)
        )

        # the scores of one block; copies of all keys are smaller
        few = max(few.largest_elements, 32 * block_size)
        what = f"the largest intermediate, with four times the keys{words and ', '}{words},"
        assert_grows_at_most(few, many.largest_elements, 1.5, what)


@check(
    "`block_size` keys are taken at a time: smaller blocks make more steps",
    category="cost",
    points=1,
    after="keys_come_in_blocks",
)
def test_block_size_is_obeyed(candidate, draw):
    q, k, v = qkv(draw, S=64)
    small, large = (
        sum(candidate.flash_attention.observe(q, k, v, size).operators.values()) for size in (2, 32)
    )
    if small <= large:
        fail(
            "`block_size` does not decide how many steps are made",
            f"{small} operations for blocks of 2 keys, {large} for blocks of 32",
        )
    # a few keys more than a block are a block of their own
    whole, more = (
        candidate.flash_attention.observe(*qkv(draw, (), 32, S, 1, 1), 80) for S in (160, 96)
    )
    what = "the largest intermediate, with a fifth more keys than `block_size`,"
    assert_grows_at_most(max(whole.largest_elements, 32 * 80), more.largest_elements, 1.1, what)


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.flash_attention(*qkv(draw, dtype=torch.float64), 3)

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


@check("float16, causal", category="numerics", points=0, after=("causal", "float16"), advisory=True)
def test_float16_causal(candidate, draw):
    q, k, v = qkv(draw, L=7, S=7, dtype=torch.float16)

    assert_close(candidate.flash_attention(q, k, v, 3, True), "output")


@check(
    "On a GPU in float32: the same values, causal or not", category="gpu", points=2, after="causal"
)
def test_gpu_float32(gpu, draw):
    q, k, v = qkv(draw, L=7, S=7)

    assert_close(gpu.flash_attention(q, k, v, 3), "output")
    assert_close(gpu.flash_attention(q, k, v, 3, True), "output")


@check(
    "On a GPU in bfloat16 and float16: the same values, at larger logits too",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_half(gpu, draw):
    for dtype in (torch.bfloat16, torch.float16):
        q, k, v = qkv(draw, dtype=dtype)

        assert_close(gpu.flash_attention(q, k, v, 3), "output")
        assert_close(gpu.flash_attention(6 * q, k, v, 3), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="causal",
)
def test_gpu_device(gpu, draw):
    q, k, v = qkv(draw, L=7, S=7)

    assert_stays_on_device(gpu, gpu.flash_attention, q, k, v, 3)
    assert_stays_on_device(gpu, gpu.flash_attention, q, k, v, 3, True)


@check(
    "On a GPU: four times the length takes four times the memory, not sixteen",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_memory(gpu, draw):
    def inputs(length):
        return *qkv(draw, (1, 4), length, length, 16, 16, torch.float16), 256

    assert_memory_grows_linearly(gpu, gpu.flash_attention, inputs, 4096)


@check(
    "On a GPU: takes the time that its work takes",
    category="gpu",
    points=0,
    after="gpu_float32",
    advisory=True,
)
def test_gpu_speed(gpu, draw):
    sets = [qkv(draw, (2, 8), 512, 512, 64, 64, torch.float16) for _ in range(6)]
    with_blocks = [(*args, 128) for args in sets]

    report_speed(gpu, gpu.flash_attention, with_blocks, heads=sets)
