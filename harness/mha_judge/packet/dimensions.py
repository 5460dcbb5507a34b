"""The scoring sheet: six dimensions, with what the judge measured, and no mark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mha_judge.outcomes import Category, Outcome
from mha_judge.packet.models import Dimension, Evidence
from mha_judge.report.models import CheckResult, Report

_MIB = 1024**2
_Measured = Callable[[Report], Iterator[str]]


def dimensions(reports: Iterable[Report]) -> list[Dimension]:
    """Return the sheet for these reports; where nothing was measured there is no evidence."""
    known = list(reports)
    return [
        Dimension(
            name=name,
            looks_at=looks_at,
            measured=measured is not None,
            evidence=[
                Evidence(problem=report.title, text=text)
                for report in known
                for text in (measured(report) if measured is not None else ())
            ],
        )
        for name, looks_at, measured in _ROWS
    ]


def _correctness(report: Report) -> Iterator[str]:
    if report.load_problem is not None:
        yield "The file did not load, so nothing was measured."
    yield from _counts(
        report, Category.SHAPE, Category.VALUES, Category.GRADIENTS, Category.ROBUSTNESS
    )
    for mistake in report.diagnoses:
        yield f"Mistake: {mistake.title} (−{mistake.cost:g})."


def _masking(report: Report) -> Iterator[str]:
    yield from _counts(report, Category.MASKING)


def _numerics(report: Report) -> Iterator[str]:
    yield from _counts(report, Category.NUMERICS)


def _efficiency(report: Report) -> Iterator[str]:
    yield from _counts(report, Category.COST)
    figures = {
        "cpu_s": "{:.2f} s of processor time for all checks",
        "peak_memory_bytes": "{:.0f} MiB of memory at most, libraries included",
    }
    scale = {"peak_memory_bytes": _MIB}
    said = [
        text.format(report.cost[name] / scale.get(name, 1))
        for name, text in figures.items()
        if report.cost.get(name)
    ]
    if said:
        yield f"{'; '.join(said)}; as the answer's own process reports it."


def _counts(report: Report, *categories: Category) -> Iterator[str]:
    """Yield how many checks of each category passed, and which failed without a named mistake."""
    counts, failed = [], []
    for category in categories:
        asked = _asked(report, category)
        if not asked:
            continue
        passed = sum(check.outcome is Outcome.PASSED for check in asked)
        count = f"{category} {passed} of {len(asked)}"
        if granted := sum(bool(check.granted) for check in asked):
            count += f", {granted} more but for the mistakes that are named"
        counts.append(count)
        failed += [
            f"“{check.title}”" for check in asked if check.outcome.is_bad and not check.granted
        ]
    if counts:
        yield f"Checks passed: {'; '.join(counts)}."
    if failed:
        yield f"Failed: {'; '.join(failed)}."


def _asked(report: Report, category: Category) -> list[CheckResult]:
    """Return the checks of a category that count against the answer if they do not pass."""
    if report.load_problem is not None:
        return []
    lacking = {check.id for check in report.without_gpu}
    return [
        check
        for check in report.checks
        if check.category is category
        and not check.advisory
        and check.id not in lacking
        and not (check.only_if_right and check.outcome is Outcome.NOT_ASSESSED)
    ]


_ROWS: tuple[tuple[str, str, _Measured | None], ...] = (
    ("Correctness", "shapes, values, gradients, refusing what is wrong", _correctness),
    ("Masking", "what a mask hides, in every form that it may have", _masking),
    ("Numerics", "large scores, dtypes, precision", _numerics),
    ("Efficiency", "operations, memory and time, and what is known of them", _efficiency),
    ("Code quality", "names, structure, comments where they are needed", None),
    ("Understanding", "the answers to the questions, and what is asked back", None),
)
NAMES = tuple(name for name, _, _ in _ROWS)
"""Of the dimensions, in order."""
