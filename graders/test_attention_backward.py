"""The backward pass of attention: three gradients, derived by hand."""

# L query length  S key length  D head size  Dv head size of values

import torch

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_no_autograd,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
)

ALL = ("grad_q", "grad_k", "grad_v")


def question(draw, leading=(2, 3), L=5, S=7, D=11, Dv=13, dtype=torch.float32):
    q = draw.normal(*leading, L, D, dtype=dtype)
    k = draw.normal(*leading, S, D, dtype=dtype)
    v = draw.normal(*leading, S, Dv, dtype=dtype)
    return q, k, v, draw.normal(*leading, L, Dv, dtype=dtype)


def answer_to(candidate, q, k, v, grad):
    """Return the answer; grad_q and grad_k are differences of numbers as large as dP k and dP q."""
    answer = candidate.attention_backward(q, k, v, grad)
    largest = (grad.double() @ v.double().mT).abs().max() / q.shape[-1] ** 0.5
    return answer.beside(grad_q=largest * k.abs().max(), grad_k=largest * q.abs().max())


@check(
    "Returns (grad_q, grad_k, grad_v) in the shapes of q, k and v",
    category="shape",
    points=3,
)
def test_shapes(candidate, draw):
    answer = candidate.attention_backward(*question(draw))

    assert answer.grad_q.shape == (2, 3, 5, 11)
    assert answer.grad_k.shape == (2, 3, 7, 11)
    assert answer.grad_v.shape == (2, 3, 7, 13)


@check(
    "grad_v: each value gets the output's gradient, by the weights that it had",
    category="values",
    points=4,
    after="shapes",
)
def test_grad_v(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L S D Dv")
        args = question(draw, (n["B"], n["H"]), n["L"], n["S"], n["D"], n["Dv"])
        assert_close(answer_to(candidate, *args), "grad_v")
    args = question(draw, (1, 2), 70, 131, 5, 3)  # longer than blocks of any usual size
    assert_close(answer_to(candidate, *args), "grad_v")


@check(
    "grad_q: through the softmax's Jacobian and the scale",
    category="values",
    points=5,
    after="shapes",
)
def test_grad_q(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L S D Dv")
        args = question(draw, (n["B"], n["H"]), n["L"], n["S"], n["D"], n["Dv"])
        assert_close(answer_to(candidate, *args), "grad_q")
    args = question(draw, (1, 2), 70, 131, 5, 3)  # longer than blocks of any usual size
    assert_close(answer_to(candidate, *args), "grad_q")


@check(
    "grad_k: every query adds to it",
    category="values",
    points=5,
    after="shapes",
)
def test_grad_k(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L S D Dv")
        args = question(draw, (n["B"], n["H"]), n["L"], n["S"], n["D"], n["Dv"])
        assert_close(answer_to(candidate, *args), "grad_k")
    args = question(draw, (1, 2), 70, 131, 5, 3)  # longer than blocks of any usual size
    assert_close(answer_to(candidate, *args), "grad_k")


@check("The scale is √D for small and for large D", category="values", points=2, after="shapes")
def test_scale(candidate, draw):
    for D in (2, 3, 64, 127):
        assert_close(answer_to(candidate, *question(draw, D=D, Dv=5)), *ALL)


@check(
    "Sizes of 1 are sizes like others; with one key grad_q and grad_k are zero",
    category="shape",
    points=2,
    after="shapes",
)
def test_size_one(candidate, draw):
    for name in ("B", "H", "L", "S", "D", "Dv", "B H", "L S"):
        n = {"B": 2, "H": 3, "L": 5, "S": 7, "D": 11, "Dv": 13}
        n.update(dict.fromkeys(name.split(), 1))
        args = question(draw, (n["B"], n["H"]), n["L"], n["S"], n["D"], n["Dv"])
        assert_close(answer_to(candidate, *args), *ALL)
    q, k, v, grad = question(draw)  # gradients of zero have shapes, too
    assert_close(answer_to(candidate, q, k, v, torch.zeros_like(grad)), *ALL)


@check(
    "Works with no, one and three leading dimensions", category="shape", points=1, after="grad_v"
)
def test_leading_dimensions(candidate, draw):
    for leading in ((), (3,), (2, 3, 2)):
        assert_close(answer_to(candidate, *question(draw, leading)), *ALL)


@check(
    "L = S = D = Dv hides nothing: square inputs are right too",
    category="values",
    points=2,
    after="shapes",
)
def test_square(candidate, draw):
    assert_close(answer_to(candidate, *question(draw, (4, 4), 4, 4, 4, 4)), *ALL)


@check(
    "Scales with grad_output, and is zero where it is zero",
    category="values",
    points=2,
    after="shapes",
)
def test_linear_in_grad_output(candidate, draw):
    q, k, v, grad = question(draw)
    grad[:, :, 2:] = 0
    for factor in (1.0, -3.0, 1e3):
        assert_close(answer_to(candidate, q, k, v, factor * grad), *ALL)


@check("Large logits stay finite and right", category="numerics", points=3, after="grad_v")
def test_large_logits(candidate, draw):
    for scale in (10.0, 100.0):
        q, k, v, grad = question(draw)
        assert_close(answer_to(candidate, scale * q, k, v, grad), *ALL)
    q, k, v, grad = question(draw)
    assert_close(answer_to(candidate, 100 * q, 100 * k, v, grad), *ALL)


@check("float64 in, float64 out", category="numerics", points=1, after="grad_v")
def test_float64(candidate, draw):
    answer = answer_to(candidate, *question(draw, dtype=torch.float64))

    assert_close(answer, *ALL)


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="grad_v")
def test_bfloat16(candidate, draw):
    answer = answer_to(candidate, *question(draw, dtype=torch.bfloat16))

    assert_close(answer, *ALL)


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="grad_v",
)
def test_non_contiguous(candidate, draw):
    q, k, v, grad = (one.transpose(1, 2) for one in question(draw, (2, 5), 3, 3, 11, 13))
    assert_close(answer_to(candidate, q, k, v, grad), *ALL)
    q, k, v, grad = question(draw)
    flipped = (one.transpose(-2, -1).contiguous().transpose(-2, -1) for one in (q, k, v, grad))
    assert_close(answer_to(candidate, *flipped), *ALL)


@check("The inputs are left as they were", category="robustness", points=1, after="shapes")
def test_inputs_unchanged(candidate, draw):
    assert_inputs_unchanged(candidate.attention_backward, *question(draw))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="grad_v",
)
def test_repeatable(candidate, draw):
    args = question(draw)
    assert_close(answer_to(candidate, *args), *ALL)
    assert_close(answer_to(candidate, *question(draw, (1,), 3, 2, 5, 7)), *ALL)
    assert_close(answer_to(candidate, *args), *ALL)


@check(
    "Shapes that do not belong together raise",
    category="robustness",
    points=2,
    after="shapes",
)
def test_bad_shapes(candidate, draw):
    q, k, v, grad = question(draw)
    backward = candidate.attention_backward
    assert_rejected(backward, q[..., :-1], k, v, grad, why="q and k of different widths")
    assert_rejected(backward, q, k[..., :-1, :], v, grad, why="fewer keys than values")
    assert_rejected(backward, q, k, v, grad[..., :-1], why="a grad_output of another width")
    assert_rejected(backward, q, k, v, grad[..., :-1, :], why="a grad_output of another length")


@check(
    "Derived by hand: no autograd of any kind",
    category="policy",
    points=4,
    after="grad_v",
)
def test_no_autograd(candidate, draw):
    assert_no_autograd(candidate, candidate.attention_backward, *question(draw))


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=2,
    after="grad_v",
)
def test_written_from_scratch(candidate, draw):
    assert_written_from_scratch(candidate, candidate.attention_backward, *question(draw))


@check(
    "No Python loop over heads, positions or batch",
    category="policy",
    points=0,
    after="grad_v",
    advisory=True,
)
def test_no_loops(candidate, draw):
    base = candidate.attention_backward.observe(*question(draw, (2, 2), 3, 3, 5, 5))
    for what, args in (
        ("heads", question(draw, (2, 8), 3, 3, 5, 5)),
        ("positions", question(draw, (2, 2), 12, 12, 5, 5)),
        ("the batch", question(draw, (8, 2), 3, 3, 5, 5)),
    ):
        assert_operations_do_not_grow(base, candidate.attention_backward.observe(*args), what)


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.attention_backward(*question(draw, dtype=torch.float64))

    if (answer.grad_q - answer.expected["grad_q"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")
