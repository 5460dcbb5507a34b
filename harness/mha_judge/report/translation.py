"""A report in another language: titles of checks, answers to questions, the words of mistakes.

Messages of checks stay in English, as do exceptions; JSON and JUnit XML are English throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mha_judge.bank import Bank
from mha_judge.bank.ladder import read_ladders
from mha_judge.report.models import CheckResult, Diagnosis, Report


def with_titles(checks: Sequence[CheckResult], titles: Mapping[str, str]) -> list[CheckResult]:
    """Return checks with other titles, by those that they have."""
    return [
        check.model_copy(update={"title": titles.get(check.title, check.title)}) for check in checks
    ]


def translated(report: Report, bank: Bank, language: str) -> Report:
    """Return a report as its reader speaks; what the bank has in English only stays as it is.

    Raises:
        BankError: If a file of words is broken.
    """
    if language == "en" or report.problem not in bank.ids:
        return report
    ladders = read_ladders(bank, report.problem, language).mistakes

    def of(diagnosis: Diagnosis) -> Diagnosis:
        ladder = ladders.get(diagnosis.id)
        if ladder is None:
            return diagnosis
        hint = ladder.rungs[0] if ladder.rungs else diagnosis.hint
        words = {"title": ladder.title, "explanation": ladder.explanation, "hint": hint}
        return diagnosis.model_copy(update=words)

    named = {one.title: of(one).title for one in report.diagnoses}
    questions = bank.questions(report.problem).values()
    answers = {one.told("en"): one.told(language) for one in questions}
    checks = [
        check.model_copy(
            update={
                "diagnosis": named.get(check.diagnosis or "", check.diagnosis),
                "explanation": answers.get(check.explanation, check.explanation),
            }
        )
        for check in with_titles(report.checks, bank.titles(language))
    ]
    return report.model_copy(
        update={
            "title": bank.problem(report.problem).title_in(language),
            "checks": checks,
            "diagnoses": [of(one) for one in report.diagnoses],
        }
    )
