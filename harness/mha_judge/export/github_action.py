"""GitHub Actions: an action that marks lines, and a workflow that uses it."""

from __future__ import annotations

import html
import secrets
from collections.abc import Iterator, Sequence

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

_FOLDER = ".github/actions/mha-judge/"
_MOST = 10
"""Marks that GitHub shows of one step."""


def files(exercises: Sequence[Exercise], choices: Choices) -> Iterator[File]:
    """Yield the action, and a workflow that grades an answer to each problem."""
    yield text_file(f"{_FOLDER}action.yml", "github_action/action.yml", choices=choices)
    yield from wheel_file(f"{_FOLDER}judge/", choices)
    workflow = ".github/workflows/mha-judge.yml"
    yield text_file(workflow, "github_action/workflow.yml", exercises=exercises)


def verdict(shown: Shown) -> Told:
    """Return the summary of the step, and the marks."""
    marks = [
        _mark(place.message, file=shown.path, line=place.line) for place in shown.places[:_MOST]
    ]
    return Told(f"<pre>{html.escape(shown.text)}</pre>\n", "".join(marks))


def no_verdict(why: str) -> Told:
    """Return that there is no verdict; the exit code fails the step."""
    message = f"{NO_VERDICT}{why}"
    return Told(f"<pre>{html.escape(message)}</pre>\n", _mark(message))


def no_commands(text: str) -> str:
    """Return a text for a step's log in which the runner obeys no line."""
    word = secrets.token_hex(16)
    return f"::stop-commands::{word}\n{text}\n::{word}::\n"


def _mark(message: str, **where: object) -> str:
    """Return an error, for the runner to show; what would end it or its fields is escaped."""
    places = [
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in {**where, "title": "mha-judge"}.items()
    ]
    return f"::error {','.join(places)}::{_escaped(message)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
