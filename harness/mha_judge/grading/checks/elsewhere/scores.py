"""Scores as large as they may be, and rows in which the open ones are very low."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.calling.function import Function
from mha_judge.grading.checks.cases import Case, in_dtype
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.expected import Logits, exact_copy, in_float64
from mha_judge.wire import map_tree

LARGEST_SCORE = 200_000
"""How large scores are that are graded. A fill of −1e9 is far below; one of −1e4 is not."""
_WIDEST_SCALE = 1_000.0
_SCALE = 300.0
"""What inputs are multiplied with where the reference does not show its scores."""
_DRAWS = 6
"""Inputs of which those are asked with that leave a row the lowest scores."""
_Numbers = Mapping[int, Any]
"""Inputs by their place: tensors, or tuples of them."""


def scores(asking: Asking, case: Case, number: int) -> Iterator[Finding]:
    """Ask with other numbers of the same shapes, whose scores are as large as they may be."""
    if not case.domain.scores or case.is_half:
        return
    if asking.is_also_in(torch.float64, case):  # rounding would show in float32
        case = in_dtype(case, torch.float64)
    names = case.target.entry.arguments
    numbers, of_scores = _scored(case), _takes_q_and_k(case)
    for _ in range(3 if case.shapes.flags() or case.domain.masks else 1):
        drawn = [_others(asking, numbers) for _ in range(_DRAWS)]
        fresh = max(drawn, key=lambda one: _overtaken(case, case.with_numbers(one)))
        yield _asked(asking, case, fresh, "where scores are large")
    if of_scores:
        polar = {index: _polar(asking.draw, value) for index, value in numbers.items()}
        yield _asked(asking, case, polar, "where scores are as far apart as can be")
        low = _others(asking, numbers)
        low[names.index("q")] = low[names.index("q")].abs()
        low[names.index("k")] = -low[names.index("k")].abs()
        yield _asked(asking, case, low, "where every score is very low")


def enlarged(case: Case) -> tuple[list[Any], float]:
    """Return the arguments with scores about as large as they may be, and the largest one."""
    args = _scaled(case, _scored(case), steps=1)
    return args, _largest_score(case, args)


def shows_scores(case: Case) -> bool:
    """Return whether it is known how large scores are, and so how far rounding may go."""
    return _largest_score(case, case.args) > 0


def _takes_q_and_k(case: Case) -> bool:
    return isinstance(case.target, Function) and {"q", "k"} <= {*case.target.entry.arguments}


def _scored(case: Case) -> dict[int, Any]:
    """Return the inputs that scores are made of."""
    numbers = {**case.shapes.numbers(), **case.shapes.tuples()}
    names = case.target.entry.arguments
    if _takes_q_and_k(case):
        return {index: value for index, value in numbers.items() if names[index] in ("q", "k")}
    return numbers


def _asked(asking: Asking, case: Case, numbers: _Numbers, where: str) -> Finding:
    args = _scaled(case, numbers)
    return Finding(where, asking.ask(case, args, score=_largest_score(case, args)))


def _others(asking: Asking, numbers: _Numbers) -> dict[int, Any]:
    return {index: map_tree(asking.like, value) for index, value in numbers.items()}


def _times(numbers: _Numbers, factor: float) -> dict[int, Any]:
    return {i: map_tree(lambda one: one * factor, value) for i, value in numbers.items()}


def _polar(draw: Draw, value: Tensor) -> Tensor:
    """Return numbers that make all scores equal in size, whatever their signs."""
    signs = draw.normal(*value.shape[:-1], 1, dtype=torch.float64).sign()
    return signs.expand(value.shape).to(value.dtype).contiguous()


def _scaled(case: Case, numbers: _Numbers, steps: int = 3) -> list[Any]:
    """Return the arguments with scores as large as they may be, found in some steps."""
    reached, scale = _largest_score(case, case.with_numbers(numbers)), 1.0
    for _ in range(steps):
        if not reached or scale >= _WIDEST_SCALE:
            break
        scale = min(_WIDEST_SCALE, scale * (LARGEST_SCORE / reached) ** 0.5)
        reached = _largest_score(case, case.with_numbers(_times(numbers, scale)))
    scale = scale if reached else _SCALE
    return case.with_numbers(_times(numbers, scale))


def _largest_score(case: Case, args: Sequence[Any]) -> float:
    """Return the largest number that goes into a softmax; 0 where it cannot be known."""
    return _scores_of(case, args)[0] or _largest_product(case, args)


def _overtaken(case: Case, args: Sequence[Any]) -> float:
    """Return how low all scores of a row are that are not blocked, beside the largest one.

    A number that stands for −∞ and is not low enough overtakes them.
    """
    largest, lowest = _scores_of(case, args)
    return -lowest / largest if largest else 0.0


def _scores_of(case: Case, args: Sequence[Any]) -> tuple[float, float]:
    """Return the largest score in size, and the lowest that the largest one of a row is."""

    def ask() -> tuple[float, float]:
        exact, _ = case.target.references()
        logits = Logits(rows=True)
        with torch.no_grad(), logits, in_float64():
            exact(*(map_tree(exact_copy, value) for value in args))
        return logits.largest, logits.lowest

    return case.target.remembered(("scores", args), ask)


def _largest_product(case: Case, args: Sequence[Any]) -> float:
    """Return the largest product of a query and a key over √D; 0 where nothing takes both."""
    named = dict(zip(case.target.entry.arguments, args, strict=False))
    if not _takes_q_and_k(case):
        return 0.0
    q, k = named["q"].double(), named["k"].double()
    if q.shape[-1] != k.shape[-1] or q.shape[:-2] != k.shape[:-2]:
        return 0.0  # such as keys for several heads
    return float((q @ k.mT).abs().max()) / math.sqrt(q.shape[-1])
