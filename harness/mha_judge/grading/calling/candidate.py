"""The `candidate` fixture: the submission, as the entries of its problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mha_judge.grading.binding.entries import find_entry
from mha_judge.grading.calling.answers import Answers
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.module import ModuleEntry
from mha_judge.grading.calling.replies import Observed
from mha_judge.grading.calling.session import Session
from mha_judge.grading.calling.stateful import ObjectEntry
from mha_judge.grading.calling.trace import Step, Trace
from mha_judge.grading.checks.draw import Draw
from mha_judge.problem import Entry, Problem
from mha_judge.questions import Question

_Proxy = Function | ModuleEntry | ObjectEntry | Answers


class Candidate:
    """The entries of a problem, as attributes by their names in the contract."""

    def __init__(
        self,
        session: Session,
        problem: Problem,
        reference: Any,
        seed: int,
        source: str,
        questions: Mapping[str, Question] = MappingProxyType({}),
    ) -> None:
        self.session = session
        self.problem = problem
        self.reference = reference
        self.source = source
        self.questions = questions
        self.notes: list[str] = []
        self.trace = Trace()
        self.recognise: Callable[[Step], bool] | None = None
        """Tells whether an answer is that of a known mistake."""
        self.rules: dict[str, str] = {}
        """By id of a check, the rule that it holds the submission to in every call."""
        self.observations: list[Observed] = []
        """What every call did, where what is ruled out shows only so."""
        self.observed = "autograd" in problem.forbid or any(
            entry.arrays == "numpy" for entry in problem.entry
        )
        """Whether every call is observed."""
        self._seed = seed
        self._check = ""
        self._layers = 0
        self._entries: dict[str, _Proxy] = {}

    def enter(self, check: str) -> None:
        """Note which check runs: weights are drawn for it alone."""
        self._check = check
        self._layers = 0
        self.trace.enter(check)

    def draw_weights(self) -> Draw:
        self._layers += 1
        return Draw(self._seed, f"{self._check} weights {self._layers}")

    def hold_to(self, rule: str) -> None:
        """Note that the check that runs is about a rule: later calls may break it too."""
        self.rules[self._check] = rule

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def __getattr__(self, name: str) -> Any:
        """Return the proxy of an entry.

        Raises:
            CheckFailure: If the file has no such entry.
        """
        entry = None if name.startswith("_") else self.problem.entry_named(name)
        if entry is None:
            raise AttributeError(f"the problem {self.problem.id} has no entry {name!r}")
        if name not in self._entries:
            self._entries[name] = self._make(entry)
        return self._entries[name]

    def _make(self, entry: Entry) -> _Proxy:
        found = find_entry(entry, self.session.definitions)
        if found.name != entry.name:
            self.note(f"`{found.name}` is taken for `{entry.name}`")
        if entry.kind == "answers":
            return Answers(self, entry)
        kinds: dict[str, Callable[..., _Proxy]]
        kinds = {"module": ModuleEntry, "object": ObjectEntry, "function": Function}
        return kinds[entry.kind](self, entry, found)
