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
    sizes_in_words,
)
from mha_judge.grading.checks.corners.masks import blocking
from mha_judge.grading.checks.corners.widths import LEADING, narrow
from mha_judge.grading.failures import CheckFailure, TimedOut

NUMBERS = 40_000_000
"""Numbers that a naive answer may compute in a call: pairs of positions times their features."""


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
    batch = {"B": items} if "B" in case.shapes.letters else {}
    sizes = {**narrow(case), **batch, **letters}
    spread = [letters.get(one, size) for one, size in zip(LEADING, (items, heads), strict=True)]
    args = case.shapes.at(sizes, asking.draw, leading=1, spread=spread)
    longer = max(letters.get(one, 1) / case.shapes.letters[one] for one in case.long)
    for name in case.domain.grow if longer > 1 else ():
        index = case.target.entry.arguments.index(name)
        if index < len(args) and args[index] is not None:
            args[index] = math.ceil(args[index] * longer)
    return args


def features(case: Case) -> int:
    """Return how many numbers a naive answer computes for each pair of positions."""
    sizes = {**case.shapes.letters, **dict.fromkeys([*case.long, "B"], 1)}
    shapes = case.domain.shapes.values()
    return max(8, *(math.prod(sizes.get(axis, 1) for axis in axes_of(one)) for one in shapes))
