"""What a report comes to, in the order in which a person wants to know it."""

from __future__ import annotations

from dataclasses import dataclass

from mha_judge.outcomes import Category, Outcome
from mha_judge.report.models import CheckResult, Diagnosis, Report
from mha_judge.report.words import WORDS


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
    """Those that fail with the mistakes that are named granted, too."""
    advice: list[CheckResult]
    """Advisory checks that failed for reasons of their own."""
    waiting: list[CheckResult]
    """Counting ones that build on a failed one, and could not be told with the mistakes granted."""
    right: list[CategoryCount]
    """By category, what passed."""
    unasked: list[CheckResult]
    """Those that only an answer that is right otherwise is asked."""


def summarise(report: Report) -> Summary:
    """Return the checks of a report, sorted by what they say."""
    explained = {check for diagnosis in report.diagnoses for check in diagnosis.checks}
    lacking = {check.id for check in report.without_gpu}
    bad = [c for c in report.checks if c.outcome.is_bad]
    own = [c for c in bad if c.id not in explained]
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
        waiting=[c for c in waits if not (c.only_if_right or c.advisory)],
        right=right,
        unasked=[c for c in waits if c.only_if_right],
    )


def explained_by(diagnosis: Diagnosis, report: Report) -> list[CheckResult]:
    """Return the counting checks that failed because of a mistake."""
    bad = [c for c in report.checks if c.outcome.is_bad and not c.advisory]
    return [c for c in bad if c.id in diagnosis.checks]


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
    explained = len(found.failures) - len(found.unexplained)
    others = [c for c in report.checks if c.outcome is Outcome.PASSED and not c.advisory]
    stopped = sum(c.stopped for c in granted)
    numbers = {
        "mistakes": len(report.diagnoses),
        "explained": explained,
        "failures": len(found.failures),
        "cost": sum(diagnosis.cost for diagnosis in report.diagnoses),
        "passing": len(others) + sum(not c.outcome.is_bad for c in granted) - stopped,
        "failing": len(found.unexplained),
        "waiting": len(found.waiting),
        "stopped": stopped,
    }
    words = WORDS[language]

    def say(what: str) -> str:
        return words[what].format(**numbers, lines=report.lines_never_reached)

    what = "explain some"
    if not explained:
        what = "explain nothing"
    elif explained == len(found.failures):
        what = "explain the one" if explained == 1 else "explain all"
    one = len(report.diagnoses) == 1
    text = say("one mistake" if one else "mistakes") + say(what) + say("price")
    if report.only:  # nothing is known of the rest
        return text
    text += say("it granted" if one else "they granted")
    text += say("the other passes" if numbers["passing"] == 1 else "the others pass")
    left = []
    if numbers["failing"]:
        left.append(say("one fails" if numbers["failing"] == 1 else "some fail"))
    if numbers["waiting"]:
        left.append(say("untold without points"))
    if numbers["stopped"]:
        left.append(say("untold"))
    if left:
        return text + words["left over"].format(left=words["and"].join(left))
    if report.never_ran:
        return text + say("nothing known")
    return text + say("all right so far" if found.unasked else "all right")


def look_at(report: Report) -> CheckResult | None:
    """Return the failed check at which a person would look first."""
    failed = {c.id: c for c in report.checks if c.outcome.is_bad and not c.advisory}
    for diagnosis in report.diagnoses:
        if diagnosis.shown_by in failed:
            return failed[diagnosis.shown_by]
    return next(iter(failed.values()), None)
