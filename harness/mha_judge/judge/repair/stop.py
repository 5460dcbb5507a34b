"""What stops a program, as its report tells."""

from __future__ import annotations

import re
from collections import Counter

from mha_judge.judge.repair.place import Stop
from mha_judge.outcomes import Outcome
from mha_judge.report.models import CheckResult, Report

_NO_RETURN = "is a `return` missing?"


def stop_of(report: Report) -> Stop | None:
    """Return what keeps a file from loading, or what most of the checks that fail have raised.

    They have raised the same if its type and its line are the same: torch's words tell of sizes.
    """
    problem = report.load_problem
    if problem is not None:
        return Stop(problem.message, problem.line, problem.column or 0) if problem.line else None
    bad = [check for check in report.checks if check.outcome.is_bad and not check.advisory]
    stops = [stop for stop in map(_stopped, bad) if stop is not None]
    kinds = Counter(map(_kind, stops))
    for kind, count in kinds.most_common(1):
        if 2 * count > len(bad):
            return next(stop for stop in stops if _kind(stop) == kind)
    return None


def _stopped(check: CheckResult) -> Stop | None:
    if _NO_RETURN in check.message:
        return Stop(check.message, 0)
    line = re.match(r"line (\d+)\b", check.detail)
    return Stop(check.message, int(line[1])) if line and check.outcome is Outcome.ERROR else None


def _kind(stop: Stop) -> tuple[str, int]:
    return stop.message.partition(":")[0] if stop.line else "", stop.line
