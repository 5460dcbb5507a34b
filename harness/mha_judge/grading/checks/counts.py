"""Checks on formulas and on exact counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from mha_judge.grading.calling.function import Function
from mha_judge.grading.expecting.compare import describe
from mha_judge.grading.failures import CheckFailure, Follows
from mha_judge.grading.formulas.growth import (
    FormulaError,
    equal_exactly,
    from_answer,
    parse,
    same_growth,
)


def assert_same_growth(
    answer: object,
    expected: str,
    letters: str,
    at_most: Sequence[tuple[str, str]] = (),
    follows: tuple[str, str] | None = None,
) -> None:
    """Assert that a candidate's formula grows as the expected one in every regime.

    Args:
        answer: What the candidate gave: text, or a plain number.
        expected: The right formula.
        letters: All letters of the problem.
        at_most: Pairs (a, b) with a ≤ b in every regime.
        follows: The id of an earlier check, and the formula that the candidate's own answer there
            leads to.

    Raises:
        Follows: If the answer is wrong because that earlier answer is.
        CheckFailure: If the answer cannot be read, or grows otherwise; names the regime.
    """
    growth = same_growth(_read(answer, letters), parse(expected, letters), at_most)
    if growth.is_equal:
        return
    said = f"the answer was {_quoted(answer)}"
    if follows is not None:
        check, own = follows
        if _grow_alike(answer, own, letters, at_most):
            raise Follows(str(growth.detail), said, check)
    raise CheckFailure(str(growth.detail), said)


def _grow_alike(
    one: object, other: object, letters: str, at_most: Sequence[tuple[str, str]]
) -> bool:
    """Return whether two of a candidate's formulas grow alike; one that cannot be read does not."""
    try:
        return same_growth(_read(one, letters), _read(other, letters), at_most).is_equal
    except CheckFailure:
        return False


def assert_same_formula(answer: object, expected: str, letters: str) -> None:
    """Assert that a candidate's formula equals the expected one, constants included.

    Raises:
        CheckFailure: If the answer cannot be read or is another formula.
    """
    if not equal_exactly(_read(answer, letters), parse(expected, letters)):
        raise CheckFailure("the formula is another one", f"the answer was {_quoted(answer)}")


def assert_count(function: Function, expected: int, *args: int | bool) -> None:
    """Assert that a candidate's function returns an exact count; whole floats pass.

    Raises:
        CheckFailure: If it returns something else.
    """
    answer = function.attempt(*args)
    value = _number(answer)
    if value is None:
        raise CheckFailure(
            f"`{function.entry.name}` returns {describe(answer)}; a whole number is wanted"
        )
    if value != expected:
        shown = ", ".join(f"{n}={a}" for n, a in zip(function.entry.arguments, args, strict=True))
        raise CheckFailure(
            f"`{function.entry.name}` {_off_by(value, expected)}",
            f"at {shown}: measured {expected}, got {str(value)[:40]}",
        )


def _off_by(value: int, expected: int) -> str:
    sensible = 0 < value < 2**63 and expected > 0
    return f"is off by a factor of {value / expected:.4g}" if sensible else "is wrong"


def _read(answer: object, letters: str) -> Any:
    try:
        return from_answer(answer, letters)
    except FormulaError as error:
        raise CheckFailure(
            f"the formula cannot be read: {error}", f"the answer was {_quoted(answer)}"
        ) from error


def _quoted(answer: object) -> str:
    return repr(answer)[:120]


def _number(value: object) -> int | None:
    if isinstance(value, Tensor) and value.dim() == 0:
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None
