"""The tree of a formula, and its value at a point.

A value is a quotient of integers that is never reduced: at the sizes used to compare growth,
greatest common divisors would cost far more than they save.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import reduce

_MAX_BITS = 1 << 16
_ROOT_BITS = 64


class FormulaError(ValueError):
    """A formula cannot be read, or has no value where one is needed."""


class Function(Enum):
    """What is done with several formulas, or with one."""

    SUM = "sum"
    PRODUCT = "product"
    LOG = "log"
    MAX = "max"
    MIN = "min"


@dataclass(frozen=True, slots=True)
class Power:
    """A base to a constant power whose denominator is 1, 2 or 4; so are divisors and roots."""

    base: "Node"
    exponent: Fraction


@dataclass(frozen=True, slots=True)
class Call:
    """A function of other nodes; `LOG` has one argument and base 2."""

    function: Function
    arguments: tuple["Node", ...]


Node = Fraction | str | Power | Call
"""A number, a letter, or what is made of them."""


@dataclass(frozen=True, slots=True)
class Value:
    """The number `over / under`."""

    over: int
    under: int
    """Positive."""
    exact: bool = True
    """False where a root or logarithm was rounded."""

    @property
    def log2(self) -> float:
        """The logarithm to base 2; the value must be positive."""
        return math.log2(self.over) - math.log2(self.under)


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below `node`."""
    match node:
        case Call(_, nodes):
            return nodes
        case Power(base):
            return (base,)
        case _:
            return ()


def letters_in(node: Node) -> Iterator[str]:
    """Yield every letter in the tree, repeats included."""
    if isinstance(node, str):
        yield node
    for child in children(node):
        yield from letters_in(child)


def has_logarithm(node: Node) -> bool:
    """Tell whether a logarithm occurs."""
    is_one = isinstance(node, Call) and node.function is Function.LOG
    return is_one or any(map(has_logarithm, children(node)))


def constant_bits(node: Node) -> float:
    """Return how far from 1 the constants of a formula could move it, in bits."""
    if isinstance(node, Fraction):
        size = abs(node)
        return abs(Value(size.numerator, size.denominator).log2) if size else 0.0
    if isinstance(node, Power):
        return abs(float(node.exponent)) * constant_bits(node.base)
    return sum(constant_bits(child) for child in children(node))


def value_of(node: Node, values: Mapping[str, int | Fraction]) -> Value:
    """Return the value of `node` where each letter has its entry in `values`.

    Raises:
        FormulaError: There is no such value (division by zero, root of a negative number,
            logarithm of a number that is not positive), or it is too large to work out.
    """
    match node:
        case Fraction():
            return Value(node.numerator, node.denominator)
        case str():
            return Value(values[node].numerator, values[node].denominator)
        case Power(base, exponent):
            return _power(value_of(base, values), exponent)
        case Call(function, nodes):
            return _call(function, [value_of(child, values) for child in nodes])


def _bounded(over: int, under: int, exact: bool) -> Value:
    if over.bit_length() > _MAX_BITS or under.bit_length() > _MAX_BITS:
        raise FormulaError("the formula gets too large to work out: lower its powers")
    return Value(over, under, exact)


def _add(a: Value, b: Value) -> Value:
    exact = a.exact and b.exact
    if a.under == b.under:
        return _bounded(a.over + b.over, a.under, exact)
    return _bounded(a.over * b.under + b.over * a.under, a.under * b.under, exact)


def _multiply(a: Value, b: Value) -> Value:
    return _bounded(a.over * b.over, a.under * b.under, a.exact and b.exact)


def _power(base: Value, exponent: Fraction) -> Value:
    root, degree = base, exponent.denominator
    while degree > 1:
        root, degree = _square_root(root), degree // 2
    times = exponent.numerator
    if times < 0:
        if root.over == 0:
            raise FormulaError("the formula divides by zero")
        sign = 1 if root.over > 0 else -1
        root, times = Value(sign * root.under, sign * root.over, root.exact), -times
    if times * max(root.over.bit_length(), root.under.bit_length()) > 2 * _MAX_BITS:
        raise FormulaError("the formula gets too large to work out: lower its powers")
    return _bounded(root.over**times, root.under**times, root.exact)


def _square_root(value: Value) -> Value:
    if value.over < 0:
        raise FormulaError("the formula takes the root of a negative number")
    square = value.over * value.under
    root = math.isqrt(square)
    if root * root == square:
        return _bounded(root, value.under, value.exact)
    root = math.isqrt(square << (2 * _ROOT_BITS))
    return _bounded(root, value.under << _ROOT_BITS, exact=False)


def _call(function: Function, arguments: list[Value]) -> Value:
    match function:
        case Function.SUM:
            return reduce(_add, arguments)
        case Function.PRODUCT:
            return reduce(_multiply, arguments)
        case Function.LOG:
            return _log2(arguments[0])
    best = arguments[0]
    for other in arguments[1:]:
        is_larger = other.over * best.under > best.over * other.under
        if is_larger == (function is Function.MAX):
            best = other
    return Value(best.over, best.under, all(argument.exact for argument in arguments))


def _log2(value: Value) -> Value:
    if value.over <= 0:
        raise FormulaError("the formula takes the logarithm of a number that is not positive")
    over, under = value.log2.as_integer_ratio()
    is_exact = value.over.bit_count() == value.under.bit_count() == 1
    return Value(over, under, value.exact and is_exact)
