"""What a report comes to, in the order in which a person wants to know it."""

from __future__ import annotations

from dataclasses import dataclass

from mha_judge.outcomes import Category, Outcome
from mha_judge.report.models import CheckResult, Diagnosis, Report


@dataclass(frozen=True)
class CategoryCount:
    """How the checks of one category ended."""

    category: Category
    passed: int
    granted: int
    """Pass but for mistakes that are named."""
    of: int
    """All that were asked."""


@dataclass(frozen=True)
class Summary:
    """The checks of a report, sorted by what they say."""

    failures: list[CheckResult]
    """Counting checks that failed, whatever the reason."""
    unexplained: list[CheckResult]
    """Those that no mistake that is named explains."""
    advice: list[CheckResult]
    """Advisory checks that failed for reasons of their own."""
    waiting: list[CheckResult]
    """Those that build on a failed one, and could not be told with the mistakes granted either."""
    right: list[CategoryCount]
    """By category, what passed."""
    unasked: list[CheckResult]
    """Those that only an answer that is right otherwise is asked."""


def summarise(report: Report) -> Summary:
    """Return the checks of a report, sorted by what they say."""
    explained = {check for diagnosis in report.diagnoses for check in diagnosis.checks}
    lacking = {check.id for check in report.without_gpu}
    bad = [c for c in report.checks if c.outcome.is_bad]
    own = [c for c in bad if not c.granted and c.id not in explained]
    waits = [c for c in report.not_assessed if not c.granted]
    asked = [c for c in report.checks if c.id not in lacking and c not in waits]
    right = []
    for category in Category:
        of = [c for c in asked if c.category is category]
        passed = sum(c.outcome is Outcome.PASSED for c in of)
        granted = sum(bool(c.granted) for c in of)
        if passed or granted:
            right.append(CategoryCount(category, passed, granted, len(of)))
    return Summary(
        failures=[c for c in bad if not c.advisory],
        unexplained=[c for c in own if not c.advisory],
        advice=[c for c in own if c.advisory],
        waiting=[c for c in waits if not c.only_if_right],
        right=right,
        unasked=[c for c in waits if c.only_if_right],
    )


def explained_by(diagnosis: Diagnosis, report: Report) -> list[CheckResult]:
    """Return the checks that failed because of a mistake."""
    return [
        check
        for check in report.checks
        if check.outcome.is_bad and (diagnosis.id in check.granted or check.id in diagnosis.checks)
    ]


def in_one_sentence(report: Report) -> str:
    """Return what the mistakes that are named come to, and what is left; empty without any."""
    granted = [c for c in report.checks if c.granted and not c.advisory]
    priced = sum(diagnosis.cost > 0 for diagnosis in report.diagnoses)
    if not granted or not priced:
        return ""
    count = len(report.diagnoses)
    found = summarise(report)
    failures = sum(c.outcome.is_bad for c in granted)
    who = "One mistake explains" if count == 1 else f"{count} mistakes together explain"
    all_of = len(found.failures) == failures
    what = f"all {failures} failures" if all_of else f"{failures} of {len(found.failures)} failures"
    if failures == 1 and all_of:
        what = "the one failure"
    elif not failures:
        what = "why nothing could be graded"
    cost = sum(diagnosis.cost for diagnosis in report.diagnoses)
    it = "it" if count == 1 else "them"
    others = [c for c in report.checks if c.outcome is Outcome.PASSED and not c.advisory]
    stopped = sum(c.stopped for c in granted)
    passing = len(others) + len(granted) - failures - stopped
    text = f"{who} {what} (−{cost:g}). With {it} granted, the other {passing} checks pass"
    left, waiting = len(found.unexplained), len(found.waiting) + stopped
    if not left and not waiting and report.never_ran:
        return f"{text}. Nothing is known of what no check reached: {report.lines_never_reached}."
    if not left and not waiting:
        return f"{text}: everything else is right."
    still = [f"{left} still {'does' if left == 1 else 'do'} not"] if left else []
    still += [f"{waiting} cannot be told yet"] if waiting else []
    return f"{text}, and {' and '.join(still)}."


def look_at(report: Report) -> CheckResult | None:
    """Return the failed check at which a person would look first."""
    failed = {c.id: c for c in report.checks if c.outcome.is_bad and not c.advisory}
    for diagnosis in report.diagnoses:
        if diagnosis.shown_by in failed:
            return failed[diagnosis.shown_by]
    return next(iter(failed.values()), None)
