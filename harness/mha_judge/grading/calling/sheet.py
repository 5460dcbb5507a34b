"""A candidate's dictionary of answers."""

from __future__ import annotations

from typing import Any

from mha_judge.bank.problem import Entry
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.expecting.compare import describe
from mha_judge.grading.failures import CheckFailure
from mha_judge.wire.operations import Operation


class AnswerSheet:
    """A candidate's dictionary of answers: formulas, and letters of choices."""

    chained = False

    def __init__(self, context: Context, entry: Entry) -> None:
        self._context = context
        self.questions = context.task.questions
        self.entry = entry
        self._values: dict[Any, Any] | None = None

    def given(self, key: str) -> object:
        """Return one answer as it was written; None if missing, which another check reports.

        Raises:
            CheckFailure: If ANSWERS is not a dict.
        """
        return self._answers().get(key)

    def get(self, key: str) -> Any:
        """Return one answer; where it names a choice, that choice's text.

        Raises:
            CheckFailure: If it is missing, or ANSWERS is not a dict.
        """
        answers = self._answers()
        if key not in answers:
            raise CheckFailure(f"`{self.entry.name}` has no answer to {key!r}")
        found = answers[key]
        choice = self.questions[key].chosen(found) if key in self.questions else None
        found = found if choice is None else choice.text
        self._context.trace.note(Step(self, (key,), found=found))
        return found

    def _answers(self) -> dict[Any, Any]:
        if self._values is None:
            value = self._context.session.request(Operation.READ, name=self.entry.name).value
            if not isinstance(value, dict):
                raise CheckFailure(f"`{self.entry.name}` is {describe(value)}; a dict is wanted")
            self._values = value
        return self._values
