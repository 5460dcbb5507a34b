"""Scores as large as they may be, and rows in which the open ones are very low."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners.numbers import takes_q_and_k
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.expected import Logits, exact_copy, in_float64
from mha_judge.wire import map_tree

LARGEST_SCORE = 200_000
"""How large graded scores get. A fill of −1e9 is far below all of them, one of −1e4 is not."""
_RISE = 300.0
"""How far scores rise in all: from one block of keys to the next by little."""
_RISE_SLOWLY = 20.0
"""To weights that some answers take for nothing, which large values make count."""
_TENS = 20.0
"""Of which the exponential is no number of half precision."""
_NEARLY_OVERFLOWING = 87.9
"""In float32 the exponential of this is a number, and the sum of four such is none."""
_LARGEST = {
    "rising": _RISE,
    "rising slowly": _RISE_SLOWLY,
    "falling": _RISE_SLOWLY,
    "in the tens": _TENS,
    "level": _NEARLY_OVERFLOWING,
}
_WIDEST_SCALE = 1_000.0
_SCALE = 300.0
"""The factor for inputs if the reference does not show its scores."""
_LAST = {"last": -2, "last item": 0}
"""The axis along which the scores of the last alone are large."""
_Numbers = Mapping[int, Any]
"""Inputs by their place: tensors, or tuples of them."""


def enlarged(case: Case, how: str, draw: Draw) -> tuple[list[Any], float]:
    """Return the arguments with scores about as large as they may be, and the largest one.

    That is 0 if the reference shows it, with every answer.

    Args:
        case: The question.
        how: `large`; `apart`, where every score is as large, of either sign; `low`, where all are
            below zero; `last` or `last item`, where those of one alone are large;
            `rising`, by as much from each key to the next, `rising slowly`, or `falling`;
            `level`, all equal; `in the tens` only.
        draw: Draws the signs.
    """
    numbers = _scored(case)
    if how == "apart":
        numbers = {index: _polar(draw, value) for index, value in numbers.items()}
    elif how in ("rising", "rising slowly", "falling"):
        if how != "rising":  # by as much for each query
            numbers = {index: torch.ones_like(value) for index, value in numbers.items()}
        numbers = _rising(case, numbers, -1 if how == "falling" else 1)
    elif how == "level":
        numbers = {index: torch.ones_like(value) for index, value in numbers.items()}
    elif how == "low":
        names = case.target.entry.arguments
        q, k = names.index("q"), names.index("k")
        numbers = {q: numbers[q].abs(), k: -numbers[k].abs()}
    args = case.with_numbers(numbers)
    shown = _largest_logit(case, args)
    reached = shown or _largest_product(case, args)
    # scores grow as the square of the numbers
    largest = _LARGEST.get(how, LARGEST_SCORE)
    scale = min(_WIDEST_SCALE, math.sqrt(largest / reached)) if reached else _SCALE
    if how in _LAST:
        args = case.with_numbers(_last_enlarged(case, numbers, scale, _LAST[how]))
    else:
        args = case.with_numbers(_times(numbers, scale))
    return args, 0.0 if shown else _largest_product(case, args)


def shows_scores(case: Case) -> bool:
    """Return whether it is known how large scores are, and so how far rounding may go."""
    return (_largest_logit(case, case.args) or _largest_product(case, case.args)) > 0


def _scored(case: Case) -> dict[int, Any]:
    """Return the inputs that scores are made of."""
    numbers = {**case.shapes.numbers, **case.shapes.tuples}
    names = case.target.entry.arguments
    if takes_q_and_k(case):
        return {index: value for index, value in numbers.items() if names[index] in ("q", "k")}
    return numbers


def _times(numbers: _Numbers, factor: float) -> dict[int, Any]:
    return {i: map_tree(lambda one: one * factor, value) for i, value in numbers.items()}


def _rising(case: Case, numbers: _Numbers, sign: int) -> dict[int, Any]:
    """Return queries and keys with scores that rise from key to key, or fall, by the same."""
    names = case.target.entry.arguments
    q, k = numbers[names.index("q")].abs(), numbers[names.index("k")]
    steps = torch.linspace(0, 1, k.shape[-2], dtype=torch.float64).to(k.dtype).unsqueeze(-1)
    return {names.index("q"): q, names.index("k"): sign * k[..., :1, :].abs() * steps}


def _last_enlarged(case: Case, numbers: _Numbers, factor: float, axis: int) -> dict[int, Any]:
    """Return the numbers with those of the last position along an axis enlarged.

    Where there are queries, they alone make scores large, by the power of two of the factor.
    """
    names, made = case.target.entry.arguments, {**numbers}
    is_alone = takes_q_and_k(case)
    for index, one in numbers.items():
        if isinstance(one, Tensor) and one.dim() > 1 and (not is_alone or names[index] == "q"):
            made[index] = one.clone()
            made[index].select(axis, -1).mul_(factor**2 if is_alone else factor)
    return made


def _polar(draw: Draw, value: Tensor) -> Tensor:
    """Return numbers that make all scores equal in size, whatever their signs."""
    signs = draw.normal(*value.shape[:-1], 1, dtype=torch.float64).sign()
    return signs.expand(value.shape).to(value.dtype).contiguous()


def _largest_logit(case: Case, args: Sequence[Any]) -> float:
    """Return the largest number that goes into a softmax of the reference; 0 if there is none."""

    def ask() -> float:
        exact, _ = case.target.references()
        with torch.no_grad(), Logits() as logits, in_float64():
            exact(*(map_tree(exact_copy, value) for value in args))
        return float(logits.largest)

    largest: float = case.target.remembered(("logits", args), ask)
    return largest


def _largest_product(case: Case, args: Sequence[Any]) -> float:
    """Return the largest product of a query and a key over √D; 0 if the entry takes no such."""
    named = dict(zip(case.target.entry.arguments, args, strict=False))
    if not takes_q_and_k(case):
        return 0.0
    q, k = named["q"].double(), named["k"].double()
    if q.shape[-1] != k.shape[-1] or q.shape[:-2] != k.shape[:-2]:
        return 0.0  # such as keys for several heads
    return float((q @ k.mT).abs().max()) / math.sqrt(q.shape[-1])
