"""The leading order of a formula where letters lie a logarithm apart, and the regimes for that.

A regime puts the letters into tiers, the fastest first. Letters of one tier grow alike; the
logarithm ℓ of a tier outgrows every power of the letters in the tiers below. The size of a product
of letters and logarithms is then given by its logarithm, in the units

    ℓ₁, log ℓ₁, ℓ₂, log ℓ₂, …        each beyond any multiple of the next

so products are compared as lists of numbers, and a sum is as large as its largest term. Nothing is
rounded at any size: constants and terms that are outweighed do not show.
"""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from mha_judge.grading.formulas.regimes import listed
from mha_judge.grading.formulas.tree import Call, FormulaError, Function, Node, Power

_CANCELS = 1e-9
"""Share of its terms below which a sum may be nothing but rounding."""
_MOST_LETTERS = 5
"""For more letters, only regimes of two tiers, and of three with one letter in two of them."""

Tiers = Mapping[str, int]
"""The tier of each letter; 0 is the fastest."""


class Undecided(Exception):
    """Leading terms cancel, so that what is left does not show."""


@dataclass(frozen=True, slots=True)
class Order:
    """A leading term: a factor, and the logarithm of the rest."""

    factor: float
    """0 only where a formula has the number 0 itself."""
    units: tuple[float, ...]
    """The multiple of each unit, from ℓ₁ on."""


def tiers_of(letters: Collection[str], at_most: Collection[tuple[str, str]]) -> list[Tiers]:
    """Return the regimes of at least two tiers, those of few tiers first.

    Args:
        letters: The letters to put into tiers.
        at_most: Pairs (small, large), with all that follows from them.
    """
    names = sorted(letters)
    found = [dict(zip(names, places, strict=True)) for places in _places(len(names))]
    pairs = [pair for pair in at_most if set(pair) <= set(names)]
    allowed = [one for one in found if all(one[small] >= one[large] for small, large in pairs)]
    return sorted(allowed, key=lambda one: max(one.values()))


def describe_tiers(tiers: Tiers) -> str:
    """Say what outgrows what, as in "when log d grows faster than every power of n"."""
    ordered = sorted(tiers, key=tiers.__getitem__)
    groups = [list(names) for _, names in itertools.groupby(ordered, key=tiers.__getitem__)]
    steps = [
        f"{listed([f'log {name}' for name in fast])} {'grow' if len(fast) > 1 else 'grows'} "
        f"faster than every power of {listed(slow)}"
        for fast, slow in itertools.pairwise(groups)
    ]
    return "when " + ", ".join(steps)


def order_of(node: Node, tiers: Tiers) -> Order:
    """Return the leading term of a formula in a regime.

    Raises:
        FormulaError: There is none: a division by zero, a root or logarithm that is not defined.
        Undecided: The leading terms of a part cancel.
    """
    match node:
        case Fraction():
            return Order(float(node), _nothing(tiers))
        case str():
            return Order(1.0, _unit(2 * tiers[node], tiers))
        case Power(base, exponent):
            return _power(order_of(base, tiers), float(exponent))
        case Call(function, arguments):
            return _call(function, [order_of(argument, tiers) for argument in arguments], tiers)


def _call(function: Function, arguments: Sequence[Order], tiers: Tiers) -> Order:
    match function:
        case Function.SUM:
            return _sum(arguments)
        case Function.PRODUCT:
            return reduce(_multiply, arguments)
        case Function.LOG:
            return _log(arguments[0], tiers)
    best = arguments[0]
    for other in arguments[1:]:
        if _is_larger(other, best) == (function is Function.MAX):
            best = other
    return best


def _places(count: int) -> Iterator[tuple[int, ...]]:
    """Yield tiers for so many letters, every tier with a letter in it."""
    tiers = range(count if count <= _MOST_LETTERS else 2)
    for places in itertools.product(tiers, repeat=count):
        if len(set(places)) == max(places, default=0) + 1 > 1:
            yield places
    if count > _MOST_LETTERS:
        for fast, slow in itertools.permutations(range(count), 2):
            yield tuple(0 if i == fast else 2 if i == slow else 1 for i in range(count))


def _nothing(tiers: Tiers) -> tuple[float, ...]:
    return (0.0,) * (2 * max(tiers.values(), default=0) + 2)


def _unit(index: int, tiers: Tiers) -> tuple[float, ...]:
    return tuple(float(i == index) for i in range(len(_nothing(tiers))))


def _multiply(a: Order, b: Order) -> Order:
    return Order(
        _bounded(a.factor * b.factor), tuple(x + y for x, y in zip(a.units, b.units, strict=True))
    )


def _bounded(factor: float) -> float:
    if not math.isfinite(factor):
        raise Undecided
    return factor


def _power(base: Order, exponent: float) -> Order:
    if base.factor < 0 and not exponent.is_integer():
        raise FormulaError("the formula takes the root of a negative number")
    if base.factor == 0 and exponent < 0:
        raise FormulaError("the formula divides by zero")
    try:
        factor = base.factor**exponent
    except OverflowError:
        raise Undecided from None
    return Order(factor, tuple(exponent * one for one in base.units))


def _sum(terms: Sequence[Order]) -> Order:
    there = [term for term in terms if term.factor]
    if not there:
        return terms[0]
    largest = max(term.units for term in there)
    factors = [term.factor for term in there if term.units == largest]
    total = math.fsum(factors)
    if abs(total) <= _CANCELS * math.fsum(map(abs, factors)):
        raise Undecided
    return Order(_bounded(total), largest)


def _log(argument: Order, tiers: Tiers) -> Order:
    if argument.factor <= 0:
        raise FormulaError("the formula takes the logarithm of a number that is not positive")
    for index, count in enumerate(argument.units):
        if count:  # a whole number of ℓ: the parser lets no logarithm stand in another one
            return Order(count, _unit(index + 1, tiers))
    value = math.log2(argument.factor)
    if abs(value) <= _CANCELS:  # log(1 + 1/n) is not 0
        raise Undecided
    return Order(value, _nothing(tiers))


def _is_larger(a: Order, b: Order) -> bool:
    try:
        return _sum([a, Order(-b.factor, b.units)]).factor > 0
    except Undecided:  # alike as far as leading terms go, so either will do
        return False
