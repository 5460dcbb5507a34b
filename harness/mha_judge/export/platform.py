"""What each platform is given, and what it makes of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mha_judge.export.shown import Shown
from mha_judge.render.page import script
from mha_judge.report.models import Reveal

NO_VERDICT = "There is no verdict, through no fault of the answer: "


@dataclass(frozen=True)
class Exercise:
    """A problem, as somebody is set it."""

    problem: str
    """Its id."""
    title: str
    statement: str
    """Markdown."""
    file: str
    """What the answer is called."""
    starter: str
    solution: str
    memory_mb: int
    """What grading an answer needs at most."""


@dataclass(frozen=True)
class Choices:
    """What is the same for all problems of an export."""

    requirement: str
    """Of the judge, for pip."""
    wheel: Path | None
    """A file that is copied into the export, and installed from there instead."""
    torch_index: str | None
    """A further index for pip, which has small builds of torch."""
    reveal: Reveal
    language: str
    image: str
    """What the image of the judge will be called, on platforms that pull one."""

    def pip(self, folder: str) -> str:
        """Return what stands after `pip install`, for a shell.

        Args:
            folder: Where the wheel lies, if there is one; ends with a slash.
        """
        index = [] if self.torch_index is None else ["--extra-index-url", self.torch_index]
        what = self.requirement if self.wheel is None else f"{folder}{self.wheel.name}"
        return shlex.join([*index, what])


class File(NamedTuple):
    """A file of an export."""

    path: str
    """Relative to the folder that is written."""
    data: bytes
    executable: bool = False


class Told(NamedTuple):
    """A verdict as a platform takes it, or that there is none."""

    result: str | None
    """The text of its result file; None if it must find none."""
    printed: str = ""
    """What goes to standard output."""


class Platform(Protocol):
    """One format."""

    def files(self, exercises: Sequence[Exercise], choices: Choices) -> Iterator[File]:
        """Yield what the platform takes."""

    def verdict(self, shown: Shown) -> Told:
        """Return what the platform is told of an answer.

        Raises:
            UsageError: The platform has not said what it must.
        """

    def no_verdict(self, why: str) -> Told:
        """Return how the platform is told that the judge has failed."""


def text_file(path: str, template: str, *, executable: bool = False, **values: Any) -> File:
    """Return a file that is made from a template."""
    text = script("mha_judge.export", template, **values)
    return File(path, text.encode(), executable)


def wheel_file(folder: str, choices: Choices) -> Iterator[File]:
    """Yield the wheel, where there is one, to lie in a folder of the export."""
    if choices.wheel is not None:
        yield File(f"{folder}{choices.wheel.name}", choices.wheel.read_bytes())
