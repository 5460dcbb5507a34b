"""Long inputs: all lengths, the keys' alone, and what the source speaks of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.checks.cases import Case, in_dtype, made_with
from mha_judge.grading.checks.elsewhere.asking import (
    Asking,
    Finding,
    dtype_name,
    is_too_much,
    sizes_in_words,
)
from mha_judge.grading.checks.elsewhere.loud import louder, require_unfelt
from mha_judge.grading.checks.elsewhere.masks import blocked_keys, blocking
from mha_judge.grading.failures import CheckFailure
from mha_judge.grading.formulas.constants import integers_in
from mha_judge.problem import axes_of

LONGEST = 5_000
_SQUARE = 40_000_000
"""Numbers that a naive answer may make of a call: pairs of positions times their features."""
_TRIED = 260
"""A length beyond round buffers, which tells how long a longer one would take."""
_HALF, _MANY = 520, 1_030
"""Least lengths: beyond the whole numbers that bfloat16 has, and beyond large buffers."""
_ALL_S = 2.0
"""What an answer may take for those in all."""
_CALL_S = 0.5
"""What a long call may take by what a shorter one took; else it is made shorter."""
_MOST = {torch.float32: 1, torch.bfloat16: 3}
"""Questions that are asked at hundreds of positions."""
_MOST_FAR = 1
"""Questions at whose lengths one is thousands and the other is not."""
_MOST_CONSTANTS = 6
_AGAIN = 2
"""How often what is wrong in half precision is asked with other numbers. It must be wrong again:
where two scores nearly tie, rounding may turn a query to either key, once in hundreds of calls."""


class Lengths:
    """Asks for long inputs, for as long as an answer is quick enough."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._constants = integers_in(asking.context.task.submission.source)
        self._taken_s = 0.0
        self._asked: Counter[torch.dtype] = Counter()
        self._blocked: set[str] = set()

    def ask(self, case: Case, number: int) -> Iterator[Finding]:
        """Ask for long inputs of one question."""
        if not case.long or self._taken_s > _ALL_S:
            return
        draw = self._asking.draw
        if number > 2 and number % 2 and self._asking.is_also_in(torch.bfloat16, case):
            case = in_dtype(case, torch.bfloat16)
        tried = dict.fromkeys(case.long, _TRIED + draw.integer(0, 80))
        session = self._asking.context.session
        before_s = session.computed_s
        yield self._at(case, tried, leading=2 if number == 0 else 1)
        took_s = session.computed_s - before_s
        self._taken_s += took_s
        took_s /= 2 if case.is_half else 1  # which is asked twice
        if not case.target.is_usable:
            return
        most = _TRIED**2 * _CALL_S / max(took_s, 1e-3)  # sizes do not depend on it, nor on a clock
        naive = _SQUARE / _features(case)
        least = _HALF if case.is_half else _MANY
        square = least + draw.integer(0, least // 4)
        square = min(int(naive**0.5), case.domain.longest, square)
        affordable = next((size for size in (square, square // 2) if size**2 <= most), 0)
        self._asked[case.dtype] += affordable > _TRIED
        if affordable > _TRIED and self._asked[case.dtype] <= _MOST.get(case.dtype, 0):
            yield self._at(case, dict.fromkeys(case.long, affordable), leading=1)
        if affordable >= _HALF and not case.is_half:
            yield from self._with_first_keys_blocked(case)
        *others, keys = case.lengths
        far = min(int(naive / 16), case.domain.longest, draw.integer(2_100, LONGEST))
        if (others or not case.domain.scores) and number < _MOST_FAR and _TRIED < far < most / 16:
            yield self._at(case, dict.fromkeys(keys, far), leading=1)
        if number == 0:
            yield from self._constant_sizes(case, min(most, naive))

    def _constant_sizes(self, case: Case, most: float) -> Iterator[Finding]:
        """Ask for sizes around the numbers that stand in the source."""
        told = [one for one in self._constants if 8 <= one <= LONGEST][:_MOST_CONSTANTS]
        near = [size for one in told for size in (one - 1, one, one + 1, 2 * one + 1)]
        for letters in [*case.lengths, *([letter] for letter in _free(case))]:
            # the other lengths stay: a mask that is cut may block all of a row, which tells nothing
            others = [
                case.shapes.letters[one]
                for equal in case.lengths
                if equal != letters
                for one in equal
            ]
            for size in near:
                fits = size**2 <= most or (others and max(others) * size <= most)
                if fits and size <= case.domain.longest:
                    yield self._at(case, dict.fromkeys(letters, size), leading=1)

    def _with_first_keys_blocked(self, case: Case) -> Iterator[Finding]:
        """Ask as an answer is used in the end, with whole blocks of keys of which none is open."""
        form = [[size == 1 for size in case.args[index].shape] for index in blocked_keys(case)]
        if form and str(form) not in self._blocked and case.target.entry.arrays == "torch":
            self._blocked.add(str(form))
            length = _HALF + self._asking.draw.integer(0, 40)
            letters = case.fitting(dict.fromkeys(case.long, length))
            args = self._args_at(case, letters, leading=1)
            args = blocking(case, args, "left", self._asking.draw)
            where = f"where {sizes_in_words(letters)} and the first keys are blocked"
            yield self._asked_twice(case, args, where)

    def _at(self, case: Case, letters: Mapping[str, int], leading: int) -> Finding:
        letters = case.fitting(letters)
        where = f"where {sizes_in_words(letters)}"
        if not case.is_half:
            return self._asked_twice(case, self._args_at(case, letters, leading), where)
        failure = self._aloud(case, letters, leading)
        if failure is not None and failure.margin is not None:
            again = (self._aloud(case, letters, leading) for _ in range(_AGAIN))
            failure = next((one for one in again if one is not None), None)
        where = f"in {dtype_name(case.dtype)} {where}"
        return Finding(where, None if is_too_much(failure) else failure)

    def _asked_twice(self, case: Case, args: Sequence[Any], where: str) -> Finding:
        """Ask with gradients and without; what is wrong without them alone is about the mode."""
        failure, axis = self._asking.ask(case, args), ""
        if failure is None and case.target.entry.arrays == "torch":
            failure = self._asking.ask(case, args, "no_grad")
            where, axis = f"{where} {AXES['mode']['no_grad']}", "mode"
        return Finding(where, None if is_too_much(failure) else failure, axis if failure else "")

    def _aloud(self, case: Case, letters: Mapping[str, int], leading: int) -> CheckFailure | None:
        """Return how the answer is wrong with some positions louder, or where they must be unfelt.

        In half precision one weight too many among hundreds is otherwise lost in rounding.
        """
        args = self._args_at(case, letters, leading)
        quiet, loud = louder(case, args, letters, self._asking.draw)
        try:
            before, after = self._asking.answer(case, quiet), self._asking.answer(case, loud)
            if before is None or after is None:  # it is none of the domain
                return None
            for name in case.names:
                for one, other in zip(before.pairs(name), after.pairs(name), strict=True):
                    require_unfelt(one, other)
            self._asking.require_right(case, loud, after)
        except CheckFailure as failure:
            return failure
        return None

    def _args_at(self, case: Case, letters: Mapping[str, int], leading: int) -> list[Any]:
        """Return arguments of some sizes, with numbers of their own."""
        items = {}
        if case.is_half:
            leading, items = 2, {"B": 2}
        elif leading == 1 and "B" in case.shapes.letters:
            items = {"B": 1}
        args = case.shapes.at({**letters, **items}, self._asking.draw, leading=leading)
        longer = max(letters.get(one, 1) / case.shapes.letters[one] for one in case.long)
        for name in case.domain.grow if longer > 1 else ():
            index = case.target.entry.arguments.index(name)
            if index < len(args) and args[index] is not None:
                args[index] = math.ceil(args[index] * longer)
        return args


def _free(case: Case) -> list[str]:
    """Return the letters that a call decides upon, such as widths of a function's inputs."""
    divided = {*case.domain.divides, *case.domain.divides.values()}
    fixed = {*made_with(case.target), *case.long, *divided}
    return [letter for letter in case.shapes.letters if letter not in fixed]


def _features(case: Case) -> int:
    """Return how many numbers a naive answer makes for each pair of positions."""
    sizes = {**case.shapes.letters, **dict.fromkeys([*case.long, "B"], 1)}
    shapes = case.domain.shapes.values()
    return max(8, *(math.prod(sizes.get(axis, 1) for axis in axes_of(one)) for one in shapes))
