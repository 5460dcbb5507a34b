"""One submission in one worker: the state that everything callable in it shares."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from mha_judge.bank.problem import Problem
from mha_judge.bank.questions import Question
from mha_judge.bank.vocabulary import Vocabulary
from mha_judge.grading.binding.arguments import Call, bind, extras_for
from mha_judge.grading.binding.described import Parameter
from mha_judge.grading.calling.manner import Manners
from mha_judge.grading.calling.replies import Observed
from mha_judge.grading.calling.session import Session
from mha_judge.grading.calling.trace import Step, Trace
from mha_judge.grading.draw import Draw
from mha_judge.grading.noticing.axes import may_notice
from mha_judge.submission import Submission


class Recogniser(Protocol):
    """Recognises mistakes by their results."""

    def recognises(self, step: Step) -> bool:
        """Return whether a known mistake gives the result of a step."""


@dataclass(frozen=True, eq=False)
class Task:
    """One submission to be graded, and by what."""

    submission: Submission
    problem: Problem
    grader: Path
    reference: ModuleType
    vocabulary: Vocabulary
    """What candidates call things."""
    seed: int
    """Determines inputs and weights."""
    questions: Mapping[str, Question]
    """By id, the questions with choices or an explanation."""
    recogniser: Recogniser | None = None
    """Recognises mistakes if weights can be bound in several ways."""
    fused_attention: bool = True
    """Whether torch's ready-made attention is available."""
    mistaken: ModuleType | None = None
    """A program with a mistake that counts as right; None: the reference counts."""

    @property
    def expected(self) -> ModuleType:
        """The program that says what is expected."""
        return self.reference if self.mistaken is None else self.mistaken


class _Place(NamedTuple):
    """Stands for the value of an argument, or of a parameter outside the contract."""

    name: str
    extra: bool = False


class Context:
    """One submission in one worker, beside the reference, and what came of its calls."""

    def __init__(self, session: Session, task: Task) -> None:
        """Take the worker with the submission loaded, and what is graded."""
        self.session = session
        self.task = task
        self.notes: list[str] = []
        self.trace = Trace()
        self.manners = Manners(task.seed, self.may_notice)
        self.rules: dict[str, str] = {}
        """By id of a check, the rule that it holds the submission to in every call."""
        self.observations: list[Observed] = []
        """What every call did, if only that shows whether a rule was broken."""
        seen_in_every_call = {"autograd", "library-norm", "library-loss"}
        self.observed = bool(seen_in_every_call & {*task.problem.forbid}) or any(
            entry.arrays == "numpy" for entry in task.problem.entry
        )
        """Whether every call is observed."""
        self._check = ""
        self._layers = 0
        self._bound: dict[Hashable, tuple[Sequence[Parameter], Call]] = {}
        """Where arguments go, by what is called and which are given; beside the signature, so that
        its identity stays its own."""

    def may_notice(self, axis: str, value: str) -> bool:
        """Return whether the answer may tell a value of an axis from the plain one."""
        entries = self.task.problem.entry
        is_of_torch = all(entry.arrays == "torch" for entry in entries)
        return not is_of_torch or may_notice(self.task.submission.source, axis, value)

    def enter(self, check: str) -> None:
        """Note which check runs: each draws weights of its own."""
        self._check = check
        self._layers = 0
        self.trace.enter(check)

    @contextmanager
    def trials(self) -> Iterator[None]:
        """Let the judge make calls for itself, in plain manner and left out of the diagnosis."""
        with self.trace.paused(), self.manners.off(), self.session.passing():
            yield

    def draw_weights(self) -> Draw:
        self._layers += 1
        return Draw(self.task.seed, f"{self._check} weights {self._layers}")

    def hold_to(self, rule: str) -> None:
        """Note that the check that runs is about a rule: later calls may break it too."""
        self.rules[self._check] = rule

    def bind(
        self,
        what: str,
        signature: Sequence[Parameter] | None,
        values: Mapping[str, Any],
        sizes: Mapping[str, Any],
    ) -> Call:
        """Return the candidate's own arguments for those of the contract.

        Args:
            what: What is called, for messages.
            signature: The candidate's parameters; None where they cannot be known.
            values: The contract's arguments, in order.
            sizes: What is known of sizes, for parameters outside the contract.

        Raises:
            DoesNotFit: If the parameters cannot take the arguments.
        """
        extras = extras_for(sizes)
        if signature is None:
            return bind(what, None, values, extras, self.task.vocabulary)
        given = tuple(name if value is not None else f"no {name}" for name, value in values.items())
        key = (what, id(signature), given, *extras)
        if key not in self._bound:  # names alone decide, so the same places serve the next call
            named = {name: _Place(name) if v is not None else None for name, v in values.items()}
            others = {name: _Place(name, extra=True) for name in extras}
            places = bind(what, signature, named, others, self.task.vocabulary)
            self._bound[key] = (signature, places)
        args, kwargs = self._bound[key][1]

        def value_at(place: _Place | None) -> Any:
            return place and (extras if place.extra else values)[place.name]

        return [*map(value_at, args)], {name: value_at(place) for name, place in kwargs.items()}

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
