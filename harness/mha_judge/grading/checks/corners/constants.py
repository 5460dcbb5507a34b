"""Sizes near the numbers that stand in an answer's source, which may be where it decides otherwise.

The cheapest are asked first, as far as a budget goes: a source may hold many numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners.asking import Asking, Finding, Later, sizes_in_words
from mha_judge.grading.checks.corners.sized import (
    args_at,
    asked_now,
    at,
    begun,
    cost,
    found,
    largest_input,
)
from mha_judge.grading.checks.corners.widths import free_letters, free_widths, items_of
from mha_judge.grading.formulas.constants import integers_in

_BUDGET = 400_000_000
"""What all these questions may cost together."""
_LEAST, _LARGEST = 8, 5_000
"""Numbers that may be sizes."""
_MOST, _MOST_HEADS = 6, 130
"""How many of them are asked for, and how many heads a layer may have."""
_COUNTS, _MOST_COUNTS = 1 << 20, 2
"""Larger numbers, which may be counts of numbers, and how many of them are asked for."""
_SIDE = 64
"""Each length of a call that has more numbers than such a count."""
_TWO = 2
"""Items of a call: of one alone layouts hardly tell."""
_OWN_WIDTH = 38
"""A width that is asked for nowhere else: what is kept for it has no other size yet."""


class _Priced(NamedTuple):
    """A question that is not asked yet."""

    price: float
    begin: Callable[[], Later]


def near_constants(
    asking: Asking,
    forms: Sequence[Case],
    wrt: Mapping[str, Sequence[int]],
) -> Iterator[Later]:
    """Ask for sizes around the numbers that stand in the source, small in every other length.

    Args:
        asking: Asks the candidate.
        forms: A question of each form: a branch may hold for one of them alone.
        wrt: By entry, the inputs whose gradients checks ask for.
    """
    left: float = _BUDGET
    for one in sorted(_priced(asking, forms, wrt), key=lambda one: one.price):
        left -= one.price
        if left < 0:
            return
        yield one.begin()


def _priced(
    asking: Asking,
    forms: Sequence[Case],
    wrt: Mapping[str, Sequence[int]],
) -> Iterator[_Priced]:
    """Yield the questions: the first form is asked for gradients, more sizes, items and heads."""
    constants = integers_in(asking.context.task.submission.source)
    for count in [one for one in constants if _LARGEST < one <= _COUNTS][:_MOST_COUNTS]:
        for case in forms[:1]:
            yield from _beyond(asking, case, count)
        for case in forms:
            yield _sized(asking, case, case.square(math.isqrt(count) + 1))
    for number, case in enumerate(forms):
        is_first, longest = number == 0, case.domain.longest
        learning = wrt.get(case.target.entry.name) if is_first else None
        for constant in [one for one in constants if _LEAST <= one <= _LARGEST][:_MOST]:
            sizes = [constant - 1, constant] if is_first else []
            sizes += [constant + 1, min(2 * constant + 1, longest)]
            graded = dict.fromkeys(size for size in sizes if size <= longest)
            yield from _around(asking, case, [*graded], learning)
            for given in (constant + 1, constant + 2):
                yield from _with_a_number(asking, case, given)
            if isinstance(case.target, Layer):
                yield from _in_manner(asking, case, constant + 1, "instance", "loaded")
            elif is_first:
                yield from _in_manner(asking, case, constant, "before", "filled")
            if is_first:
                yield _sized(asking, case, {}, items=constant + 1, wrt=learning)
            if is_first and constant < _MOST_HEADS and isinstance(case.target, Layer):
                price = cost(case, {}) * constant
                yield _Priced(price, partial(_with_heads, asking, case, constant + 1))


def _sized(
    asking: Asking,
    case: Case,
    letters: Mapping[str, int],
    items: int = 1,
    wrt: Sequence[int] | None = None,
    leaf: str = "",
) -> _Priced:
    """Return a question at some sizes, as `at` takes them."""
    letters = case.fitting(letters)
    begin = partial(at, asking, case, letters, wrt=wrt, leaf=leaf, items=items)
    return _Priced(cost(case, letters, items), begin)


def _told(
    asking: Asking,
    case: Case,
    where: str,
    letters: Mapping[str, int],
    items: int = 1,
    heads: int = 1,
    given: Mapping[int, int] = MappingProxyType({}),
) -> _Priced:
    """Return a question at some sizes, with some arguments given, that words of its own tell of."""

    def begin() -> Later:
        args = args_at(asking, case, letters, items, heads)
        for index, number in given.items():
            args[index] = number
        return found(asking, where, case, args)

    return _Priced(cost(case, letters, items, heads), begin)


def _with_heads(asking: Asking, case: Case, count: int) -> Later:
    of_heads = asking.with_heads(case, count)
    return found(asking, f"with {count} heads", of_heads, of_heads.args)


def _around(
    asking: Asking, case: Case, sizes: Sequence[int], wrt: Sequence[int] | None
) -> Iterator[_Priced]:
    """Yield questions with some sizes of each length; the others stay as they are, or are 1.

    At the last size gradients are asked for, too, and at the one before those of parameters alone.
    A mask that is cut may block all of a row, which tells nothing.
    """
    for letters in [*case.lengths, *([letter] for letter in free_letters(case))]:
        others = [one for equal in case.lengths if equal != letters for one in equal]
        ones = dict.fromkeys(others, 1) if letters in case.lengths else {}
        plain = {one: case.shapes.letters[one] for one in others}
        asked = [(size, plain) for size in sizes] + [(sizes[-1], ones)] * (ones != plain)
        for size, beside in asked:
            longer = {**beside, **dict.fromkeys(letters, size)}
            items = _TWO if math.isfinite(cost(case, longer, _TWO)) else 1
            learning = wrt if size in sizes[-2:] else None
            leaf = "" if size == sizes[-1] else "none"
            yield _sized(asking, case, longer, items, learning, leaf)


def _in_manner(asking: Asking, case: Case, size: int, axis: str, value: str) -> Iterator[_Priced]:
    """Yield a question at equal lengths in a manner that may tell what was kept for this size.

    A buffer that has grown may be too large for a new layer, or be handed out itself.
    """
    if not asking.context.may_notice(axis, value):
        return
    letters = case.square(size)
    wide, other = (
        {**letters, **dict.fromkeys(free_widths(case), width)}
        for width in (_OWN_WIDTH, _OWN_WIDTH + 2)
    )

    where, manner = f"where {sizes_in_words(letters)}", {axis: value, "number": 1}
    begin = partial(_only_so, asking, case, where, manner, wide, other)
    yield _Priced(cost(case, other), begin)


def _beyond(asking: Asking, case: Case, count: int) -> Iterator[_Priced]:
    """Yield questions with more items, numbers or pairs of positions than a count in the source.

    Of an entry that takes no tensors, the result is overwritten.
    """
    if case.target.entry.arrays == "either":
        yield from _in_manner(asking, case, count // _OWN_WIDTH + 1, "before", "filled")
    if items_of(case) is None:
        return
    ones, letters, leading = case.square(1), case.square(_SIDE), len(case.shapes.leading)
    yield _told(asking, case, f"with {count + 1} items", ones, count + 1)
    for size, what in (
        (largest_input(case, letters), "numbers in an input"),
        (_SIDE**2, "pairs of positions"),
    ):
        heads = min(2, leading) or 1  # of which no view makes one axis
        items = count // size // heads + 1
        where = f"with more than {count} {what}"
        many = _told(asking, case, where, letters, items, heads)
        yield many
        # in another layout, so that a buffer is used twice
        manner = {"layout": "reversed"}
        begin = partial(_only_so, asking, case, where, manner, letters, letters, items, heads)
        yield many._replace(begin=begin)


def _only_so(
    asking: Asking,
    case: Case,
    where: str,
    manner: Mapping[str, Any],
    letters: Mapping[str, int],
    plain: Mapping[str, int],
    items: int = 1,
    heads: int = 1,
) -> Later:
    """Begin to ask in a manner; what is wrong in a plain call, at its sizes, is told already."""
    args, others = (args_at(asking, case, one, items, heads) for one in (letters, plain))
    verdict = begun(asking, case, args, manner)
    axis, value = next(iter(manner.items()))

    def finding() -> Finding:
        failure = verdict()
        if failure is not None and asked_now(asking, case, others) is not None:
            failure = None
        return Finding(f"{where}, {AXES[axis][value]}", failure, axis)

    return finding


def _with_a_number(asking: Asking, case: Case, number: int) -> Iterator[_Priced]:
    """Yield questions with arguments that are numbers, such as a block size, at such lengths."""
    names = case.target.entry.arguments
    for index, value in enumerate(case.args):
        is_size = names[index] in case.shapes.letters or names[index] in case.domain.shapes
        if type(value) is not int or is_size:
            continue
        for size in (number, 2 * number + 1):
            letters = case.square(size)
            where = f"where {names[index]} is {number} and {sizes_in_words(letters)}"
            yield _told(asking, case, where, letters, given={index: number})
