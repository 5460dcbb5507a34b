"""A candidate's dictionary of formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mha_judge.grading.assertions import describe
from mha_judge.grading.failures import CheckFailure
from mha_judge.grading.trace import Step
from mha_judge.problem import Entry

if TYPE_CHECKING:
    from mha_judge.grading.candidate import Candidate


class Answers:
    """A candidate's dictionary of formulas."""

    def __init__(self, candidate: Candidate, entry: Entry) -> None:
        self._candidate = candidate
        self.entry = entry
        self._values: dict[Any, Any] | None = None

    def get(self, key: str) -> Any:
        """Return one answer.

        Raises:
            CheckFailure: If it is missing, or ANSWERS is not a dict.
        """
        if self._values is None:
            value = self._candidate.session.request("read", name=self.entry.name).value
            if not isinstance(value, dict):
                raise CheckFailure(f"`{self.entry.name}` is {describe(value)}; a dict is wanted")
            self._values = value
        if key not in self._values:
            raise CheckFailure(f"`{self.entry.name}` has no answer to {key!r}")
        self._candidate.trace.note(Step(self, (key,), found=self._values[key]))
        return self._values[key]
