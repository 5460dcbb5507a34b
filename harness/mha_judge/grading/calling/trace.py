"""What was asked of the candidate in each check, and what came back: the basis of a diagnosis."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

from mha_judge.bank.problem import Entry
from mha_judge.grading.failures import CheckFailure
from mha_judge.wire import map_tree


class Asked(Protocol):
    """Something of the candidate that can be asked."""

    entry: Entry
    chained: bool
    """Whether its results depend on earlier requests."""


@dataclass
class Step:
    """One request to the candidate."""

    target: Asked
    args: tuple[Any, ...]
    cotangents: Sequence[Any] | None = None
    wrt: Sequence[int] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    found: Any = None
    """What came back: a `Called`, or the text of an answer."""
    failure: CheckFailure | None = None
    """What the submission did instead of answering."""
    number: int | None = None
    """Number of the request, by which later steps name what it returned."""


def _as_it_is(leaf: Any) -> Any:
    return leaf.detach().clone() if isinstance(leaf, Tensor) else leaf


class Trace:
    """The steps of each check, in order."""

    def __init__(self) -> None:
        self._steps: dict[str, list[Step]] = {}
        self._check = ""
        self._paused = False

    def enter(self, check: str) -> None:
        self._check = check

    def note(self, step: Step) -> None:
        """Keep a step of the check that runs, which may change the arguments afterwards."""
        if not self._paused:
            self.keep(self._check, step)

    def keep(self, check: str, step: Step) -> None:
        """Keep a step as one of a check, with its arguments as they are now."""
        step.args = tuple(map_tree(_as_it_is, arg) for arg in step.args)
        self._steps.setdefault(check, []).append(step)

    def of(self, check: str) -> list[Step]:
        return self._steps.get(check, [])

    def then(self, later: Trace) -> Trace:
        """Return a trace with the steps of a later run for the checks that ran again."""
        both = Trace()
        both._steps = {**self._steps, **later._steps}
        return both

    def without(self, checks: Collection[str]) -> list[Step]:
        """Return the steps of all other checks."""
        others = (steps for check, steps in self._steps.items() if check not in checks)
        return [step for steps in others for step in steps]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out the judge's own trials, such as arrangements of weights."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before
