"""PrairieLearn: a folder a question, graded in an image that has the judge."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from mha_judge.export.platform import (
    NO_VERDICT,
    Choices,
    Exercise,
    File,
    Told,
    text_file,
    wheel_file,
)
from mha_judge.export.shown import Shown
from mha_judge.render.markdown import as_html

_TIMEOUT_S = 300
_OURS = uuid.UUID("6f0d5f0e-5a35-4c53-8f7a-1f5a1b6f3a52")


def files(exercises: Sequence[Exercise], choices: Choices) -> Iterator[File]:
    """Yield the questions, and what the image is built from."""
    for one in exercises:
        folder = f"questions/{one.problem}"
        values: dict[str, Any] = {"one": one, "choices": choices}
        information = json.dumps(_information(one, choices), indent=2, ensure_ascii=False)
        yield File(f"{folder}/info.json", f"{information}\n".encode())
        statement = as_html(one.statement).replace("{{", "&#123;&#123;")  # else Mustache fills it
        question = "prairielearn/question.html"
        yield text_file(f"{folder}/question.html", question, statement=statement, **values)
        yield File(f"{folder}/{one.file}", one.starter.encode())
        grade = "prairielearn/grade.sh"
        yield text_file(f"{folder}/tests/grade.sh", grade, executable=True, **values)
        broken = no_verdict("the judge did not start").result or ""
        yield File(f"{folder}/tests/no-verdict.json", broken.encode())
    yield text_file("image/Dockerfile", "judge.Dockerfile", harbor=False, choices=choices)
    yield from wheel_file("image/judge/", choices)


def verdict(shown: Shown) -> Told:
    """Return `results.json`, with a test for each check."""
    tests = [
        {
            "name": row.name,
            "description": row.category,
            "points": row.points,
            "max_points": row.max_points,
            "message": row.text,
        }
        for row in shown.rows
    ]
    result = {
        "gradable": True,
        "score": shown.fraction,
        "message": f"{shown.title}: {shown.verdict}",
        "output": shown.text,
        "tests": tests,
    }
    return Told(json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def no_verdict(why: str) -> Told:
    """Return that the answer could not be graded: no point and no attempt is lost."""
    message = f"{NO_VERDICT}{why}"
    result = {"gradable": False, "message": message, "format_errors": [message]}
    return Told(json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def _information(one: Exercise, choices: Choices) -> dict[str, object]:
    return {
        "uuid": str(uuid.uuid5(_OURS, f"{one.problem}/{choices.language}")),
        "title": one.title,
        "topic": "Attention",
        "tags": ["code"],
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "enabled": True,
            "image": choices.image,
            "entrypoint": "/grade/tests/grade.sh",
            "timeout": _TIMEOUT_S,
        },
    }
