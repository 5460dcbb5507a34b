"""LayerNorm and RMSNorm over the last axis, and their backward passes by hand."""

# E features

import torch

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_no_autograd,
    assert_no_library_norm,
    assert_operations_do_not_grow,
    assert_rejected,
    check,
    fail,
)

LAYER = ("grad_x", "grad_weight", "grad_bias")
RMS = ("grad_x", "grad_weight")
SHAPES = ((3, 5, 7), (2, 11), (6, 6), (2, 3, 5, 13))


def inputs(draw, *shape, dtype=torch.float32):
    """Return x, weight, bias and grad_output; each row has a mean and a spread of its own."""
    rows = shape[:-1]
    x = draw.normal(*shape, dtype=dtype) * (1 + draw.normal(*rows, 1, dtype=dtype).abs())
    x = x + draw.normal(*rows, 1, dtype=dtype)
    E = shape[-1]
    return x, draw.normal(E, dtype=dtype), draw.normal(E, dtype=dtype), draw.normal(*shape).to(x)


def calls(candidate, x, weight, bias, grad, *eps):
    """Return each function with the arguments and the names of the results of a call."""
    return [
        (candidate.layer_norm, (x, weight, bias, *eps), ("output",)),
        (candidate.rms_norm, (x, weight, *eps), ("output",)),
        (candidate.layer_norm_backward, (grad, x, weight, *eps), LAYER),
        (candidate.rms_norm_backward, (grad, x, weight, *eps), RMS),
    ]


def answers(candidate, *given, first=0):
    """Yield the answer of each function, with the names of its results.

    A diagnosis looks at the last call of a check that passed: so not all begin with the same one.
    """
    every = calls(candidate, *given)
    for function, args, names in every[first:] + every[:first]:
        yield function(*args), names


def assert_all_close(candidate, *args, first=0):
    for answer, names in answers(candidate, *args, first=first):
        assert_close(answer, *names)


def require(answer, names, what):
    """Fail in words of one's own if a result is wrong, NaN included."""
    for name in names:
        found, expected = getattr(answer, name), answer.expected[name]
        if not (found.double() - expected.exact).abs().max() <= expected.tolerance():
            fail(what)


@check("Returns results in the shapes of x and of the weight", category="shape", points=2)
def test_shapes(candidate, draw):
    x, weight, bias, grad = inputs(draw, 2, 3, 5)

    assert candidate.layer_norm(x, weight, bias).output.shape == (2, 3, 5)
    assert candidate.rms_norm(x, weight).output.shape == (2, 3, 5)
    answer = candidate.layer_norm_backward(grad, x, weight)
    assert answer.grad_x.shape == (2, 3, 5)
    assert answer.grad_weight.shape == answer.grad_bias.shape == (5,)
    answer = candidate.rms_norm_backward(grad, x, weight)
    assert answer.grad_x.shape == (2, 3, 5)
    assert answer.grad_weight.shape == (5,)


@check(
    "layer_norm: each row loses its mean and is divided by its deviation",
    category="values",
    points=4,
    after="shapes",
)
def test_layer_norm(candidate, draw):
    for shape in SHAPES:
        x, weight, bias, _ = inputs(draw, *shape)
        assert_close(candidate.layer_norm(x, weight, bias), "output")


@check(
    "rms_norm: each row is divided by the root of its mean square",
    category="values",
    points=3,
    after="shapes",
)
def test_rms_norm(candidate, draw):
    for shape in SHAPES:
        x, weight, _, _ = inputs(draw, *shape)
        assert_close(candidate.rms_norm(x, weight), "output")


@check(
    "layer_norm_backward: grad_x goes through the row itself, its mean and its variance",
    category="values",
    points=5,
    after="shapes",
)
def test_layer_norm_grad_x(candidate, draw):
    for shape in SHAPES:
        x, weight, _, grad = inputs(draw, *shape)
        assert_close(candidate.layer_norm_backward(grad, x, weight), "grad_x")


@check(
    "layer_norm_backward: weight and bias add up what all rows say",
    category="values",
    points=3,
    after="shapes",
)
def test_layer_norm_parameters(candidate, draw):
    for shape in SHAPES:
        x, weight, _, grad = inputs(draw, *shape)
        weight[0] = 0  # which has a gradient as well
        assert_close(candidate.layer_norm_backward(grad, x, weight), "grad_weight", "grad_bias")


@check(
    "rms_norm_backward: both gradients",
    category="values",
    points=4,
    after="shapes",
)
def test_rms_norm_backward(candidate, draw):
    for shape in SHAPES:
        x, weight, _, grad = inputs(draw, *shape)
        weight[0] = 0
        assert_close(candidate.rms_norm_backward(grad, x, weight), *RMS)


@check(
    "eps stands inside the root, forward and backward, whatever it is",
    category="values",
    points=3,
    after="shapes",
)
def test_eps(candidate, draw):
    x, weight, bias, grad = inputs(draw, 3, 5, 7)
    for eps in (0.5, 3.0):
        assert_all_close(candidate, x, weight, bias, grad, eps, first=1)
    for eps in (1e-3, 1e-8):
        assert_all_close(candidate, x * eps**0.5, weight, bias, grad, eps, first=1)


@check(
    "Without an eps it is 1e-5 for LayerNorm and 1e-6 for RMSNorm",
    category="values",
    points=2,
    after="eps",
)
def test_default_eps(candidate, draw):
    x, weight, bias, grad = inputs(draw, 3, 5, 7)
    assert_all_close(candidate, x / 500, weight, bias, grad)


@check(
    "Works with no, one and three leading axes",
    category="shape",
    points=2,
    after="shapes",
)
def test_leading_axes(candidate, draw):
    for leading in ((2, 3, 2), (3,), (1, 1), (1,), ()):
        assert_all_close(candidate, *inputs(draw, *leading, 7), first=3)


@check("One feature is a row like others", category="shape", points=1, after="shapes")
def test_one_feature(candidate, draw):
    x, weight, bias, grad = inputs(draw, 5, 1)
    for answer, names in answers(candidate, x, weight, bias, grad, first=2):
        # a single number may be next to nothing, but it is a sum of terms as large as these
        large = {"grad_x": 1e3 * (grad * weight).abs().max()}
        large |= dict.fromkeys(("grad_weight", "grad_bias"), grad.abs().sum())
        answer.beside(**{name: large[name] for name in names if name in large})
        assert_close(answer, *names)


@check(
    "Rows of equal numbers, and of zeros, give finite and right results",
    category="numerics",
    points=3,
    after="shapes",
)
def test_zero_variance(candidate, draw):
    x, weight, bias, grad = inputs(draw, 2, 5, 8)  # sums of 8 equal whole numbers are exact
    x[0], x[1, :2] = torch.tensor([3.0, -2.0, 0.0, 1.0, 7.0])[:, None], 0
    assert_all_close(candidate, x, weight, bias, grad)
    assert_all_close(candidate, x[0], weight, bias, grad[0], 0.25, first=1)


@check(
    "A mean far above the spread does not drown the variance",
    category="numerics",
    points=4,
    after=("layer_norm", "layer_norm_grad_x"),
)
def test_large_means(candidate, draw):
    scales = 2.0 ** torch.arange(-2, 4)[:, None]
    for width, level, dtype in (
        (64, 2**13, torch.float32),
        (64, -(2**14), torch.float32),
        (64, 2**28, torch.float64),
        (1_040, 2**12, torch.float32),
        (1_040, -(2**28), torch.float64),
    ):
        # whole numbers whose squares lose their last digits, and whose sums are exact in any order
        signs = torch.stack([draw.permutation(width) % 2 * 2 - 1 for _ in range(6)])
        x = (level + signs).to(dtype) * scales
        _, weight, bias, grad = inputs(draw, 6, width, dtype=dtype)
        output = candidate.layer_norm(x, weight, bias)
        gradients = candidate.layer_norm_backward(grad, x, weight)
        if dtype is torch.float32:  # the last digits of the mean count for as much as this
            far = 2.0 * abs(level)
            output.beside(output=far * weight.abs().max())
            gradients.beside(
                grad_x=far / scales.min() * (grad * weight).abs().max(),
                grad_weight=far * grad.abs().sum(0).max(),
            )
        assert_close(output, "output")
        assert_close(gradients, *LAYER)


@check(
    "float64 in, float64 out, computed in float64", category="numerics", points=1, after="shapes"
)
def test_float64(candidate, draw):
    x, weight, bias, grad = inputs(draw, 3, 5, 7, dtype=torch.float64)
    assert_all_close(candidate, x, weight, bias, grad)
    # float32 does not hold them
    assert_all_close(candidate, 1e60 * x, weight, bias, 1e60 * grad, first=1)


@check(
    "float16 and bfloat16 come back as they came",
    category="numerics",
    points=1,
    after="shapes",
)
def test_half_precision(candidate, draw):
    for dtype in (torch.bfloat16, torch.float16):
        assert_all_close(candidate, *inputs(draw, 3, 5, 64, dtype=dtype))


@check(
    "Half precision is computed in float32",
    category="numerics",
    points=3,
    after=("rms_norm", "rms_norm_backward", "large_means", "half_precision"),
)
def test_computed_in_float32(candidate, draw):
    wide = inputs(draw, 8, 1030)
    for dtype, level in ((torch.float16, 3000), (torch.bfloat16, 300)):
        x, weight, bias, grad = (one.to(dtype) for one in wide)
        what = f"loses digits in {dtype}, or overflows: compute half precision in float32"
        loud = (2500 * draw.normal(*x.shape)).to(dtype)  # its squares overflow in float16
        high = (4 * draw.normal(*x.shape) + level).to(dtype)  # its mean is not a number of dtype
        for numbers in (high, loud):
            for answer, names in answers(candidate, numbers, weight, bias, grad, first=1):
                require(answer, names, what)
        tiny = (1e-4 * wide[0]).to(dtype)  # beside which an eps counts that float16 does not hold
        require(candidate.layer_norm(tiny, weight, bias, 1e-8), ("output",), what)
        require(candidate.rms_norm(tiny, weight, 1e-8), ("output",), what)
        # of many rows, which cancel but for a few small ones
        many = inputs(draw, 1_536, 5)
        rows = torch.tensor([1, 0.01, -1]).repeat_interleave(512)[:, None]
        one, weight_of_many, _, _ = (each.to(dtype) for each in many)
        summed = candidate.layer_norm_backward(rows.expand(1_536, 5).to(dtype), one, weight_of_many)
        require(summed, ("grad_bias",), what)
        # most of the gradient points along x and cancels
        unit = torch.nn.functional.normalize(x.float(), dim=-1) * x.shape[-1] ** 0.5
        weight = (weight.abs() + 0.5).to(dtype)
        along = (64 * unit / weight.float() + grad.float()).to(dtype)
        require(candidate.rms_norm_backward(along, x, weight), ("grad_x",), what)
        require(candidate.layer_norm_backward(along, x, weight), ("grad_x",), what)


@check("The inputs are left as they were", category="robustness", points=1, after="shapes")
def test_inputs_unchanged(candidate, draw):
    for function, args, _ in calls(candidate, *inputs(draw, 3, 5, 7)):
        assert_inputs_unchanged(function, *args)


@check("Shapes that do not belong together raise", category="robustness", points=2, after="shapes")
def test_bad_shapes(candidate, draw):
    x, weight, bias, grad = inputs(draw, 3, 5, 7)
    forward = candidate.layer_norm
    assert_rejected(forward, x, weight[:-1], bias, why="a weight of another width")
    assert_rejected(forward, x, weight, bias[:-1], why="a bias of another width")
    assert_rejected(candidate.rms_norm, x, weight[:-1], why="a weight of another width")
    even, folded = draw.normal(3, 5, 8), draw.normal(2, 4)  # as many numbers
    assert_rejected(forward, even, folded, draw.normal(8), why="a weight of two axes")
    assert_rejected(forward, even, draw.normal(8), folded, why="a bias of two axes")
    assert_rejected(candidate.rms_norm, even, folded, why="a weight of two axes")
    for backward in (candidate.layer_norm_backward, candidate.rms_norm_backward):
        assert_rejected(backward, grad, x, weight[:-1], why="a weight of another width")
        assert_rejected(backward, grad[..., :-1], x, weight, why="a grad_output of another width")
        assert_rejected(backward, grad[:, :-1], x, weight, why="a grad_output of fewer rows")
        turned = grad.transpose(0, 1).contiguous()
        assert_rejected(backward, turned, x, weight, why="a grad_output with rows in other axes")


VALUES = (
    "layer_norm",
    "rms_norm",
    "layer_norm_grad_x",
    "layer_norm_parameters",
    "rms_norm_backward",
)


@check("Derived by hand: no autograd of any kind", category="policy", points=4, after=VALUES)
def test_no_autograd(candidate, draw):
    for function, args, _ in calls(candidate, *inputs(draw, 3, 5, 7)):
        assert_no_autograd(candidate, function, *args)


@check("Written from scratch: no norm of the library", category="policy", points=4, after=VALUES)
def test_no_library_norm(candidate, draw):
    for function, args, _ in calls(candidate, *inputs(draw, 3, 5, 7)):
        assert_no_library_norm(candidate, function, *args)


@check(
    "No Python loop over the rows", category="policy", points=0, after="layer_norm", advisory=True
)
def test_no_loops(candidate, draw):
    few, many = ((grad, x, w) for x, w, _, grad in (inputs(draw, n, 5) for n in (3, 12)))
    base, large = (candidate.layer_norm_backward.observe(*args) for args in (few, many))
    assert_operations_do_not_grow(base, large, "the rows")
