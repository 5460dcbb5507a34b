"""The scoreboard as one page: the ranking, and a section for each candidate."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace

from mha_judge.outcomes import Category
from mha_judge.render.marks import MARKS
from mha_judge.render.page import page
from mha_judge.render.score.heatmap import Pictures, pictures
from mha_judge.report.models import CheckResult, Report
from mha_judge.report.summary import in_one_sentence
from mha_judge.sanitising import visible
from mha_judge.scoring.answers import HandedIn
from mha_judge.scoring.models import Cell, Row, Scoreboard
from mha_judge.scoring.results import Results

_MAX_PICTURES = 3
"""Checks of one answer that are drawn; the others fail for the same reasons."""
_MAX_OUTPUT = 2_000


@dataclass(frozen=True)
class _Line:
    """A check, and what is said below its title."""

    check: CheckResult
    mark: str
    told: bool
    """Whether message and detail are shown: what a diagnosis explains is told in full once."""
    pictures: Pictures | None


@dataclass(frozen=True)
class _Paper:
    """A candidate's answer to one problem."""

    problem: str
    title: str
    cell: Cell
    report: Report | None = None
    source: str = ""
    lines: list[_Line] = field(default_factory=list)
    printed: str = ""
    sentence: str = ""
    """What the mistakes that are named come to."""
    same_as: _Sheet | None = None
    """The first in the ranking who handed in the same file: it is told of there."""

    def with_outcome(self, *outcomes: str) -> list[_Line]:
        """Return the lines of some outcomes, without those of checks that lack a GPU."""
        lacking = self.report.without_gpu if self.report is not None else []
        return [
            line
            for line in self.lines
            if line.check.outcome in outcomes and line.check not in lacking
        ]

    @property
    def without_gpu(self) -> list[_Line]:
        lacking = self.report.without_gpu if self.report is not None else []
        return [line for line in self.lines if line.check in lacking]


@dataclass(frozen=True)
class _Sheet:
    """A candidate."""

    number: int
    row: Row
    papers: list[_Paper]
    alike: list[str]


def render(board: Scoreboard, found: HandedIn, results: Results) -> str:
    """Return a page that needs nothing beside it."""
    sources = {
        (a.candidate, a.problem): a.submission.source
        for a in found.answers
        if a.submission is not None
    }
    sheets = [
        _sheet(number, row, board, results, sources) for number, row in enumerate(board.rows, 1)
    ]
    _group(sheets)
    earned = {name for row in board.rows for name in row.categories}
    return page(
        "mha_judge.render.score",
        "scoreboard.html",
        board=board,
        today=datetime.date.today().isoformat(),
        sheets=sheets,
        unranked=[sheet for sheet in sheets if sheet.row.rank is None],
        misconceptions=_misconceptions(sheets),
        categories=[str(category) for category in Category if str(category) in earned],
        tiers=sorted(
            {p.report.sandbox.tier for s in sheets for p in s.papers if p.source and p.report}
        ),
    )


def _sheet(
    number: int,
    row: Row,
    board: Scoreboard,
    results: Results,
    sources: dict[tuple[str, str], str],
) -> _Sheet:
    papers = []
    for problem, cell in row.problems.items():
        known = results.known.get((row.candidate, problem)) if cell.path is not None else None
        papers.append(
            _paper(
                problem,
                board.titles[problem],
                cell,
                known.report if known is not None else None,
                sources.get((row.candidate, problem), ""),
            )
        )
    alike = [
        f"{one.problem}: {_LIKENESS[one.likeness]} {', '.join(n for n in others)}"
        for one in board.similar
        if row.candidate in one.candidates
        and (others := [name for name in one.candidates if name != row.candidate])
    ]
    return _Sheet(number, row, papers, alike)


def _group(sheets: list[_Sheet]) -> None:
    """Let the same file be told of once."""
    first: dict[tuple[str, str], _Sheet] = {}
    for sheet in sheets:
        for place, paper in enumerate(sheet.papers):
            if paper.source:
                other = first.setdefault((paper.problem, paper.source), sheet)
                if other is not sheet:
                    sheet.papers[place] = replace(paper, same_as=other)


_LIKENESS = {
    "identical": "the same, but for comments and layout, as",
    "renamed": "the same, but for names, as",
    "near": "nearly the same as",
}


def _paper(problem: str, title: str, cell: Cell, report: Report | None, source: str) -> _Paper:
    if report is None:
        return _Paper(problem, title, cell)
    lines: list[_Line] = []
    told: set[str | None] = set()
    drawn = 0
    for check in report.checks:
        bad = check.outcome.is_bad
        tell = bad and (check.diagnosis is None or check.diagnosis not in told)
        told.add(check.diagnosis)
        draw = bad and check.sample is not None and drawn < _MAX_PICTURES and not check.advisory
        drawn += draw
        drawing = pictures(check.sample) if draw and check.sample is not None else None
        lines.append(_Line(check, MARKS[check.outcome], tell, drawing))
    printed = report.output.text.strip()
    if len(printed) > _MAX_OUTPUT:
        printed = printed[:_MAX_OUTPUT] + "…"
    text = visible(source)
    return _Paper(problem, title, cell, report, text, lines, printed, in_one_sentence(report))


@dataclass(frozen=True)
class _Misconception:
    """A mistake, and who made it."""

    problem: str
    title: str
    by: list[bool]
    """Whether each candidate did, in the order of the ranking."""

    @property
    def count(self) -> int:
        return sum(self.by)


def _misconceptions(sheets: list[_Sheet]) -> list[_Misconception]:
    """Return the mistakes that anyone made, the most frequent first."""
    made: dict[tuple[str, str], dict[int, str]] = {}
    for sheet in sheets:
        for paper in sheet.papers:
            for diagnosis in paper.report.diagnoses if paper.report is not None else []:
                key = (paper.problem, diagnosis.id)
                made.setdefault(key, {})[sheet.number] = diagnosis.title
    found = [
        _Misconception(problem, next(iter(who.values())), [s.number in who for s in sheets])
        for (problem, _), who in made.items()
    ]
    return sorted(found, key=lambda one: (-one.count, one.problem, one.title))
