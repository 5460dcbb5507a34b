"""Checks of attention as a function of q, k and v, that several graders take.

A grader has `qkv(draw, leading, L, S, D, Dv, dtype)`, which draws them.
"""

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
)


@check("Returns an output (…, L, Dv) where L ≠ S and D ≠ Dv", category="shape", points=3)
def test_output_shape(grader, candidate, draw):
    answer = candidate.scaled_dot_product_attention(*grader.qkv(draw))

    assert answer.output.shape == (2, 3, 5, 13)


@check(
    "Returns the weights (…, L, S) beside the output",
    category="shape",
    points=1,
    after="output_shape",
)
def test_weights_shape(grader, candidate, draw):
    answer = candidate.scaled_dot_product_attention(*grader.qkv(draw))

    assert answer.weights.shape == (2, 3, 5, 7)


@check(
    "The output is softmax(q kᵀ / √D) v, on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(grader, candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L S D Dv")
        q, k, v = grader.qkv(draw, (n["B"], n["H"]), n["L"], n["S"], n["D"], n["Dv"])

        assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")


@check(
    "The scale is √D for small and for large D", category="values", points=2, after="output_shape"
)
def test_scale(grader, candidate, draw):
    for D in (2, 3, 64, 127):
        q, k, v = grader.qkv(draw, D=D, Dv=5)

        assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")


@check(
    "Sizes of 1 are sizes like others: B, H, L, S, D or Dv = 1",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(grader, candidate, draw):
    for name in ("B", "H", "L", "S", "D", "Dv", "B H", "L S"):
        n = {"B": 2, "H": 3, "L": 5, "S": 7, "D": 11, "Dv": 13}
        n.update(dict.fromkeys(name.split(), 1))
        q, k, v = grader.qkv(draw, (n["B"], n["H"]), n["L"], n["S"], n["D"], n["Dv"])

        assert_close(candidate.scaled_dot_product_attention(q, k, v), "output")


@check(
    "Permuting keys together with values changes nothing",
    category="values",
    points=1,
    after="output_shape",
)
def test_key_order(grader, candidate, draw):
    q, k, v = grader.qkv(draw)
    order = draw.permutation(7)

    plain = candidate.scaled_dot_product_attention(q, k, v)
    permuted = candidate.scaled_dot_product_attention(q, k[..., order, :], v[..., order, :])

    assert_close(plain, "output")
    assert_close(permuted, "output")


@check(
    "Queries and keys of different width raise, keys and values of different length too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_widths(grader, candidate, draw):
    q, k, v = grader.qkv(draw)

    attend = candidate.scaled_dot_product_attention
    assert_rejected(attend, q, k[..., :-1], v, why="keys narrower than the queries")
    assert_rejected(attend, q[..., :-1], k, v, why="keys wider than the queries")
    assert_rejected(attend, q, k, v[..., :-1, :], why="fewer values than keys")
    assert_rejected(attend, q, k[..., :-1, :], v, why="more values than keys")
