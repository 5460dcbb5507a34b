"""What came of a call of one's own, beside what is expected, as text."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy
from torch import Tensor

from mha_judge.bank.problem import Entry
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.target import Target
from mha_judge.grading.expecting.answer import Answer
from mha_judge.grading.expecting.compare import compare, describe
from mha_judge.grading.expecting.expected import Expected, Live, leaves
from mha_judge.grading.failures import CheckFailure
from mha_judge.outcomes import Outcome
from mha_judge.sanitising import clean

_WIDTH, _NUMBERS, _EDGE = 68, 64, 3
_DIGITS = (4, 6, 9)
"""Digits that numbers are shown with: more where fewer show no difference."""


@dataclass(frozen=True)
class Result:
    """One tensor of what a call returned, beside what is expected."""

    name: str
    expected: str
    got: str
    fault: str
    """What is wrong with it; empty if it is right."""
    counts: bool
    """Whether the contract wants it."""
    apart: float = 0.0
    """The largest difference, as a share of the largest number."""


@dataclass(frozen=True)
class Attempt:
    """What came of a call."""

    call: str
    inputs: tuple[str, ...]
    """The arguments with their shapes."""
    results: tuple[Result, ...] = ()
    expected_error: str = ""
    """What the reference raises."""
    got_error: str = ""
    """What the answer does instead of answering."""
    where: str = ""
    """The line that raised it."""
    outcome: Outcome = Outcome.PASSED
    """How the answer's call ended."""
    weights: tuple[tuple[str, str], ...] = ()
    """Of a small layer, by what they are of."""
    printed: str = ""
    """What the file printed, or Python warned."""

    @property
    def apart(self) -> float:
        """How far the first wrong result is off, as a share of its largest number."""
        return next((one.apart for one in self.results if one.fault and one.counts), 0.0)

    @property
    def is_wrong(self) -> bool:
        """Whether the answer does not do what the reference does; what one raises is left open."""
        if self.expected_error or self.got_error:
            return not (self.expected_error and self.got_error)
        return any(one.fault and one.counts for one in self.results)

    def as_fields(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "wrong": self.is_wrong}


def results_of(target: Target, answer: Answer) -> list[Result]:
    entry, results = target.entry, []
    for number, name in enumerate(entry.returns):
        counts = number < entry.required_returns
        if name not in answer.expected or not (counts or answer.has(name)):
            continue  # left out, as weights are that nobody asked for
        try:
            pairs = [*answer.pairs(name)]
        except CheckFailure as failure:
            results.append(Result(name, "", "", clean(failure.message, 300), counts))
            continue
        for found, expected, label in pairs:
            overflows = expected.exact.isfinite() & ~expected.rounded.isfinite()
            if expected.has_nan or bool(overflows.any()):  # the contract leaves it open
                counts = False
            fault = ""
            try:
                compare(found, expected, label)
            except CheckFailure as failure:
                fault = clean(failure.message, 300)
            texts = _beside(expected.rounded, found, _DIGITS if fault else _DIGITS[:1])
            apart = _apart(expected.rounded, found) if fault else 0.0
            results.append(Result(label, *texts, fault, counts, apart))
    return results


def results_alone(entry: Entry, expected: Any) -> Iterator[Result]:
    """Yield what is expected where nothing came."""
    values = expected if isinstance(expected, tuple) and len(entry.returns) > 1 else (expected,)
    for name, value in zip(entry.returns, values, strict=False):
        for one in leaves(value):
            if isinstance(one, Expected):
                yield Result(name, numbers_of(one.rounded, _DIGITS[0]), "", "", counts=False)


def _apart(expected: Tensor, found: Any) -> float:
    if not isinstance(found, Tensor) or not found.numel():
        return 0.0
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        return 0.0
    difference = (found.double() - expected.double()).abs().max()
    largest = float(difference / max(float(expected.double().abs().max()), 1e-3))
    return largest if math.isfinite(largest) else 0.0


def weights_of(target: Target) -> tuple[tuple[str, str], ...]:
    """Return the weights of a small layer as text."""
    if not isinstance(target, Layer) or sum(target.contract_parameters) > _NUMBERS:
        return ()
    return tuple((name, numbers_of(one, _DIGITS[0])) for name, one in target.weights())


def failed(
    node: ast.expr, told: tuple[str, ...], failure: CheckFailure, expected_error: str = ""
) -> Attempt:
    return Attempt(
        ast.unparse(node), told, (), expected_error, clean(failure.message, 600),
        _place(failure), failure.outcome,
    )  # fmt: skip


def is_raised_at(attempt: Attempt, failure: CheckFailure) -> bool:
    """Return whether a call fails where another did."""
    return bool(attempt.got_error) and attempt.where == _place(failure)


def _place(failure: CheckFailure) -> str:
    return clean(failure.detail, 300)


def raised(error: Exception) -> str:
    return f"raises {type(error).__name__}: {error}".partition("\n")[0]


def form_of(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{tuple(value.shape)}"
    return "from the call before" if isinstance(value, Live) else repr(value)


def _beside(expected: Tensor, found: Any, choices: Sequence[int]) -> tuple[str, str]:
    """Return two tensors as text, with the fewest digits of some that show a difference."""
    if not isinstance(found, Tensor):
        return numbers_of(expected, choices[0]), clean(describe(found), 300)
    for digits in choices:
        texts = numbers_of(expected, digits), numbers_of(found, digits)
        if texts[0] != texts[1]:
            break
    return texts


def numbers_of(tensor: Tensor, digits: int) -> str:
    """Return a tensor's numbers as rows; of a large one those at its edges, and its shape."""
    wide = tensor.detach().double() if tensor.is_floating_point() else tensor.detach()
    text = numpy.array2string(
        wide.numpy(), precision=digits, suppress_small=True, max_line_width=_WIDTH,
        threshold=_NUMBERS, edgeitems=_EDGE, separator=", ",
    )  # fmt: skip
    return text if tensor.numel() <= _NUMBERS else f"{text}, shape {tuple(tensor.shape)}"
