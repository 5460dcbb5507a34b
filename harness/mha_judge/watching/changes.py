"""What changed between two grades of one file."""

from __future__ import annotations

from dataclasses import dataclass

from mha_judge.outcomes import Outcome
from mha_judge.report.models import CheckResult, Report


@dataclass(frozen=True)
class Changes:
    """The checks that pass now and did not, and those that did and do not; titles."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]


def changes(before: Report | None, now: Report) -> Changes:
    """Return what a grade gained and lost against the one before it; nothing for a first one."""
    if before is None:
        return Changes((), ())
    was, is_ = (_passed(report.checks) for report in (before, now))
    titles = {check.id: check.title for check in (*before.checks, *now.checks)}
    return Changes(
        tuple(titles[name] for name in is_ if name not in was),
        tuple(titles[name] for name in was if name not in is_),
    )


def _passed(checks: list[CheckResult]) -> dict[str, None]:
    return {c.id: None for c in checks if c.outcome is Outcome.PASSED and not c.advisory}
