"""From results to a ranking."""

from __future__ import annotations

from collections.abc import Mapping

from mha_judge.bank import Bank
from mha_judge.outcomes import Category, Outcome
from mha_judge.report.models import Report
from mha_judge.scoring.answers import HandedIn
from mha_judge.scoring.keys import Keys
from mha_judge.scoring.models import Cell, Failure, Result, Row, Scoreboard, Standing
from mha_judge.scoring.results import Results
from mha_judge.version import __version__


def rank(found: HandedIn, results: Results, weights: Mapping[str, float], bank: Bank) -> Scoreboard:
    """Return the table of all candidates.

    The problems are those that anyone answered and those that have a weight of their own.

    Args:
        found: Who handed in what; results of others do not count.
        results: What is known.
        weights: By problem; its points where nothing is said.
        bank: For titles and points.
    """
    ids = sorted({*found.problems, *weights})
    problems = {problem: bank.problem(problem) for problem in ids}
    weighed = {name: weights.get(name, float(one.points)) for name, one in problems.items()}
    current = {
        (a.candidate, a.problem): result
        for a in found.answers
        if (result := results.known.get((a.candidate, a.problem))) is not None
    }
    worth = _worth([r.report for r in current.values() if r.report is not None])
    rows = [
        _row(name, {p: current.get((name, p)) for p in ids}, weighed, worth)
        for name in found.candidates
    ]
    return Scoreboard(
        version=__version__,
        bank=Keys(bank, "").of_problems(ids)[:12],
        seed=results.seed,
        weights=weighed,
        titles={name: problem.title for name, problem in problems.items()},
        rows=_ranked(rows),
        failures=[
            Failure(candidate=r.candidate, problem=r.problem, path=r.path, fault=r.fault)
            for r in current.values()
            if r.fault is not None
        ],
        left_out=found.left_out,
    )


def _row(
    candidate: str,
    results: Mapping[str, Result | None],
    weights: Mapping[str, float],
    worth: Mapping[str, Mapping[Category, float]],
) -> Row:
    cells = {problem: _cell(result) for problem, result in results.items()}
    known = {p: cell.score for p, cell in cells.items() if cell.score is not None}
    total = sum(weights[problem] for problem in known)
    earned = sum(weights[problem] * score for problem, score in known.items())
    return Row(
        rank=None,
        candidate=candidate,
        total=round(earned / total, 2) if total else 0.0,
        provisional=len(known) < len(cells),
        problems=cells,
        categories=_categories({p: results[p] for p in known}, weights, worth),
    )


def _cell(result: Result | None) -> Cell:
    if result is None:
        return Cell(standing=Standing.MISSING, score=0.0)
    if result.report is None:
        return Cell(standing=Standing.NOT_GRADED, score=None, path=result.path)
    report = result.report
    return Cell(
        standing=Standing(str(report.verdict)),
        score=report.score,
        strict=report.strict_score,
        path=result.path,
        sha256=report.submission.sha256 or None,
        diagnoses=[diagnosis.title for diagnosis in report.diagnoses],
        load_problem="" if report.load_problem is None else report.load_problem.message,
    )


def _worth(reports: list[Report]) -> dict[str, dict[Category, float]]:
    """Return what each category of each problem is worth; also for those who did not answer."""
    worth: dict[str, dict[Category, float]] = {}
    for report in reports:
        if report.checks and report.problem not in worth:
            points: dict[Category, float] = {}
            for check in report.checks:
                points[check.category] = points.get(check.category, 0.0) + check.max_points
            worth[report.problem] = points
    return worth


def _categories(
    results: Mapping[str, Result | None],
    weights: Mapping[str, float],
    worth: Mapping[str, Mapping[Category, float]],
) -> dict[str, float]:
    of: dict[Category, float] = {}
    earned: dict[Category, float] = {}
    for problem, result in results.items():
        for category, points in worth.get(problem, {}).items():
            of[category] = of.get(category, 0.0) + weights[problem] * points
        checks = result.report.checks if result is not None and result.report is not None else []
        for check in checks:
            if check.only_if_right and check.outcome is Outcome.NOT_ASSESSED:
                of[check.category] -= weights[problem] * check.max_points
                continue
            more = weights[problem] * check.points
            earned[check.category] = earned.get(check.category, 0.0) + more
    return {
        str(category): round(100 * earned.get(category, 0.0) / of[category], 1)
        for category in Category
        if of.get(category)
    }


def _ranked(rows: list[Row]) -> list[Row]:
    """Return the best first; equal totals share a rank, and the next one is left out.

    Who was not graded has no rank and comes last.
    """
    graded = [row for row in rows if any(map(_is_graded, row.problems.values()))]
    ordered = sorted(graded, key=lambda row: (-row.total, row.candidate))
    totals = [row.total for row in ordered]
    ranked = [row.model_copy(update={"rank": totals.index(row.total) + 1}) for row in ordered]
    others = [row for row in rows if row not in graded]
    return [*ranked, *(row.model_copy(update={"categories": {}}) for row in others)]


def _is_graded(cell: Cell) -> bool:
    return cell.standing not in (Standing.MISSING, Standing.NOT_GRADED)
