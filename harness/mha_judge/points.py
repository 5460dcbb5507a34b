"""From the outcomes of checks to points, score and verdict."""

from __future__ import annotations

from collections.abc import Sequence

from mha_judge.outcomes import Outcome, Verdict
from mha_judge.report.models import CheckResult


def verdict(checks: Sequence[CheckResult]) -> Verdict:
    """Accepted if every check that counts passed."""
    counting = [check for check in checks if not check.advisory]
    passed = all(check.outcome is Outcome.PASSED for check in counting)
    return Verdict.ACCEPTED if passed else Verdict.REJECTED


def score(checks: Sequence[CheckResult]) -> float:
    if checks and all(c.points == c.max_points for c in checks):
        return 100.0
    return min(round(sum(check.points for check in checks), 1), 99.9)


def scaled(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the checks with their points scaled so that a problem's add up to 100."""
    total = sum(result.max_points for result in results) or 1.0
    return [
        result.model_copy(
            update={
                "points": round(100 * result.points / total, 4),
                "max_points": round(100 * result.max_points / total, 4),
            }
        )
        for result in results
    ]
