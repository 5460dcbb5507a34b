"""Asks at given sizes, with numbers of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mha_judge.bank.problem import axes_of
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.session import NeverAsked
from mha_judge.grading.calling.target import Wanted
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners import numbers
from mha_judge.grading.checks.corners.asking import (
    Asking,
    Finding,
    Later,
    Verdict,
    pairs_of,
    sizes_in_words,
)
from mha_judge.grading.checks.corners.masks import blocking
from mha_judge.grading.checks.corners.widths import LEADING, narrow
from mha_judge.grading.failures import CheckFailure, TimedOut
from mha_judge.wire.bounds import MAX_TENSOR_BYTES

_NUMBERS = 80_000_000
"""What a naive answer may compute in a call: mostly pairs of positions times their features."""
_LEAST_FEATURES = 8
"""Those that a pair of positions has at least, as it costs something by itself."""
_LARGEST_BYTES = 26_000_000
"""Of the weights of a call, or of an input. Both may come back, the gradient of a mask for one."""
assert 2 * _LARGEST_BYTES < MAX_TENSOR_BYTES
_COPIES = 4
"""Of a state for each position, D × D, which linear attention may hold at once."""
_OF_AN_ITEM = 2_000
"""Numbers that an item counts for, be it ever so short: a loop takes time, and a graph memory."""


def at(
    asking: Asking,
    case: Case,
    letters: Mapping[str, int],
    mask: str = "",
    mode: str = "",
    wrt: Sequence[int] | None = None,
    leaf: str = "",
    items: int = 1,
    heads: int = 1,
) -> Later:
    """Begin to ask at some sizes.

    Args:
        asking: Asks the candidate.
        case: The question.
        letters: The sizes, those of leading axes without letters too; other lengths stay as they
            are, and what else may have another size is least.
        mask: Which keys are blocked, as `blocking` takes it; empty for none.
        mode: The gradient mode.
        wrt: Inputs whose gradients are asked for, with those of parameters; None for no gradients.
        leaf: If it is `none`, parameters alone learn.
        items: How many there are, if `letters` does not say it.
        heads: The size of a second leading axis that has no letter, alike.
    """
    letters = case.fitting(letters)
    args = args_at(asking, case, letters, items, heads)
    if mask:
        args = blocking(case, args, mask, asking.draw)
    manner = {"mode": mode} if case.target.entry.arrays == "torch" else {}
    where = f"where {sizes_in_words(letters) if letters else f'there are {items} items'}"
    if mask:
        where += " and the first keys are blocked"
    verdict = begun(asking, case, args, manner, wrt, leaf)
    is_plain = wrt is None and not manner.get("mode")

    def finding() -> Finding:
        failure = verdict()
        if failure is not None and not isinstance(failure, TimedOut) and not is_plain:
            plain = asked_now(asking, case, args)
            if plain is None and leaf and asked_now(asking, case, args, wrt=wrt) is None:
                return Finding(f"{where}, {AXES['leaf'][leaf]}", failure, "leaf")
            if plain is None and wrt is not None:
                return Finding(f"{where}, in its gradients", failure, "gradient")
            if plain is None:
                return Finding(f"{where} {AXES['mode'][mode]}", failure, "mode")
            failure = plain
        return Finding(where, failure, "length")

    return finding


def found(asking: Asking, where: str, case: Case, args: Sequence[Any]) -> Later:
    """Begin to ask with some arguments, which the words after "wrong" tell of."""
    verdict = begun(asking, case, args)
    return lambda: Finding(where, verdict(), "length")


def asked_now(
    asking: Asking, case: Case, args: Sequence[Any], wrt: Sequence[int] | None = None
) -> CheckFailure | None:
    """Return how the answer to some arguments is wrong, or its gradients; None if it is right."""
    case = case.asked_with(args)
    return asking.ask(case, args, wanted=_wanted(asking, case, args, wrt))


def _wanted(
    asking: Asking, case: Case, args: Sequence[Any], wrt: Sequence[int] | None, leaf: str = ""
) -> Wanted | None:
    """Return the gradients that are asked for of some inputs, and of parameters; None for none."""
    if wrt is None:
        return None
    through = [*case.target.entry.returns[:1], *{"weights"} & {*case.names[1:]}]
    return numbers.wanted(case, args, asking, wrt, {"leaf": leaf}, through)


def begun(
    asking: Asking,
    case: Case,
    args: Sequence[Any],
    manner: Mapping[str, Any] | None = None,
    wrt: Sequence[int] | None = None,
    leaf: str = "",
) -> Verdict:
    """Begin to ask with some arguments, again if an earlier question ends the worker.

    Args:
        asking: Asks the candidate.
        case: The question.
        args: The arguments of the call.
        manner: The manner of the call; plain by default.
        wrt: As in `at`.
        leaf: As in `at`.
    """
    case = case.asked_with(args)
    wanted = _wanted(asking, case, args, wrt, leaf)
    verdict = asking.begin(case, args, manner, wanted=wanted)

    def told() -> CheckFailure | None:
        try:
            return verdict()
        except NeverAsked:
            return asking.ask(case, args, manner, wanted=wanted)

    return told


def args_at(
    asking: Asking, case: Case, letters: Mapping[str, int], items: int = 1, heads: int = 1
) -> list[Any]:
    """Return arguments of some sizes, with numbers of their own and least widths.

    Args:
        asking: Draws the numbers.
        case: The question.
        letters: As in `at`.
        items: As in `at`.
        heads: As in `at`.
    """
    sizes = _sizes_at(case, letters, items, heads)
    spread = [sizes.get(one, 0) for one in LEADING]
    args = case.shapes.at(sizes, asking.draw, leading=1, spread=spread)
    longer = max(letters.get(one, 1) / case.shapes.letters[one] for one in case.long)
    for name in case.domain.grow if longer > 1 else ():
        index = case.target.entry.arguments.index(name)
        if index < len(args) and args[index] is not None:
            args[index] = math.ceil(args[index] * longer)
    return args


def _sizes_at(case: Case, letters: Mapping[str, int], items: int, heads: int) -> dict[str, int]:
    batch = {"B": items} if "B" in case.shapes.letters else {}
    leading = zip(LEADING[: len(case.shapes.leading)], (items, heads), strict=False)
    return {**narrow(case), **batch, **dict(leading), **letters}


def largest_input(case: Case, letters: Mapping[str, int]) -> int:
    """Return how many numbers the largest input of one item has.

    Args:
        case: The question.
        letters: As in `at`.
    """
    sizes = {**case.shapes.letters, **_sizes_at(case, letters, 1, 1)}
    names = [case.target.entry.arguments[index] for index in case.shapes.numbers]
    return max((_product(sizes, axes_of(case.domain.shapes[one])) for one in names), default=1)


def cost(case: Case, letters: Mapping[str, int], items: int = 1, heads: int = 1) -> float:
    """Return how many numbers a naive answer computes; infinity for what may not be asked.

    That is too many of them, a length that is not graded, or a tensor that is too large.

    Args:
        case: The question.
        letters: As in `at`.
        items: As in `at`.
        heads: As in `at`.
    """
    sizes = {**case.shapes.letters, **_sizes_at(case, letters, items, heads)}
    lengths = [sizes[one] for one in case.long]
    if max(lengths) > case.domain.longest:
        return math.inf
    shapes = [axes_of(one) for one in case.domain.shapes.values()]
    leading = math.prod(sizes.get(one, 1) for one in LEADING)
    largest = leading * max(_product(sizes, axes) for axes in shapes)
    widths = {**sizes, **dict.fromkeys([*case.long, "B"], 1)}
    each = max(_LEAST_FEATURES, *(_product(widths, axes) for axes in shapes))
    if case.shapes.numbers:  # without scores, too: a right answer may hold the Jacobian of a row
        each *= min(lengths)
    if case.domain.scores:
        largest = max(largest, pairs_of(case, sizes))
    elif numbers.takes_q_and_k(case):
        each = max(each, _COPIES * sizes.get("H", 1) * sizes.get("D", 1) ** 2)
    computed = leading * sizes.get("B", 1) * (max(lengths) * each + _OF_AN_ITEM)
    fits = computed <= _NUMBERS and largest * case.dtype.itemsize <= _LARGEST_BYTES
    return computed if fits else math.inf


def _product(sizes: Mapping[str, int], axes: Sequence[str]) -> int:
    return math.prod(sizes.get(axis, 1) for axis in axes)
