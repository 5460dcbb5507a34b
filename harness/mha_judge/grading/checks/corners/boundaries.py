"""Sizes at which an answer decides otherwise, as it was seen to compare sizes in a call.

What a worker tells may be a lie. So it only adds questions, a few at most.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.session import NeverAsked
from mha_judge.grading.calling.target import Sent
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners.asking import Asking, Later
from mha_judge.grading.checks.corners.sized import args_at, at, cost
from mha_judge.grading.checks.corners.widths import LEADING, free_letters, free_widths, sizes_of
from mha_judge.grading.failures import CheckFailure
from mha_judge.wire.bounds import MAX_FORMULA
from mha_judge.wire.formulas import ARITHMETIC, COMPARISONS

_LENGTHS, _WIDTHS, _ITEMS, _HEADS = (23, 29, 31, 37), (11, 13, 17), 7, 5
"""Sizes of calls in which it is seen what sizes are compared with: primes, so that products tell
which they are. Those of a layer are what they are."""
_SEVERAL = 2
"""Items and heads of a question on the other side: of one alone little shows."""
_MODES = ("", "no_grad")
_MOST, _MOST_SEEN = 6, 60
"""Questions of each gradient mode on the other side of what was seen, and comparisons that are
looked at for them."""
Sizes = Mapping[str, int]
"""By letter."""
_MOST_FACTORS = 4
_LARGEST = 2**63
_EVERY = 130
"""Up to here every size is tried, and beyond it those that formulas name, and doubles of this."""
_SIZES = range(1 << 24)


class Comparison(NamedTuple):
    """What an answer compares, in letters."""

    formula: Any
    letters: frozenset[str]
    """Those that stand in it."""
    numbers: frozenset[int]
    """The whole numbers in it."""

    def holds(self, sizes: Sizes) -> bool | None:
        """Return whether it is true at some sizes; None if it has no value there."""
        try:
            return bool(_value(self.formula, sizes))
        except (ArithmeticError, KeyError):
            return None


def comparisons(told: Sequence[Any], sizes: Sizes) -> list[Comparison]:
    """Return what a worker says of a call, in the letters of the call's sizes.

    A number is taken for the fewest letters whose product it is, so sizes should be distinct
    primes. What is no comparison, or has no letters, is left out.

    Args:
        told: As `wire.formulas` describes it.
        sizes: The sizes of the call.
    """
    products = {
        math.prod(sizes[one] for one in letters): letters
        for count in range(_MOST_FACTORS, 0, -1)
        for letters in itertools.combinations(sorted(sizes), count)
    }
    found: list[Comparison] = []
    for one in told:
        try:
            formula = _in_letters(one, products, COMPARISONS)
        except ValueError:
            continue
        leaves = [*_leaves(formula)]
        if len(leaves) > MAX_FORMULA:
            continue
        letters = frozenset[str]().union(*(one for one in leaves if isinstance(one, frozenset)))
        if letters and formula[1] != formula[2]:
            numbers = frozenset(leaf for leaf in leaves if isinstance(leaf, int))
            found.append(Comparison(formula, letters, numbers))
    return found


def _in_letters(
    told: Any,
    products: Mapping[int, Collection[str]],
    names: Collection[str] = ARITHMETIC,
    depth: int = 0,
) -> Any:
    """Return a formula with sets of letters in place of sizes.

    Raises:
        ValueError: If it is none.
    """
    match told:
        case int(number) | [int(number)] if depth and abs(number) < _LARGEST:
            is_size = isinstance(told, list) and number in products
            return frozenset(products[number]) if is_size else int(number)
        case [str(name), one, other] if name in names and depth < MAX_FORMULA:
            parts = (_in_letters(part, products, ARITHMETIC, depth + 1) for part in (one, other))
            return name, *parts
    raise ValueError(told)


def _leaves(formula: Any) -> Iterator[int | frozenset[str]]:
    if isinstance(formula, tuple):
        for part in formula[1:]:
            yield from _leaves(part)
    else:
        yield formula


def _value(formula: Any, sizes: Sizes) -> int:
    if isinstance(formula, int):
        return formula
    if isinstance(formula, frozenset):
        return math.prod(sizes[letter] for letter in formula)
    name, one, other = formula
    value: int = getattr(int, name)(_value(one, sizes), _value(other, sizes))
    return value


def crossing(
    comparison: Comparison,
    asked: Iterable[Sizes],
    base: Sizes,
    groups: Iterable[Sequence[str]],
    fitting: Callable[[Sizes], Sizes],
    price: Callable[[Sizes], float],
) -> dict[str, int] | None:
    """Return the cheapest sizes on the side of a comparison where nothing was asked yet.

    Args:
        comparison: What an answer compares.
        asked: The sizes of questions so far.
        base: The sizes that others have.
        groups: Letters that may have another size, together the same.
        fitting: Returns sizes that the contract allows.
        price: What a question costs; infinite if it may not be asked.

    Returns:
        Sizes of some letters; None if both sides were asked for, or the other cannot be.
    """
    sides = {comparison.holds(sizes) for sizes in asked} - {None}
    if len(sides) == 2:
        return None
    wanted = sides != {True}
    found: list[tuple[float, dict[str, int]]] = []
    for group in groups:
        if comparison.letters.isdisjoint(group):
            continue

        def sized(size: int, group: Sequence[str] = group) -> dict[str, int]:
            return {**base, **fitting(dict.fromkeys(group, size))}

        size = _first(
            lambda size: comparison.holds(sized(size)) is wanted,
            bisect.bisect_left(_SIZES, True, key=lambda size: price(sized(size)) == math.inf) - 1,
            comparison.numbers,
        )
        if size is not None:
            found.append((price(sized(size)), dict.fromkeys(group, size)))
    return min(found, key=lambda one: one[0], default=(0.0, None))[1]


def _first(is_wanted: Callable[[int], bool], most: int, numbers: Iterable[int]) -> int | None:
    """Return the least size that is wanted, as far as some are tried; 1, which hides much, last.

    Args:
        is_wanted: Whether a size is.
        most: The largest that may be asked.
        numbers: Numbers around which it may lie.
    """
    named = {number + more for number in numbers for more in (-1, 0, 1)}
    doubles = {_EVERY << power for power in range(_SIZES.stop.bit_length())}
    before = 1
    for size in sorted({*range(1, _EVERY), *named, *doubles, most}):
        if before < size <= most:
            if is_wanted(size):
                return bisect.bisect_left(range(size), True, lo=before + 1, key=is_wanted)
            before = size
    return 1 if most > 0 and is_wanted(1) else None


class Seen(NamedTuple):
    """A call that only tells what an answer compares sizes with."""

    case: Case
    asked: Case
    """The same question with the sizes of the call."""
    mode: str
    """The gradient mode."""
    sent: Sent


def looking(asking: Asking, forms: Iterable[Case]) -> Iterator[Seen]:
    """Begin calls that tell what an answer compares sizes with.

    Args:
        asking: Asks the candidate.
        forms: A question of each form.
    """
    for case in map(asking.living, forms):
        if case.target.entry.arrays == "torch":
            sizes = [*zip(case.lengths, _LENGTHS, strict=False)]
            sizes += zip(([one] for one in free_widths(case)), _WIDTHS, strict=False)
            sizes += [(["H"], _HEADS)] * ("H" in free_letters(case))
            letters = case.fitting({one: size for equal, size in sizes for one in equal})
            args = args_at(asking, case, letters, _ITEMS, _HEADS)
            asked = case.asked_with(args)
            for mode in _MODES:
                with asking.allowing(asked):
                    sent = case.target.begin(args, observe="sizes", manner={"mode": mode})
                yield Seen(case, asked, mode, sent)


def across(
    asking: Asking, calls: Sequence[Seen], wrt: Mapping[str, Sequence[int]]
) -> Iterator[Later]:
    """Ask on both sides of what an answer was seen to compare sizes with.

    If checks ask for gradients, so do questions in which they are recorded; a layer is asked once
    more where its parameters alone learn.

    Args:
        asking: Asks the candidate, and knows at which sizes it did.
        calls: What was looked at.
        wrt: By entry, the inputs whose gradients checks ask for.
    """
    unseen, left = _MOST_SEEN, dict.fromkeys(_MODES, _MOST)
    for case, seen, mode, sent in calls:
        told: Sequence[Any] = ()
        with suppress(CheckFailure, NeverAsked):
            told = sent.wait().compared
        plain = case.asked_with(args_at(asking, case, {}, _SEVERAL, _SEVERAL))
        groups = [*case.lengths, case.long, *([one] for one in (*free_letters(case), *LEADING))]
        learning = (wrt.get(case.target.entry.name) or None) if not mode else None
        price = partial(cost, case, items=_SEVERAL, heads=_SEVERAL)
        compared = comparisons(told, sizes_of(seen))[:unseen]
        unseen -= len(compared)
        kinds = ["some", "none"] if isinstance(case.target, Layer) else ["some"]
        for kind, one in itertools.product(kinds if learning else [""], compared):
            if not left[mode]:
                break
            before = asking.sizes_asked(case, mode, kind)
            letters = crossing(one, before, sizes_of(plain), groups, case.fitting, price)
            if letters is not None:
                left[mode] -= 1
                leaf = kind if kind == "none" else ""
                yield at(asking, case, letters, "", mode, learning, leaf, _SEVERAL, _SEVERAL)
