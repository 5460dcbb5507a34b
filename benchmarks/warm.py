"""Grades in a judge that is warm already: what `watch` and `score` do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from answers import mixed
from measure import ROOT, Figure, figure, import_torch, timed

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.report.models import Report
from mha_judge.sandbox import Channel, SandboxOptions
from mha_judge.sandbox.container import Container
from mha_judge.submission import Submission

_RIGHT = ROOT / "examples" / "right_attention.py"
_WARM_UP = 5
_DIAGNOSED = 60
"""Wrong answers of which the cost of diagnosis is taken."""


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield warm grades on each backend, and what jail and diagnosis cost."""
    with ExitStack() as stack:
        jail, plain = (stack.enter_context(_Warm(name)) for name in ("jail", "none"))
        yield _against_torch("warm run, jail / import torch", jail, repetitions)
        if Container().unavailable() is None:
            container = stack.enter_context(_Warm("container"))
            yield _against_torch("warm run, container / import torch", container, repetitions)
        pairs = [(timed(jail.right), timed(plain.right)) for _ in range(10 * repetitions)]
        yield figure("jail / no jail, warm run", pairs, note="a fork, three walls, the same checks")
        yield from _explaining(jail)


class _Warm:
    """A supervisor that has graded before."""

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self._bank = Bank.builtin()

    def __enter__(self) -> _Warm:
        self._channel: Channel = SandboxOptions(self._backend, unsafe=True).open()
        for _ in range(_WARM_UP):
            self.right()
        return self

    def __exit__(self, *raised: object) -> None:
        self._channel.close()

    def right(self) -> Report:
        return self.graded("sdpa", _RIGHT)

    def graded(self, problem: str, path: Path) -> Report:
        return grade(
            Submission.read(path), self._bank, self._bank.problem(problem), self._channel, seed=1
        )


def _against_torch(name: str, warm: _Warm, repetitions: int) -> Figure:
    pairs = []
    for _ in range(repetitions):
        torch = import_torch().wall_s
        pairs += [(timed(warm.right), torch) for _ in range(5)]
    return figure(name, pairs, "≤", 0.15)


def _explaining(warm: _Warm) -> Iterator[Figure]:
    """Yield what naming mistakes costs, and what grading again where they are granted does."""
    wrong = [one for one in mixed(2 * _DIAGNOSED) if one[1].name.startswith("wrong_")]
    for problem in dict.fromkeys(problem for problem, _ in wrong):  # the mistakes are read once
        warm.graded(problem, next(path for name, path in wrong if name == problem))
    reports = list(itertools.starmap(warm.graded, wrong))
    named = [report for report in reports if report.diagnoses]
    note = f"{len(reports)} wrong answers of all problems"
    yield figure(
        "with diagnosis / without, warm", _with_and_without(reports, "diagnosis"), note=note
    )
    note = f"{len(named)} of them, in which a mistake is named"
    pairs = _with_and_without(named, "granting")
    yield figure("with mistakes granted / without, warm", pairs, "≤", 1.6, note=note)


def _with_and_without(reports: list[Report], step: str) -> list[tuple[float, float]]:
    """Return what each grade took, and what it took without a step."""
    times = [report.timings_s for report in reports]
    return [(one["total"], one["total"] - one[step]) for one in times]
