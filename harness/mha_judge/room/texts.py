"""What the bank says of a problem, for a page."""

from __future__ import annotations

from typing import Any

from mha_judge.bank import Bank
from mha_judge.errors import BankError
from mha_judge.packet.answers import Environment
from mha_judge.packet.questions import general, questions
from mha_judge.render.markdown import as_html
from mha_judge.report.models import CheckResult, Report
from mha_judge.report.translation import translated, with_titles
from mha_judge.scoring.keys import Keys


class Texts:
    """The texts of one bank. One that has left it while a room is open is said to be gone."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def starter(self, problem: str) -> str:
        """Return the file with which a problem begins."""
        return self._bank.starter(problem)

    def title(self, problem: str, language: str) -> str:
        """Return a problem's title."""
        try:
            return self._bank.problem(problem).title_in(language)
        except BankError:
            return problem

    def of_problem(self, problem: str, language: str) -> dict[str, Any]:
        """Return title, task and fine print of a problem, the texts as HTML."""
        try:
            task = as_html(self._bank.task(problem, language))
            fine_print = as_html(self._bank.fine_print(problem, language))
        except BankError as error:
            task, fine_print = as_html(str(error)), ""
        return {"title": self.title(problem, language), "task": task, "fine_print": fine_print}

    def graded_with(self, problem: str) -> dict[str, str] | None:
        """Return the versions of what grades a problem; None if it has left the bank."""
        try:
            return Environment.current(problem, Keys(self._bank, "")).model_dump()
        except BankError:
            return None

    def report(self, report: Report, language: str) -> Report:
        """Return a report in a room's language, as far as the bank has the words."""
        try:
            return translated(report, self._bank, language)
        except BankError:
            return report

    def check(self, check: CheckResult, language: str) -> CheckResult:
        """Return a check with its title in a room's language."""
        try:
            return with_titles([check], self._bank.titles(language))[0]
        except BankError:
            return check

    def questions(self, problem: str, language: str) -> list[dict[str, Any]]:
        """Return what an interviewer may ask after a problem, and what a good answer contains."""
        try:
            return [one.model_dump() for one in general(problem, self._bank, language)]
        except BankError:
            return []

    def questions_on(self, report: Report, language: str) -> dict[str, Any]:
        """Return what an interviewer may ask of one answer."""
        try:
            return questions(report, self._bank, language).model_dump(exclude={"general"})
        except BankError:
            return {"mistakes": [], "near_misses": []}
