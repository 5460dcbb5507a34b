"""When two answers are the same, as far as a diagnosis is concerned."""

import pytest
import torch

from mha_judge.diagnosis.matching import ALIKE, alike, same_answer, same_error
from mha_judge.grading.failures import Raised

NUMBERS = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


def test_a_small_share_of_the_largest_number_makes_no_difference():
    assert alike(NUMBERS + 5e-4, NUMBERS, ALIKE)
    assert not alike(NUMBERS + 1e-3, NUMBERS, ALIKE)


@pytest.mark.parametrize(
    "other", [NUMBERS.double(), NUMBERS[0], NUMBERS * torch.nan, None, "text", NUMBERS.tolist()]
)
def test_another_dtype_shape_or_kind_is_another_answer(other):
    assert not alike(other, NUMBERS, ALIKE)


def test_nan_equals_nan():
    spoilt = NUMBERS.clone()
    spoilt[0, 1] = torch.nan

    assert alike(spoilt.clone(), spoilt, ALIKE)


def test_nan_is_no_number():
    spoilt = NUMBERS.clone()
    spoilt[0, 1] = torch.nan

    assert not alike(NUMBERS, spoilt, ALIKE)
    assert not alike(spoilt, NUMBERS, ALIKE)


@pytest.mark.parametrize(
    ("text", "same"), [("O(n^2 d)", True), ("3 n*n*d", True), ("n d", False), (None, False)]
)
def test_formulas_are_compared_by_their_growth(text, same):
    assert same_answer(text, {"core": "n**2*d"}, "core") is same


def test_an_error_is_the_same_by_its_type_and_by_the_words_of_torch():
    raised = Raised("raises RuntimeError: shapes 3 and 5", kind="RuntimeError")

    assert same_error(raised, RuntimeError("shapes 3 and 5"))
    assert same_error(raised, RuntimeError("shapes 3 and 5 "))  # as NumPy says it
    assert not same_error(raised, RuntimeError("shapes 3 and 7"))
    assert not same_error(raised, ValueError("shapes 3 and 5"))
    assert same_error(Raised("raises ValueError: no", kind="ValueError"), ValueError("refused"))
