"""The smallest call that still goes wrong."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from torch import Tensor

from mha_judge.bank.problem import Domain
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.shapes import Shapes, Unshaped
from mha_judge.grading.calling.target import Target
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.checks.cases import shapes_of
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.answer import Answer, assert_close
from mha_judge.grading.failures import CheckFailure
from mha_judge.outcomes import Outcome
from mha_judge.report.models import CheckResult, FailingCall
from mha_judge.trying import notation
from mha_judge.trying.attempt import Attempt, is_raised_at
from mha_judge.trying.script import Script, optional_arguments, without_last_nones

_MOST_TRIED = 40
"""Calls that are made in all."""
_DRAWS = 2
"""How often numbers are drawn for each size."""
_MOST_STEPS = 4
"""Calls of checks that are made smaller, until one goes wrong with small numbers too."""
_MOST_NUMBERS = 48
"""How many numbers a call may hold to be shown."""
_BOUND = 2
"""Numbers go from −2 to 2."""
_LOUD = 40
"""How many times larger they are where they have to be."""


def smallest(context: Context, checks: Sequence[CheckResult]) -> FailingCall | None:
    """Return the smallest call found that goes wrong, as code; None if none is small.

    Args:
        context: The submission in its worker.
        checks: What came of each check.
    """
    tried = _Tried(context)
    for step in _wrong_steps(context, checks):
        found = tried.smaller(step)
        if found is not None:
            return found
    return None


def _wrong_steps(context: Context, checks: Sequence[CheckResult]) -> Iterator[Step]:
    """Yield calls of checks that failed and went wrong themselves, one of each pattern."""
    seen: set[object] = set()
    for check in checks:
        if check.advisory or check.outcome not in (Outcome.FAILED, Outcome.ERROR):
            continue
        for step in context.trace.of(check.id):
            pattern = _pattern(step)
            if pattern is None or pattern in seen or not _went_wrong(step):
                continue
            seen.add(pattern)
            yield step
            if len(seen) >= _MOST_STEPS:
                return


def _pattern(step: Step) -> object:
    """Return what tells a call from others that can be made smaller; None if it cannot be."""
    target = step.target
    if not isinstance(target, (Function, Layer)) or target.entry.domain is None:
        return None
    if isinstance(target, Layer) and target.training:
        return None
    try:
        return target.entry.name, shapes_of(target, target.entry.domain, step.args).pattern
    except Unshaped:
        return None


def _went_wrong(step: Step) -> bool:
    if step.failure is not None:
        return True
    target = step.target
    assert isinstance(target, Target)
    try:
        answer = Answer(target.entry, step.found.value, target.expected(step.args))
        assert_close(answer, *target.entry.returns[: target.entry.required_returns])
    except CheckFailure:
        return True
    except Exception:  # the contract rules the input out, or leaves the answer open
        return False
    return False


class _Tried:
    """The calls that are tried of one submission."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._left = _MOST_TRIED

    def smaller(self, step: Step) -> FailingCall | None:
        """Return a call like one of a check, as small as it still goes wrong."""
        target = step.target
        assert isinstance(target, (Function, Layer))
        assert target.entry.domain is not None
        domain, args = target.entry.domain, list(step.args)
        shapes = shapes_of(target, domain, args)
        size = max((float(one.abs().max()) for one in shapes.numbers.values()), default=0.0)
        ask = functools.partial(
            self._attempt, target, self._context.draw_weights(), _LOUD if size > _LOUD else 1,
            step.failure,
        )  # fmt: skip
        for letters, leading in _small_sizes(shapes, domain):
            found = ask(shapes, letters, leading)
            if found is not None:
                break
        else:
            return None
        optional = optional_arguments(self._context, target)
        for index in reversed(range(len(args))):
            without = [*args[:index], None, *args[index + 1 :]]
            if args[index] is None or target.entry.arguments[index] not in optional:
                continue
            with suppress(Unshaped):
                fewer = shapes_of(target, domain, without)
                if again := ask(fewer, letters, leading):
                    found, shapes, args = again, fewer, without
        bare = shapes_of(target, domain, _without_leading(shapes, args))
        if again := ask(bare, letters, leading):
            found, shapes = again, bare
        for letter in sorted(letters, key=lambda one: -letters[one]):
            for size in [size for size in range(1, letters[letter]) for _ in range(_DRAWS)]:
                if again := ask(shapes, letters | {letter: size}, leading):
                    found, letters = again, letters | {letter: size}
                    break
        drawn = [found, *filter(None, (ask(shapes, letters, leading) for _ in range(_DRAWS)))]
        code, attempt = max(drawn, key=lambda one: one[1].apart)
        return _told(code, attempt, needs_seed=isinstance(target, Layer))

    def _attempt(
        self,
        target: Function | Layer,
        draw: Draw,
        loud: int,
        failure: CheckFailure | None,
        shapes: Shapes,
        letters: Mapping[str, int],
        leading: int,
    ) -> tuple[str, Attempt] | None:
        """Make a call at other sizes; return it if it goes wrong as the one before did."""
        if self._left <= 0:
            return None
        self._left -= 1
        args = shapes.at(letters, draw, leading=leading)
        numbers = shapes.numbers
        args = [_small(one, draw, loud) if i in numbers else one for i, one in enumerate(args)]
        args = [
            tuple(_small(part, draw, loud) for part in one) if isinstance(one, tuple) else one
            for one in args
        ]
        if sum(one.numel() for one in _tensors(args)) > _MOST_NUMBERS:
            return None
        code, proxies = _code(target, args, letters, optional_arguments(self._context, target))
        attempt = Script(self._context, proxies).run(code)
        if attempt.outcome in (Outcome.TIMEOUT, Outcome.CRASHED):
            self._left = 0
            return None
        if not attempt.is_wrong or attempt.expected_error:
            return None
        if failure is None:  # an exception would be another fault
            return None if attempt.got_error else (code, attempt)
        return (code, attempt) if is_raised_at(attempt, failure) else None


def _small_sizes(shapes: Shapes, domain: Domain) -> Iterator[tuple[dict[str, int], int]]:
    """Yield sizes of a call, the smallest first, and those of its axes without letters.

    What divides other sizes is also less than they are, and lengths also differ.
    """
    divisors = {*domain.divides.values()} & shapes.letters.keys()
    last = divisors - domain.divides.keys()
    lengths = [letter for letter in shapes.letters if letter in domain.long]
    different = sorted({shapes.letters[letter] for letter in lengths})
    seen: list[object] = []
    for most, parts, smaller, leading, differ in (
        (1, 1, last, 1, False),
        (2, 2, last, 1, False),
        (2, 1, last, 1, False),
        (2, 1, divisors, 1, False),
        (2, 1, divisors, 1, True),
        (3, 3, last, 1, False),
        (4, 2, last, 1, False),
        (4, 2, divisors, 1, False),
        (4, 1, last, 1, False),
        (2, 2, last, 2, False),
        (4, 2, last, 2, False),
    ):
        sizes = {
            letter: min(size, parts if letter in smaller else most)
            for letter, size in shapes.letters.items()
        }
        if differ:
            sizes |= {one: 2 + different.index(shapes.letters[one]) for one in lengths}
        if (sizes, leading) not in seen:
            seen.append((sizes, leading))
            yield sizes, leading


def _without_leading(shapes: Shapes, args: Sequence[Any]) -> list[Any]:
    """Return the first item of each argument that has leading axes without letters."""
    cut = shapes.leading_axes()
    return [value[(0,) * cut[index]] if index in cut else value for index, value in enumerate(args)]


def _small(value: Any, draw: Draw, loud: int) -> Any:
    """Return small whole numbers in the form of others."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return value
    numbers = loud * draw.integers(*value.shape, bound=_BOUND)
    positive = value.numel() and bool((value >= 0).all())
    return (numbers.abs() if positive else numbers).to(value.dtype)


def _tensors(tree: Any) -> Iterator[Tensor]:
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for one in tree:
            yield from _tensors(one)


def _code(
    target: Function | Layer,
    args: Sequence[Any],
    letters: Mapping[str, int],
    optional: Collection[str],
) -> tuple[str, dict[str, Any]]:
    """Return a call as code, and what its names mean."""
    names = target.entry.arguments
    given = without_last_nones(names, args, optional)
    written = functools.partial(notation.written, arrays=target.entry.arrays == "numpy")
    lines = [
        f"{name} = {written(value)}"
        for name, value in zip(names, given, strict=False)
        if isinstance(value, (Tensor, tuple))
    ]
    passed = ", ".join(
        name if isinstance(value, (Tensor, tuple)) else written(value)
        for name, value in zip(names, given, strict=False)
    )
    if isinstance(target, Function):
        name = target.found.name
        called = f"{name}()" if target.is_class else name
        return "\n".join([*lines, f"{called}({passed})"]), {name: target}
    name = target.maker.found.name
    sizes = {one: letters.get(one, value) for one, value in target.sizes.items()}
    made = ", ".join(f"{one}={written(value)}" for one, value in sizes.items())
    return "\n".join([f"layer = {name}({made})", *lines, f"layer({passed})"]), {name: target.maker}


def _told(code: str, attempt: Attempt, *, needs_seed: bool) -> FailingCall:
    if attempt.got_error:
        return FailingCall(code=code, needs_seed=needs_seed, got=attempt.got_error)
    wrong = next(one for one in attempt.results if one.fault and one.counts)
    return FailingCall(
        code=code,
        needs_seed=needs_seed,
        name=wrong.name,
        fault=wrong.fault,
        expected=wrong.expected,
        got=wrong.got,
    )
