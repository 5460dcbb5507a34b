"""softmax(x)ᵢ = exp(xᵢ) / Σⱼ exp(xⱼ) along one axis, in NumPy, whatever the size of the numbers."""

import numpy
import torch

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_not_imported,
    check,
    fail,
)


def assert_dtype(found, wanted):
    dtype = getattr(found, "dtype", None)
    if dtype != wanted:
        fail(f"comes back as {dtype}; {numpy.dtype(wanted)} is wanted")


@check("Returns an array of the shape of x", category="shape", points=3)
def test_output_shape(candidate, draw):
    answer = candidate.softmax(draw.normal(5, 7, dtype=torch.float64))

    assert answer.output.shape == (5, 7)


@check(
    "Along the last axis, on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("rows columns")
        x = 2 * draw.normal(n["rows"], n["columns"], dtype=torch.float64)

        assert_close(candidate.softmax(x), "output")


@check("A square array is right too", category="values", points=1)
def test_square(candidate, draw):
    assert_close(candidate.softmax(draw.normal(5, 5, dtype=torch.float64)), "output")


@check("A vector is one row", category="shape", points=2)
def test_vector(candidate, draw):
    assert_close(candidate.softmax(draw.normal(7, dtype=torch.float64)), "output")


@check("Works with three and four dimensions", category="shape", points=2, after="output_shape")
def test_more_dimensions(candidate, draw):
    for shape in ((3, 5, 7), (2, 3, 5, 7), (3, 3, 3, 3)):
        assert_close(candidate.softmax(draw.normal(*shape, dtype=torch.float64)), "output")


@check("Sizes of 1 are sizes like others", category="shape", points=1, after="output_shape")
def test_size_one(candidate, draw):
    for shape in ((1, 7), (5, 1), (1, 1), (1, 5, 7), (3, 1, 7)):
        assert_close(candidate.softmax(draw.normal(*shape, dtype=torch.float64)), "output")


@check(
    "Numbers of ±10 000 do not overflow",
    category="numerics",
    points=3,
    after="output_shape",
)
def test_large_numbers(candidate, draw):
    near = draw.normal(5, 7, dtype=torch.float64)

    assert_close(candidate.softmax(near + 1e4), "output")
    assert_close(candidate.softmax(near * 1e4), "output")
    # far apart and whole: every right way to compute it in float32 gives the same
    whole = torch.stack([draw.permutation(11) for _ in range(5)]).float() * 2000 - 10_000
    assert_close(candidate.softmax(whole), "output")
    # exp is infinite in float32, and not in float64
    assert_close(candidate.softmax((whole + 10_000) / 40), "output")
    mixed = near + 800
    mixed[:, 0] = -3000
    assert_close(candidate.softmax(mixed), "output")


@check(
    "Numbers that are all very negative still sum to 1",
    category="numerics",
    points=1,
    after="output_shape",
)
def test_very_negative(candidate, draw):
    near = draw.normal(5, 7, dtype=torch.float64)

    assert_close(candidate.softmax(near - 1e4), "output")
    assert_close(candidate.softmax(near - 1e9), "output")


@check(
    "Rows at very different levels do not disturb one another",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_rows_apart(candidate, draw):
    level = 3000.0 * draw.permutation(5).double() - 6000
    x = draw.normal(5, 7, dtype=torch.float64) + level[:, None]

    assert_close(candidate.softmax(x), "output")
    # too far apart for one maximum in float32, and not in float64
    whole = (
        40.0 * torch.stack([draw.permutation(7) for _ in range(5)]) + 100 * torch.arange(5)[:, None]
    )
    assert_close(candidate.softmax(whole), "output")


@check(
    "Other axes, counted from either end, are as exact and as stable",
    category="values",
    points=2,
    after=("values", "large_numbers"),
)
def test_axis(candidate, draw):
    x = draw.normal(3, 5, 7, dtype=torch.float64)
    for axis in (0, 1, 2, -1, -2, -3):
        assert_close(candidate.softmax(x, axis), "output")
    far = x + 3000.0 * draw.permutation(7).double()  # each column at a level of its own
    for axis in (0, 1, -2):
        assert_close(candidate.softmax(far, axis), "output")
    cube = draw.normal(5, 5, 5, dtype=torch.float64)
    for axis in (0, 1):
        assert_close(candidate.softmax(cube, axis), "output")
    for shape in ((7,), (5, 7), (5, 5), (2, 3, 5, 7), (3, 3, 3, 3)):
        for axis in range(-len(shape), len(shape)):
            apart = draw.normal(*shape, dtype=torch.float64) + draw.integers(*shape, bound=3000)
            assert_close(candidate.softmax(apart, axis), "output")


@check("Entries of −inf get exactly 0", category="masking", points=3, after="output_shape")
def test_minus_infinity(candidate, draw):
    for dtype in (torch.float32, torch.float64):
        x = draw.normal(5, 7, dtype=dtype)
        open_ = draw.mask(5, 7)
        x[~open_] = -torch.inf

        answer = candidate.softmax(x)

        assert_close(answer, "output")
        if bool((answer.output[~open_] != 0).any()):
            fail("an entry of −inf gets more than 0")
    assert_close(candidate.softmax(x - 1e9), "output")  # and not what is merely low
    levels = 3000.0 * torch.arange(5, dtype=x.dtype)[:, None]
    assert_close(candidate.softmax(x + levels), "output")
    # whole blocks of any usual size are blocked; few are open, as a sum of logarithms rounds often
    for dtype in (torch.float32, torch.float64):
        long = draw.normal(3, 1500, dtype=dtype)
        long[:, : draw.integer(1476, 1488)] = -torch.inf
        assert_close(candidate.softmax(long), "output")
        assert_close(candidate.softmax(long.flip(-1)), "output")
    one = torch.full((5, 7), -torch.inf, dtype=torch.float64)
    for low in (-1e16, torch.finfo(one.dtype).min):
        one[torch.arange(5), draw.permutation(7)[:5]] = low
        assert_close(candidate.softmax(one), "output")
        one.fill_(-torch.inf)


@check("float32 stays float32", category="numerics", points=2, after="values")
def test_float32(candidate, draw):
    for shape in ((5, 7), (7,), (5, 1)):
        x = draw.normal(*shape)

        assert_close(candidate.softmax(x), "output")
        assert_dtype(candidate.softmax.attempt(x), numpy.float32)


@check("Integers are accepted, and give float64", category="numerics", points=1, after="values")
def test_integers(candidate, draw):
    whole = draw.integers(5, 7, bound=4)
    for dtype in (torch.int64, torch.int32):
        assert_dtype(candidate.softmax.attempt(whole.to(dtype)), numpy.float64)
        assert_close(candidate.softmax(whole.to(dtype)), "output")
        assert_close(candidate.softmax(10_000 + whole.to(dtype)), "output")
        assert_close(candidate.softmax(whole.to(dtype) - 10_000), "output")
        far = torch.tensor([[1, -1, 0], [-1, -1, 1]], dtype=dtype)
        far *= torch.iinfo(dtype).max // 2  # and no further apart than an integer tells
        assert_close(candidate.softmax(far), "output")
    near = 2**30 + torch.tensor([[0, 1, 3], [2, 0, 0]], dtype=torch.int32)
    assert_close(candidate.softmax(near), "output")  # which float32 does not tell apart


@check(
    "Other axes too take −inf, float32 and integers, and leave the input alone",
    category="values",
    points=1,
    after=("axis", "minus_infinity", "float32", "integers"),
)
def test_axis_and_dtype(candidate, draw):
    softmax = candidate.softmax
    for axis in (0, 1, -2):
        for dtype in (torch.float32, torch.float64):
            x = draw.normal(5, 7, 3, dtype=dtype)
            x[~draw.mask(3, 7, 5).transpose(0, 2)] = -torch.inf
            x[0], x[:, 0] = 1, 2  # no line along the first two axes is blocked as a whole
            assert_close(softmax(x, axis), "output")
            assert_dtype(
                softmax.attempt(x, axis), numpy.float32 if dtype == torch.float32 else float
            )
            assert_inputs_unchanged(softmax, x, axis)
        for dtype in (torch.int64, torch.int32):
            whole = draw.integers(5, 7, 3, bound=4).to(dtype)
            assert_close(softmax(whole, axis), "output")
            assert_inputs_unchanged(softmax, whole, axis)


@check(
    "Strided arrays, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    x = draw.normal(5, 7, 2, 3, dtype=torch.float64)

    assert_close(candidate.softmax(x[..., 0, 0].T), "output")
    assert_close(candidate.softmax(x.permute(0, 3, 2, 1)), "output")
    assert_close(candidate.softmax(draw.normal(5, 14, dtype=torch.float64)[:, ::2]), "output")


@check("The input is left as it was", category="robustness", points=2, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    for dtype in (torch.float64, torch.float32):
        assert_inputs_unchanged(candidate.softmax, draw.normal(5, 7, dtype=dtype))
    for dtype in (torch.int64, torch.int32):
        assert_inputs_unchanged(candidate.softmax, draw.integers(5, 7, bound=4).to(dtype))
    blocked = draw.normal(5, 7, dtype=torch.float64)
    blocked[~draw.mask(5, 7)] = -torch.inf
    assert_inputs_unchanged(candidate.softmax, blocked)
    assert_inputs_unchanged(candidate.softmax, draw.normal(7, 5, dtype=torch.float64).T, 0)


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    first, other = (draw.normal(5, 7, dtype=torch.float64) for _ in range(2))

    assert_close(candidate.softmax(first), "output")
    assert_close(candidate.softmax(1000 + other), "output")
    assert_close(candidate.softmax(first), "output")
    for shape in ((7, 5), (35,), (1, 35), (5, 7)):  # the same numbers in another shape
        assert_close(candidate.softmax(first.reshape(shape)), "output")


@check(
    "Written with NumPy: PyTorch is not imported", category="policy", points=2, after="output_shape"
)
def test_written_in_numpy(candidate, draw):
    assert_not_imported(candidate, "torch")
    assert_not_imported(candidate, "scipy")


@check(
    "float64 gives float64 precision",
    category="numerics",
    points=0,
    after="values",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.softmax(draw.normal(5, 7, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 comes out with float32 precision")
