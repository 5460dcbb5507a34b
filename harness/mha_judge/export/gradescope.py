"""Gradescope: a zip a problem, for an assignment of the kind "programming"."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mha_judge.export.platform import Choices, Exercise, File, Told, text_file, wheel_file
from mha_judge.export.shown import Shown

_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of all files: the same export is the same zip."""


def files(exercises: Sequence[Exercise], choices: Choices) -> Iterator[File]:
    """Yield a zip for each problem."""
    for one in exercises:
        values: dict[str, Any] = {"one": one, "choices": choices}
        parts = [
            text_file("setup.sh", "gradescope/setup.sh", executable=True, **values),
            text_file("run_autograder", "gradescope/run_autograder", executable=True, **values),
            *wheel_file("judge/", choices),
        ]
        yield File(f"{one.problem}.zip", _zipped(parts))


def verdict(shown: Shown) -> Told:
    """Return `results.json`: the rows that a student sees, and the whole report for teachers."""
    tests: list[dict[str, Any]] = [
        {
            "name": row.name,
            "status": "passed" if row.passed else "failed",
            "score": row.points,
            "max_score": row.max_points,
            "output": row.text,
            "tags": [row.category],
            "visibility": "visible",
        }
        for row in shown.rows
        if row.counts
    ]
    whole = {
        "name": "The whole report",
        "score": 0,
        "max_score": 0,
        "output": shown.whole,
        "visibility": "hidden",
    }
    result = {
        "score": shown.score,
        "output": shown.text,
        "stdout_visibility": "hidden",
        "tests": [*tests, whole],
    }
    return Told(json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def no_verdict(why: str) -> Told:
    """Return nothing: without `results.json` Gradescope says that the autograder failed."""
    return Told(None)


def _zipped(parts: Iterable[File]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for part in parts:
            member = zipfile.ZipInfo(part.path, _DAY)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if part.executable else 0o100644) << 16
            bundle.writestr(member, part.data)
    return packed.getvalue()
