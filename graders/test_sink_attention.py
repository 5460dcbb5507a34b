"""Attention with a sink: exp(sink) in the denominator, no value; windows, groups, norms."""

# B batch  H query heads  G key/value heads  L query length  S key length  D head size

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
)


def given(draw, B=2, H=6, G=3, L=7, S=11, D=5, dtype=torch.float32):
    """Return q, k, v and the sinks."""
    q = draw.normal(B, H, L, D, dtype=dtype)
    k, v = (draw.normal(B, G, S, D, dtype=dtype) for _ in range(2))
    return q, k, v, draw.normal(H, dtype=dtype)


def norms(draw, D=5, dtype=torch.float32):
    """Return the weights of both norms."""
    return draw.normal(D, dtype=dtype), draw.normal(D, dtype=dtype)


def louder(q, k, v, sinks):
    """Return the same with queries and keys that are long, beside which no ε is felt."""
    return 30 * q, 30 * k, v, sinks


@check("Returns an output (B, H, L, D), where L ≠ S and G ≠ H", category="shape", points=3)
def test_output_shape(candidate, draw):
    answer = candidate.sink_attention(*given(draw))

    assert answer.output.shape == (2, 6, 7, 5)


@check(
    "The sink takes weight in a causal softmax and has no value, on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for more in (0, 4, 0):
        n = draw.sizes("B G L D")
        sizes = {**n, "H": 2 * n["G"], "S": n["L"] + more}
        assert_close(candidate.sink_attention(*given(draw, **sizes)), "output")


@check(
    "Each query head has a sink of its own, large or small, and unscaled",
    category="values",
    points=4,
    after="output_shape",
)
def test_sinks(candidate, draw):
    for G in (1, 2, 3, 6):
        q, k, v, sinks = given(draw, G=G, L=9, S=9)
        order = draw.permutation(6)
        for wide in (sinks, 2 + sinks, torch.linspace(-3, 6, 6)[order], torch.zeros(6)):
            assert_close(candidate.sink_attention(q, k, v, wide), "output")


@check(
    "A sink far below the scores takes no weight, one far above them takes all of it",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_extreme_sinks(candidate, draw):
    q, k, v, _ = given(draw)
    for far in (40.0, 200.0, 10_000.0):
        sinks = far * torch.tensor([1.0, -1, -1, 1, 0, -1])[draw.permutation(6)]
        assert_close(candidate.sink_attention(q, k, v, sinks), "output")


@check(
    "Only the difference between sink and scores counts, however far both lie from 0",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_sinks_beside_scores(candidate, draw):
    for far in (45.0, -45.0, 90.0, -90.0):
        q, k, v, sinks = given(draw)
        q[..., 0], k[..., 0] = 5**0.5, far  # adds `far` to every score, as √D is √5
        for window in (None, 3):
            assert_close(candidate.sink_attention(q, k, v, far + sinks, window), "output")


@check(
    "Every window has its exact width: position p sees p − window + 1 … p, no key more or fewer",
    category="masking",
    points=4,
    after="output_shape",
)
def test_every_window(candidate, draw):
    args = given(draw, L=9, S=9)
    for window in (4, 2, 8, 1, 3, 9, 30):
        assert_close(candidate.sink_attention(*args, window), "output")


@check(
    "The queries are those of the last L positions, with a window and without one",
    category="masking",
    points=4,
    after="output_shape",
)
def test_queries_come_last(candidate, draw):
    for L, S in ((7, 11), (1, 9), (5, 6)):
        args = given(draw, L=L, S=S)
        for window in (None, 3, S - 1, 40):
            assert_close(candidate.sink_attention(*args, window), "output")


@check(
    "A query that no key precedes gives zeros: its sink takes all of the weight",
    category="masking",
    points=2,
    after="output_shape",
)
def test_no_key(candidate, draw):
    for L, S in ((7, 5), (4, 1)):
        args = given(draw, L=L, S=S)
        for window in (None, 2):
            assert_close(candidate.sink_attention(*args, window), "output")
            *qkv, sinks = args  # as far below zero as what may stand in for −∞
            assert_close(candidate.sink_attention(*qkv, sinks - 1000, window), "output")


@check(
    "Key head g serves query heads g · H/G … g · H/G + H/G − 1, for every G that divides H",
    category="values",
    points=3,
    after="output_shape",
)
def test_groups(candidate, draw):
    for H, G in ((6, 2), (6, 3), (6, 1), (6, 6), (8, 4), (1, 1)):
        assert_close(candidate.sink_attention(*given(draw, H=H, G=G, L=9, S=9)), "output")


@check(
    "The scale is √D for small and for large D", category="values", points=2, after="output_shape"
)
def test_scale(candidate, draw):
    for D in (2, 3, 64, 127):
        assert_close(candidate.sink_attention(*given(draw, D=D)), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L, S or D = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for name in ("B", "H G", "G", "L", "D", "L S", "B H G", "B H G L S D"):
        sizes = dict.fromkeys(name.split(), 1)
        assert_close(candidate.sink_attention(*given(draw, **sizes)), "output")


@check(
    "With weights given, q and k are normalised along D, and then compared as before",
    category="values",
    points=4,
    after="values",
)
def test_norms(candidate, draw):
    for L, S, window, D in ((9, 9, None, 5), (7, 11, 4, 7), (9, 9, None, 32)):
        args = louder(*given(draw, L=L, S=S, D=D))
        assert_close(candidate.sink_attention(*args, window, *norms(draw, D)), "output")


@check(
    "Each vector is normalised by itself, head by head and position by position",
    category="values",
    points=2,
    after="values",
)
def test_norms_are_apart(candidate, draw):
    q, k, v, sinks = louder(*given(draw, L=9, S=9))
    loud = 1 + 2 * draw.normal(2, 6, 9, 1).abs()
    for both in ((loud * q, k), (q, loud[:, :3] * k), (3 * q, k / 2)):
        answer = candidate.sink_attention(*both, v, sinks, None, *norms(draw))
        assert_close(answer, "output")


@check(
    "The ε of the norms is 1e-6 and stands under the root; vectors of zeros stay zeros",
    category="numerics",
    points=2,
    after="values",
)
def test_eps(candidate, draw):
    q, k, v, sinks = given(draw, L=9, S=9)
    for small in (1e-3, 1e-4, 0.0):
        answer = candidate.sink_attention(
            small * q, 2 * small * k, v, sinks, None, *(3 * one for one in norms(draw))
        )
        assert_close(answer, "output")


@check(
    "Large logits (1e4 and more) stay finite and right",
    category="numerics",
    points=3,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    # whole numbers and D = 16: every way to compute the logits gives them exactly
    for bound in (50, 200):
        q = draw.integers(2, 6, 9, 16, bound=bound)
        k = draw.integers(2, 3, 9, 16, bound=bound)
        v, sinks = draw.normal(2, 3, 9, 16), draw.normal(6)
        for window in (None, 4):
            assert_close(candidate.sink_attention(q, k, v, sinks, window), "output")


@check(
    "A blocked key has no influence, however low the visible scores and the sink are",
    category="masking",
    points=2,
    after="output_shape",
)
def test_low_scores(candidate, draw):
    q = draw.integers(2, 6, 9, 16, bound=100).abs() + 4
    k = -draw.integers(2, 3, 9, 16, bound=100).abs() - 4
    v = draw.normal(2, 3, 9, 16)
    for sink in (-100.0, -30_000.0):
        for window in (None, 3):
            answer = candidate.sink_attention(q, k, v, sink - draw.normal(6).abs(), window)
            assert_close(answer, "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    args, weights = given(draw, dtype=torch.float64), norms(draw, dtype=torch.float64)

    assert_close(candidate.sink_attention(*args, 4), "output")
    assert_close(candidate.sink_attention(*louder(*args), 4, *weights), "output")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="values")
def test_bfloat16(candidate, draw):
    args, weights = given(draw, dtype=torch.bfloat16), norms(draw, dtype=torch.bfloat16)

    assert_close(candidate.sink_attention(*args, 4), "output")
    assert_close(candidate.sink_attention(*args, 4, *weights), "output")
    q, k, v, sinks = args  # so short that ε is felt
    assert_close(candidate.sink_attention(q / 500, k / 500, v, sinks, 4, *weights), "output")


@check(
    "Gradients reach q, k, v and the sinks, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    for window in (None, 4):
        assert_gradients_match(
            candidate.sink_attention,
            *given(draw),
            window,
            wrt=(0, 1, 2, 3),
            cotangents=[draw.normal(2, 6, 7, 5)],
        )


@check(
    "Gradients reach the weights of the norms too",
    category="gradients",
    points=1,
    after=("gradients", "norms"),
)
def test_norm_gradients(candidate, draw):
    assert_gradients_match(
        candidate.sink_attention,
        *louder(*given(draw, L=9, S=9)),
        4,
        *norms(draw),
        wrt=(0, 1, 2, 3, 5, 6),
        cotangents=[draw.normal(2, 6, 9, 5)],
    )


@check(
    "Gradients stay finite where sinks lie far above or below the scores",
    category="gradients",
    points=2,
    after="gradients",
)
def test_extreme_gradients(candidate, draw):
    q, k, v, _ = given(draw, L=9, S=9)
    sinks = torch.tensor([0.0, 200, -200, 0, 120, -120])[draw.permutation(6)]

    assert_gradients_match(
        candidate.sink_attention, q, k, v, sinks, wrt=(0, 1, 2, 3),
        cotangents=[draw.normal(2, 6, 9, 5)],
    )  # fmt: skip


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    q = draw.normal(2, 7, 6, 5).transpose(1, 2)
    k = draw.normal(2, 3, 5, 11).transpose(2, 3)
    v = draw.normal(2, 3, 11, 10)[..., ::2]

    assert_close(candidate.sink_attention(q, k, v, draw.normal(12)[::2], 4), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    assert_inputs_unchanged(candidate.sink_attention, *given(draw))
    assert_inputs_unchanged(candidate.sink_attention, *given(draw), 4, *norms(draw))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    first, other = given(draw), given(draw, L=5)
    normed = (*louder(*given(draw)), None, *norms(draw))
    for args in (first, (*first, 3), (*other, 3), (*first, 5), normed, first):
        assert_close(candidate.sink_attention(*args), "output")


@check(
    "Queries and keys of different width raise, keys and values of different length too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_widths(candidate, draw):
    attend, (q, k, v, sinks) = candidate.sink_attention, given(draw)
    assert_rejected(attend, q, k[..., :-1], v, sinks, why="keys narrower than the queries")
    assert_rejected(attend, q[..., :-1], k, v, sinks, why="keys wider than the queries")
    assert_rejected(attend, q, k, v[..., :-1, :], sinks, why="fewer values than keys")
    assert_rejected(attend, q, k[..., :-1, :], v, sinks, why="more values than keys")


@check(
    "More or fewer sinks than query heads raise",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_sinks(candidate, draw):
    q, k, v, _ = given(draw)
    for count in (5, 3, 2, 7, 12):
        why = f"{count} sinks for 6 query heads"
        assert_rejected(candidate.sink_attention, q, k, v, draw.normal(count), why=why)


@check(
    "Key heads that do not divide the query heads raise",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_groups(candidate, draw):
    for H, G in ((6, 4), (5, 2), (3, 6), (4, 3)):
        why = f"{G} key heads for {H} query heads"
        assert_rejected(candidate.sink_attention, *given(draw, H=H, G=G), why=why)


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    attend = candidate.sink_attention

    assert_written_from_scratch(candidate, attend, *given(draw))
    normed = (*louder(*given(draw, L=9, S=9)), 4, *norms(draw))
    assert_written_from_scratch(candidate, attend, *normed)


@check("float16 in, float16 out", category="numerics", points=0, after="bfloat16", advisory=True)
def test_float16(candidate, draw):
    assert_close(candidate.sink_attention(*given(draw, dtype=torch.float16), 4), "output")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.sink_attention(*given(draw, dtype=torch.float64), 4)

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")
