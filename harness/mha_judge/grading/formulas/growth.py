"""Formulas that candidates give as answers: reading them, and comparing growth or identity.

Growth is compared where letters are powers of two, letter i = 2^(aᵢ K), for many directions a
and two sizes K: f = Θ(g) along a direction when log2(f/g) is the same at both sizes. Constants
and lower-order terms vanish there, while powers and logarithms show. Where there are logarithms,
growth is compared once more where letters lie a logarithm apart: a term such as n log d is larger
than n² only where log d outgrows n, which no numbers that can be written down would show.
"""

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from mha_judge.grading.formulas.orders import (
    Undecided,
    describe_tiers,
    order_of,
    tiers_of,
)
from mha_judge.grading.formulas.parser import parse_tree
from mha_judge.grading.formulas.regimes import Direction, bits, closure, describe, directions_of
from mha_judge.grading.formulas.tree import (
    FormulaError,
    Node,
    constant_bits,
    has_logarithm,
    letters_in,
    value_of,
)

__all__ = [
    "Formula",
    "FormulaError",
    "Growth",
    "Outcome",
    "equal_exactly",
    "from_answer",
    "parse",
    "same_growth",
]

_SIZES = (32, 512)
_MAX_DRIFT = 0.5
_MAX_CONSTANT_BITS = 200  # well below the larger of the sizes, so that letters outgrow it
_MAX_NUMBER = 10**15
_POINTS = 12


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, read and within its limits."""

    text: str
    """As the candidate wrote it."""
    root: Node

    @property
    def letters(self) -> frozenset[str]:
        """The letters that occur."""
        return frozenset(letters_in(self.root))

    def evaluate(self, values: Mapping[str, int | Fraction]) -> Fraction | float:
        """Return the value where each letter has its entry in `values`; log has base 2.

        Returns:
            A Fraction where the value is exact, a float where a root or logarithm was rounded.

        Raises:
            FormulaError: There is no such value, or it is too large.
        """
        value = value_of(self.root, values)
        exact = Fraction(value.over, value.under)
        if value.exact:
            return exact
        try:
            return float(exact)
        except OverflowError:
            raise FormulaError("the formula gets too large to work out") from None


class Outcome(Enum):
    """How the growth of a formula compares with the growth expected."""

    EQUAL = "equal"
    TOO_SMALL = "too small"
    TOO_LARGE = "too large"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Growth:
    """The result of comparing the growth of two formulas."""

    outcome: Outcome
    regime: str = ""
    """Where the two differ, as in "when d grows faster than n"; empty when they are equal."""
    detail: str = ""
    """One clause for the candidate, regime included; empty when they are equal."""

    @property
    def is_equal(self) -> bool:
        """Whether each is Θ of the other."""
        return self.outcome is Outcome.EQUAL


def parse(text: str, letters: Collection[str]) -> Formula:
    """Read a formula such as `n**2*d`, `O(n² d)` or `$\\Theta(n^{2} \\cdot d)$`.

    Raises:
        FormulaError: `text` is no formula in `letters`, or is over a limit.
    """
    return Formula(text, parse_tree(text, letters))


def from_answer(value: object, letters: Collection[str]) -> Formula:
    """Read an answer given as text or as a plain number.

    Raises:
        FormulaError: `value` is neither, or is no formula in `letters`.
    """
    # Exact types: a bool is no answer, and a subclass may run code of its own.
    if type(value) is str:
        return parse(value, letters)
    if type(value) is int and abs(value) <= _MAX_NUMBER:
        return Formula(str(value), Fraction(value))
    if type(value) is float and _is_plain(value):
        return Formula(repr(value), Fraction(repr(value)))
    if type(value) in (int, float):
        raise FormulaError(f"the number is not finite, or beyond {float(_MAX_NUMBER):.0e}")
    raise FormulaError(f"found {type(value).__name__}; write the formula as text, like 'n^2*d'")


def _is_plain(value: float) -> bool:
    return value == 0 or 1 / _MAX_NUMBER <= abs(value) <= _MAX_NUMBER


def equal_exactly(f: Formula, g: Formula) -> bool:
    """Tell whether two rational functions are identical, by their values at random points.

    Where roots or logarithms are rounded, values may differ in the last digits.
    """
    letters = sorted(f.letters | g.letters)
    draw = random.Random(len(letters))
    points = [{name: draw.randrange(10**6, 10**9) for name in letters} for _ in range(_POINTS)]
    try:
        return all(_agree(f.evaluate(point), g.evaluate(point)) for point in points)
    except FormulaError:
        return False


def _agree(a: Fraction | float, b: Fraction | float) -> bool:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    try:
        return math.isclose(a, b, rel_tol=1e-12)
    except OverflowError:
        return False


def same_growth(f: Formula, g: Formula, at_most: Sequence[tuple[str, str]] = ()) -> Growth:
    """Tell whether f = Θ(g) as the letters go to infinity at any relative rates.

    Args:
        f: The candidate's formula.
        g: The formula expected.
        at_most: Pairs (small, large) of letters for which small ≤ large always holds.

    Raises:
        ValueError: `g` has no positive value somewhere.
    """
    if constant_bits(f.root) > _MAX_CONSTANT_BITS:
        return Growth(Outcome.UNDEFINED, "", "the formula holds constants beyond any sense")
    for direction in directions_of(f.letters | g.letters, at_most):
        regime = describe(direction)
        try:
            expected = _logs(g, direction)
        except FormulaError as error:
            raise ValueError(f"expected formula {g.text!r} {regime}: {error}") from error
        try:
            found = _logs(f, direction)
        except FormulaError as error:
            return Growth(Outcome.UNDEFINED, regime, f"{error}, {regime}")
        drift = (found[1] - expected[1]) - (found[0] - expected[0])
        if abs(drift) > _MAX_DRIFT:
            return _other_growth(drift > 0, regime)
    if has_logarithm(f.root) or has_logarithm(g.root):
        return _same_order(f, g, at_most)
    return Growth(Outcome.EQUAL)


def _same_order(f: Formula, g: Formula, at_most: Sequence[tuple[str, str]]) -> Growth:
    """Tell whether two formulas have one order wherever letters lie a logarithm apart."""
    for tiers in tiers_of(f.letters | g.letters, closure(at_most)):
        regime = describe_tiers(tiers)
        try:
            expected, found = order_of(g.root, tiers), order_of(f.root, tiers)
        except Undecided:
            continue
        except FormulaError as error:
            return Growth(Outcome.UNDEFINED, regime, f"{error}, {regime}")
        if found.factor <= 0:
            detail = f"the formula is zero or negative, {regime}"
            return Growth(Outcome.UNDEFINED, regime, detail)
        if found.units != expected.units:
            return _other_growth(found.units > expected.units, regime)
    return Growth(Outcome.EQUAL)


def _other_growth(is_faster: bool, regime: str) -> Growth:
    if is_faster:
        return Growth(Outcome.TOO_LARGE, regime, f"the formula grows too fast {regime}")
    return Growth(Outcome.TOO_SMALL, regime, f"the formula grows too slowly {regime}")


def _logs(formula: Formula, direction: Direction) -> tuple[float, float]:
    small, large = (_log2_at(formula, direction, size) for size in _SIZES)
    return small, large


def _log2_at(formula: Formula, direction: Direction, size: int) -> float:
    values = {name: 1 << bits(level, size) for name, level in direction.items()}
    value = value_of(formula.root, values)
    if value.over <= 0:
        raise FormulaError("the formula is zero or negative")
    return value.log2
