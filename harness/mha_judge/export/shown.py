"""A report as a platform shows it: the verdict, the score, and a row for each check."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mha_judge.bank import Bank
from mha_judge.outcomes import Outcome, Verdict
from mha_judge.render.report import terminal
from mha_judge.report.models import Report, Reveal
from mha_judge.report.reveal import revealed_check
from mha_judge.report.translation import translated
from mha_judge.report.words import WORDS, Words
from mha_judge.submission import Submission
from mha_judge.syntax import syntax_tree

_TOLD = ("message", "diagnosis", "explanation", "detail")
"""The parts of a check that say what is wrong with it, in the order of reading."""


@dataclass(frozen=True)
class Row:
    """A check."""

    name: str
    category: str
    outcome: Outcome
    points: float
    max_points: float
    """0 where it was not assessed: nothing is lost by that."""
    text: str
    """What may be told of it besides; empty if nothing."""
    advisory: bool

    @property
    def passed(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def counts(self) -> bool:
        """Whether it says anything of the answer that matters for the verdict."""
        return self.outcome is not Outcome.NOT_ASSESSED and not self.advisory


@dataclass(frozen=True)
class Place:
    """A line of the file, and what is to be said there."""

    line: int
    message: str


@dataclass(frozen=True)
class Shown:
    """What a platform may know of a report."""

    title: str
    path: str
    accepted: bool
    verdict: str
    """In words."""
    score: float
    max_score: float
    rows: list[Row]
    """Empty if only the score may be told."""
    places: list[Place]
    text: str
    """The report as the terminal has it, as much as may be told."""
    whole: str
    """All of it: for teachers."""

    @property
    def fraction(self) -> float:
        """The score, out of 1."""
        return self.score / self.max_score


def shown(
    report: Report, submission: Submission | None, bank: Bank, reveal: Reveal, language: str
) -> Shown:
    """Return as much of a report as its reader may know.

    Args:
        report: What came of an answer.
        submission: The answer; None if it could not be read.
        bank: Where its problem lies.
        reveal: How much its reader may know.
        language: `en` or `zh`.
    """
    report = translated(report, bank, language)
    words = WORDS[language]
    rows = _rows(report, reveal, words)
    return Shown(
        title=report.title,
        path=report.submission.path,
        accepted=report.verdict is Verdict.ACCEPTED,
        verdict=words[str(report.verdict)],
        score=report.score,
        max_score=report.max_score,
        rows=rows,
        places=[*_places(report, rows, submission, bank, reveal)],
        text=terminal.printed(report, reveal, every_check=True, language=language),
        whole=terminal.printed(report, Reveal.FULL, every_check=True, language=language),
    )


def places(
    report: Report, submission: Submission, bank: Bank, reveal: Reveal, language: str
) -> list[Place]:
    """Return what is wrong, by line; see `shown`."""
    report = translated(report, bank, language)
    rows = _rows(report, reveal, WORDS[language])
    return [*_places(report, rows, submission, bank, reveal)]


def _rows(report: Report, reveal: Reveal, words: Words) -> list[Row]:
    told = [revealed_check(check, reveal) for check in report.checks]
    return [_row(one, words) for one in told if one is not None]


def _row(told: dict[str, object], words: Words) -> Row:
    outcome = Outcome(str(told["outcome"]))
    assessed = outcome is not Outcome.NOT_ASSESSED
    said = [str(told[part]) for part in _TOLD if told.get(part)]
    return Row(
        name=str(told["title"]),
        category=str(told["category"]),
        outcome=outcome,
        points=float(str(told["points"])),
        max_points=float(str(told["max_points"])) if assessed else 0.0,
        text="\n".join(said if assessed else [words["not assessed"], *said]),
        advisory=bool(told["advisory"]),
    )


def _places(
    report: Report, rows: list[Row], submission: Submission | None, bank: Bank, reveal: Reveal
) -> Iterator[Place]:
    """Yield what is wrong, where a line can be named; else where the answer begins.

    A mistake that is named stands for the checks that fail for it.
    """
    if report.load_problem is not None:
        yield Place(report.load_problem.line or 1, report.load_problem.message)
        return
    if reveal is Reveal.FULL:
        yield from (Place(found.line or 1, found.message) for found in report.policy)
    line = 1 if submission is None else _begins(submission, report.problem, bank)
    names = reveal in (Reveal.HINTS, Reveal.FULL)
    for mistake in report.diagnoses if names else ():
        told = mistake.explanation if reveal is Reveal.FULL else mistake.hint
        yield Place(line, f"{mistake.title}\n{told}".strip())
    for check, row in zip(report.checks, rows, strict=False):
        if row.counts and row.outcome.is_bad and not (names and check.granted):
            yield Place(line, f"{row.name}\n{row.text}".strip())


def _begins(submission: Submission, problem: str, bank: Bank) -> int:
    """Return the line on which what is graded is defined; 1 where none is found."""
    tree = syntax_tree(submission.source)
    names = {
        name
        for entry in bank.problem(problem).entry
        for name in (entry.name, *entry.aliases, *entry.classes)
    }
    defined = (ast.FunctionDef, ast.ClassDef)
    found = [
        node.lineno
        for node in (tree.body if tree is not None else ())
        if isinstance(node, defined) and node.name in names
    ]
    return found[0] if found else 1
