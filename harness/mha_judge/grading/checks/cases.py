"""The questions of checks that are asked again in corners: few, as different as possible."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.problem import Domain
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.shapes import Shapes, Unshaped
from mha_judge.grading.calling.target import Target
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.expecting.answer import assert_close
from mha_judge.grading.failures import CheckFailure

_MAX_PROBES = 12
"""Calls that are tried to find out where an answer is right, if it is wrong everywhere else."""
_USUAL = 10.0
"""What normal numbers do not reach."""
_MAX_CASES = {torch.float32: 7, torch.bfloat16: 2}
"""Questions of an entry that are varied, by dtype; one for other dtypes."""


@dataclass(frozen=True, eq=False)
class Case:
    """A question of a check, with plain inputs."""

    target: Target
    args: tuple[Any, ...]
    shapes: Shapes
    names: tuple[str, ...] = ()
    """The results that were right in a plain call."""

    def asked_with(self, args: Sequence[Any]) -> Case:
        """Return the same question with other arguments, of any sizes."""
        shapes = shapes_of(self.target, self.domain, args)
        return replace(self, args=tuple(args), shapes=shapes)

    @property
    def domain(self) -> Domain:
        assert self.target.entry.domain is not None
        return self.target.entry.domain

    @property
    def dtype(self) -> torch.dtype:
        return next((one.dtype for one in self.shapes.numbers.values()), torch.float32)

    @property
    def has_norms(self) -> bool:
        return any(role.kind == "norm" for role in self.target.entry.roles)

    @property
    def is_half(self) -> bool:
        return self.dtype not in (torch.float32, torch.float64)

    @property
    def long(self) -> list[str]:
        """The letters that may be long."""
        return [letter for letter in self.domain.long if letter in self.shapes.letters]

    @property
    def lengths(self) -> list[list[str]]:
        """These letters, grouped by equal sizes, which causality may require."""
        by_size: dict[int, list[str]] = {}
        for letter in self.long:
            by_size.setdefault(self.shapes.letters[letter], []).append(letter)
        return [*by_size.values()]

    def square(self, size: int) -> dict[str, int]:
        """Return sizes with which all lengths are equal."""
        return self.fitting(dict.fromkeys(self.long, size))

    def fitting(self, letters: Mapping[str, int]) -> dict[str, int]:
        """Return sizes that the contract allows.

        Some must be even. A length that must not be shorter than another stays as much longer.
        """
        fitted = {
            letter: size + size % 2 if letter in self.domain.even else size
            for letter, size in letters.items()
        }
        plain = self.shapes.letters
        for less, more in self.domain.at_most.items():
            sizes = {**plain, **fitted}
            if {less, more} <= plain.keys() and sizes[less] > sizes[more]:
                fitted[more] = sizes[less] + plain[more] - plain[less]
        return fitted

    def with_numbers(self, numbers: Mapping[int, Any]) -> list[Any]:
        """Return the arguments, some of them replaced, by their places."""
        return [numbers.get(index, value) for index, value in enumerate(self.args)]


def cases_of(steps: Sequence[Step]) -> list[Case]:
    """Return for each pattern the call that tells most, with plain ones first."""
    best: dict[object, Case] = {}
    for case in _usable(steps):
        made = made_with(case.target)
        flags = tuple(sorted((k, v) for k, v in made.items() if not isinstance(v, int) or v < 2))
        key = (case.target.entry.name, case.dtype, case.shapes.pattern, flags)
        if key not in best or _telling(case) > _telling(best[key]):
            best[key] = case
    by_kind: dict[tuple[str, torch.dtype], list[Case]] = {}
    for case in sorted(best.values(), key=_telling, reverse=True):
        by_kind.setdefault((case.target.entry.name, case.dtype), []).append(case)
    chosen = [
        (number, case)
        for (_, dtype), found in by_kind.items()
        for number, case in enumerate(_unlike(found, _MAX_CASES.get(dtype, 1)))
    ]
    return [case for _, case in sorted(chosen, key=lambda one: _turn(*one))]


def _usable(steps: Sequence[Step]) -> Iterator[Case]:
    """Yield the calls that were answered and fit their domain.

    NumPy's own dtype is float64: what its entries are asked in that is asked in float32 as well, if
    its numbers are of usual size. Rounding tells more of large ones.
    """
    layers: dict[object, Layer] = {}
    for step in steps:
        target = step.target
        if not isinstance(target, (Function, Layer)) or step.failure is not None:
            continue
        if target.entry.domain is None or step.wrt or not target.is_usable:
            continue
        try:
            case = Case(target, step.args, shapes_of(target, target.entry.domain, step.args))
        except Unshaped:
            continue
        yield case
        if target.entry.arrays == "numpy" and case.dtype is torch.float64 and _is_usual(case):
            layer = None
            if isinstance(target, Layer):
                try:
                    layer = made_once(layers, target, torch.float32, target.sizes)
                except CheckFailure:  # rows, which make layers too, tell that it cannot be made
                    continue
            yield in_dtype(case, torch.float32, layer)


def made_once(
    made: dict[object, Layer],
    layer: Layer,
    dtype: torch.dtype,
    sizes: Mapping[str, Any],
    is_new: bool = False,
) -> Layer:
    """Return a layer like another: one of `made` that is usable, unless it must be new."""
    key = (layer.entry.name, dtype, *sizes.items())
    if is_new or key not in made or not made[key].is_usable:
        made[key] = layer.like(dtype=dtype, **sizes)
    return made[key]


def _is_usual(case: Case) -> bool:
    return all(float(one.abs().max()) < _USUAL for one in case.shapes.numbers.values())


def right_at_equal_sizes(step: Step, context: Context) -> list[Step]:
    """Return calls like a wrong one that are right once two of its sizes are made equal.

    An answer for one case only, such as keys as long as queries, may fail every other check.
    """
    target = step.target
    if not isinstance(target, (Function, Layer)) or target.entry.domain is None:
        return []
    try:
        shapes = shapes_of(target, target.entry.domain, step.args)
    except Unshaped:
        return []
    right: list[Step] = []
    letters = {one: n for one, n in shapes.letters.items() if shapes.places(one)}
    pairs = itertools.permutations([one for one in letters if one not in made_with(target)], 2)
    for one, other in itertools.islice(pairs, _MAX_PROBES):
        if letters[one] != letters[other]:
            args = shapes.at({other: letters[one]}, context.draw_weights())
            with context.trials(), suppress(Exception):  # the reference may refuse such sizes
                answer = target(*args)
                assert_close(answer, *target.entry.returns[: target.entry.required_returns])
                if target.last is not None:
                    right.append(target.last)
    return right


def _telling(case: Case) -> tuple[int, int]:
    """Return a key that is higher for a case that tells more: options used, different sizes."""
    options = sum(value is True for value in case.args)
    return options, len({size for size in case.shapes.letters.values() if size > 1})


def _unlike(cases: Sequence[Case], most: int) -> list[Case]:
    """Return a few cases that cover as many pairs of features as possible.

    Of cases that add as many the first is taken; those with a size of 1, in which much is the same,
    come last.
    """
    left = [*cases]
    chosen: list[Case] = []
    seen: set[object] = set()

    def adds(case: Case) -> tuple[bool, int, int]:
        new = len(_pairs(case) - seen)
        has_one = 1 in [*case.shapes.letters.values(), *case.shapes.leading]
        return new > 0 and not has_one, new, len(case.shapes.pattern)

    while left and len(chosen) < most:
        case = max(left, key=adds)  # the first of equal ones
        seen |= _pairs(case)
        left.remove(case)
        chosen.append(case)
    return chosen


def _pairs(case: Case) -> set[object]:
    features = [*_features(case), *_options(case.target)]
    return {*features, *itertools.combinations(features, 2)}


def _features(case: Case) -> Iterator[object]:
    """Yield what is given at each place, and which axes of a tensor, from its last, are of 1."""
    pattern = dict(enumerate(case.shapes.pattern))
    for place in range(len(case.target.entry.arguments)):
        value = case.args[place] if place in pattern else None
        if isinstance(value, Tensor):
            yield from ((place, axis, size == 1) for axis, size in enumerate(value.shape[::-1]))
            yield place, value.dim(), str(value.dtype)
        else:
            yield place, pattern.get(place)


def _options(target: Target) -> tuple[tuple[str, Any], ...]:
    """Return the constructor arguments of a layer that are no numbers."""
    return tuple(
        (name, value) for name, value in made_with(target).items() if isinstance(value, bool | str)
    )


def _turn(number: int, case: Case) -> tuple[bool, bool, int]:
    """Return a key that is lower for what is asked first: one in float32, then half precision."""
    plain = case.dtype is torch.float32
    return not (plain and number == 0), not case.is_half, number


def form_of(case: Case) -> tuple[object, ...]:
    """Return what a call is given: which arguments, and what is true of it."""
    form = [one if one is None or isinstance(one, bool) else "given" for one in case.args]
    while form and form[-1] is None:  # left out, or None: it is the same
        form.pop()
    return tuple(form)


def other_forms(case: Case, cases: Sequence[Case]) -> list[Case]:
    """Return the cases in which other arguments are given or left out."""
    given = [one is None for one in case.args]
    return [other for other in cases if [one is None for one in other.args] != given]


def in_dtype(case: Case, dtype: torch.dtype, layer: Layer | None = None) -> Case:
    """Return the same question in a dtype, of another layer if one is given."""
    target = layer or case.target
    if layer is None and isinstance(target, Layer):
        target = target.like(dtype=dtype)
    numbers = {
        index: _converted(value, case.dtype, dtype)
        for index, value in enumerate(case.args)
        if index not in case.shapes.flags
    }
    # the numbers still have the sizes of its own target
    return replace(case.asked_with(case.with_numbers(numbers)), target=target)


def _converted(value: Any, old: torch.dtype, new: torch.dtype) -> Any:
    if isinstance(value, tuple):
        return tuple(_converted(one, old, new) for one in value)
    return value.to(new) if isinstance(value, Tensor) and value.dtype is old else value


def bare(case: Case) -> Case:
    """Return the same question without masks and caches, whose sizes would change too."""
    names = case.target.entry.arguments
    left_out = {*case.domain.flags, *case.domain.masks}
    left_out |= {name for name, axes in case.domain.shapes.items() if isinstance(axes, list)}
    named = zip(names, case.args, strict=False)
    return case.asked_with([None if name in left_out else value for name, value in named])


def shapes_of(target: Target, domain: Domain, args: Sequence[Any]) -> Shapes:
    """Return the sizes of a call.

    Raises:
        Unshaped: If the call does not fit the domain.
    """
    return Shapes(domain, target.entry.arguments, args, made_with(target))


def made_with(target: Target) -> Mapping[str, Any]:
    """Return the constructor arguments of a layer, by name; empty for a function."""
    return target.sizes if isinstance(target, Layer) else {}
