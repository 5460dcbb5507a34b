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


def in_one_sentence(report: Report, language: str = "en") -> str:
    """Return what the mistakes that are named come to, and what is left; empty without any.

    Args:
        report: What came of a submission.
        language: `en` or `zh`.
    """
    granted = [c for c in report.checks if c.granted and not c.advisory]
    if not granted or not any(diagnosis.cost > 0 for diagnosis in report.diagnoses):
        return ""
    found = summarise(report)
    failures = sum(c.outcome.is_bad for c in granted)
    others = [c for c in report.checks if c.outcome is Outcome.PASSED and not c.advisory]
    stopped = sum(c.stopped for c in granted)
    counts = _Counts(
        mistakes=len(report.diagnoses),
        explained=failures,
        failures=len(found.failures),
        cost=sum(diagnosis.cost for diagnosis in report.diagnoses),
        passing=len(others) + len(granted) - failures - stopped,
        failing=len(found.unexplained),
        untold=len(found.waiting) + stopped,
        never_reached=report.lines_never_reached,
    )
    return {"en": _in_english, "zh": _in_chinese}[language](counts)


@dataclass(frozen=True)
class _Counts:
    """What the sentence on the mistakes of a report says."""

    mistakes: int
    explained: int
    """Failures that they explain, of all `failures`."""
    failures: int
    cost: float
    passing: int
    """Other checks that pass once the mistakes are granted."""
    failing: int
    """Checks that do not."""
    untold: int
    """Checks of which nothing can be told."""
    never_reached: str
    """Numbers of lines."""


def _in_english(of: _Counts) -> str:
    who = "One mistake explains" if of.mistakes == 1 else f"{of.mistakes} mistakes together explain"
    what = f"{of.explained} of {of.failures} failures"
    if not of.explained:
        what = "why nothing could be graded"
    elif of.explained == of.failures:
        what = "the one failure" if of.failures == 1 else f"all {of.failures} failures"
    it = "it" if of.mistakes == 1 else "them"
    text = f"{who} {what} (−{of.cost:g}). With {it} granted, the other {of.passing} checks pass"
    if of.failing or of.untold:
        still = [f"{of.failing} still {'does' if of.failing == 1 else 'do'} not"] * bool(of.failing)
        still += [f"{of.untold} cannot be told yet"] * bool(of.untold)
        return f"{text}, and {' and '.join(still)}."
    if of.never_reached:
        return f"{text}. Nothing is known of what no check reached: {of.never_reached}."
    return f"{text}: everything else is right."


def _in_chinese(of: _Counts) -> str:
    who = "一个错误" if of.mistakes == 1 else f"{of.mistakes} 个错误合起来"
    what = f"解释了 {of.failures} 项失败中的 {of.explained} 项"
    if not of.explained:
        what = "说明了为什么无法评分"
    elif of.explained == of.failures:
        what = f"解释了全部 {of.failures} 项失败"
    text = f"{who}{what}（−{of.cost:g}）。除此之外，另外 {of.passing} 项检查通过"
    if of.failing or of.untold:
        still = [f"{of.failing} 项仍未通过"] * bool(of.failing)
        still += [f"{of.untold} 项还无法判断"] * bool(of.untold)
        return f"{text}，{'，'.join(still)}。"
    if of.never_reached:
        return f"{text}。没有检查运行到的行（{of.never_reached}）如何，不得而知。"
    return f"{text}：其余全都正确。"


def look_at(report: Report) -> CheckResult | None:
    """Return the failed check at which a person would look first."""
    failed = {c.id: c for c in report.checks if c.outcome.is_bad and not c.advisory}
    for diagnosis in report.diagnoses:
        if diagnosis.shown_by in failed:
            return failed[diagnosis.shown_by]
    return next(iter(failed.values()), None)
