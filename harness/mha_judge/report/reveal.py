"""What of a report a candidate may see."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from mha_judge.outcomes import Outcome
from mha_judge.report.models import CheckResult, Report, Reveal

_RESULT = {"problem", "title", "verdict", "score", "strict_score", "max_score", "load_problem"}
_CHECK = {"title", "category", "outcome", "points", "max_points", "advisory"}
_TOLD_WITH_HINTS = {"message", "diagnosis"}


def revealed(report: Report, reveal: Reveal) -> dict[str, Any]:
    """Return as much of a report as a level allows, ready for JSON.

    `score` is the verdict; `checks` adds titles and outcomes; `hints` adds messages, what they
    point to, and the smallest call that goes wrong; `full` is everything. What is the candidate's
    own fault in loading is always told.

    The points of the checks add up to the strict score. Those that are granted, less what the
    mistakes cost for which they are, make the difference to the score.
    """
    if reveal is Reveal.FULL:
        full = report.model_dump(mode="json")
        full["submission"]["path"] = PurePath(report.submission.path).name  # the folder is not his
        return full
    shown = report.model_dump(mode="json", include=_RESULT)
    if reveal is not Reveal.SCORE:
        shown["checks"] = [revealed_check(check, reveal) for check in report.checks]
        told = {"cost"} if reveal is Reveal.CHECKS else {"title", "hint", "cost"}
        shown["diagnoses"] = [d.model_dump(mode="json", include=told) for d in report.diagnoses]
    if reveal is Reveal.HINTS:
        shown |= report.model_dump(mode="json", include={"hints", "failing_call"})
    return shown


def revealed_check(check: CheckResult, reveal: Reveal) -> dict[str, Any] | None:
    """Return as much of one check as a level allows; None if that is nothing."""
    if reveal is Reveal.FULL:
        return check.model_dump(mode="json")
    if reveal is Reveal.SCORE:
        return None
    told = _CHECK if reveal is not Reveal.HINTS else _CHECK | {"explanation"}
    if reveal is Reveal.HINTS and check.outcome is not Outcome.PASSED:
        told = told | _TOLD_WITH_HINTS
    return {**check.model_dump(mode="json", include=told), "granted": bool(check.granted)}
