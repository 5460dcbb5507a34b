"""A sample shows the first wrong element, is small, and holds finite numbers or nothing."""

import pytest
import torch

from mha_judge.grading.expecting.compare import compare
from mha_judge.grading.expecting.expected import Expected
from mha_judge.grading.expecting.sample import sample_at
from mha_judge.grading.failures import CheckFailure


@pytest.mark.parametrize(
    ("shape", "index", "place", "rows", "columns"),
    [
        ((), (), "[]", 1, 1),
        ((5,), (2,), "[0:5]", 1, 5),
        ((3, 40), (1, 39), "[0:3, 24:40]", 3, 16),
        ((2, 3, 20, 18), (1, 2, 19, 0), "[1, 2, 4:20, 0:16]", 16, 16),
    ],
)
def test_a_sample_is_a_window_on_the_last_two_axes(shape, index, place, rows, columns):
    expected = torch.randn(shape, dtype=torch.float64)
    actual = expected.clone()
    actual[index] += 10

    sample = sample_at(index, expected, actual, "the output")

    pairs = [
        abs(x - y)
        for one, other in zip(sample.expected, sample.actual, strict=True)
        for x, y in zip(one, other, strict=True)
    ]
    assert (sample.place, len(sample.expected), len(sample.expected[0])) == (place, rows, columns)
    assert max(pairs) == pytest.approx(10, abs=1e-3)


def test_what_is_not_finite_is_null():
    value = torch.tensor([[float("nan"), float("inf"), 1.0]])

    with pytest.raises(CheckFailure) as raised:
        compare(value, Expected(torch.ones(1, 3).double(), torch.ones(1, 3)), "the output")

    assert raised.value.sample is not None
    assert raised.value.sample.actual == [[None, None, 1.0]]
