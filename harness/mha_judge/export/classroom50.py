"""Classroom 50: an `autograder.py` an assignment, which GitHub Actions runs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from mha_judge.errors import UsageError
from mha_judge.export.github_action import no_commands
from mha_judge.export.platform import Choices, Exercise, File, Told, text_file, wheel_file
from mha_judge.export.shown import Shown

_FROM_VARIABLES = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
"""By a key of `result.json`, the variable of the runner that says it."""


def files(exercises: Sequence[Exercise], choices: Choices) -> Iterator[File]:
    """Yield a folder for each problem, to lie in `CLASSROOM/autograders/`."""
    for one in exercises:
        path = f"{one.problem}/autograder.py"
        yield text_file(path, "classroom50/autograder.jinja", one=one, choices=choices)
        yield from wheel_file(f"{one.problem}/judge/", choices)


def verdict(shown: Shown) -> Told:
    """Return `result.json`: its numbers are whole, and its tests add up to its score.

    One test has the score; the checks are worth nothing of their own. What was not assessed is left
    out, for a test is passed or not.

    Raises:
        UsageError: A variable of the runner is missing.
    """
    missing = [name for name in _FROM_VARIABLES.values() if not os.environ.get(name)]
    if missing:
        raise UsageError(f"{', '.join(missing)}: not set; Classroom 50's runner sets them")
    score = {"score": math.floor(shown.score), "max-score": math.floor(shown.max_score)}
    checks = [
        {"test-name": row.name, "passed": row.passed, "score": 0, "max-score": 0}
        for row in shown.rows
        if row.counts
    ]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    result = {
        "schema": "classroom50/result/v1",
        **{key: os.environ[name] for key, name in _FROM_VARIABLES.items()},
        "datetime": now,
        "graded_at": now,
        **score,
        "tests": [{"test-name": shown.title, "passed": shown.accepted, **score}, *checks],
    }
    return Told(json.dumps(result, indent=2, ensure_ascii=False) + "\n", no_commands(shown.text))


def no_verdict(why: str) -> Told:
    """Return nothing: with the exit code it makes an error of the runner, and no grade."""
    return Told(None)
