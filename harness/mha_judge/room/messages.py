"""What a browser sends, one message at a time; `hub.py` tells what it is sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from mha_judge.browser.messages import Message as _Message
from mha_judge.browser.messages import reader
from mha_judge.report.models import Reveal
from mha_judge.room.changes import MAX_UNITS
from mha_judge.sanitising import visible

_Problem = Annotated[str, Field(max_length=60)]
_Version = Annotated[int, Field(ge=0, strict=True)]
_Place = Annotated[int, Field(ge=0, le=MAX_UNITS, strict=True)]


class Here(_Message):
    """The first one: what the browser has already, after a break perhaps."""

    kind: Literal["here"]
    versions: Annotated[dict[_Problem, _Version], Field(max_length=64, default_factory=dict)]


class Push(_Message):
    """Changes of the text of a problem, made on a version that the browser takes for current."""

    kind: Literal["push"]
    problem: _Problem
    version: _Version
    client: Annotated[str, Field(max_length=64)]
    changes: Annotated[list[Any], Field(min_length=1, max_length=500)]


class Cursor(_Message):
    """Where one's cursor is; `anchor` is the end of a selection that stays."""

    kind: Literal["cursor"]
    problem: _Problem
    anchor: _Place
    head: _Place


class Run(_Message):
    """Grade a problem's text as it is."""

    kind: Literal["run"]
    problem: _Problem


class Stop(_Message):
    """Stop the run that is going on."""

    kind: Literal["stop"]


class Try(_Message):
    """Call what a problem's text defines, beside the reference."""

    kind: Literal["try"]
    problem: _Problem
    call: Annotated[str, Field(max_length=10_000)]


class Pasted(_Message):
    """More than a line was pasted."""

    kind: Literal["pasted"]
    problem: _Problem
    units: _Place
    lines: _Place


class Focus(_Message):
    """The page was left for another window, or one came back to it."""

    kind: Literal["focus"]
    here: bool


class Show(_Message):
    """Interviewers: go to a problem."""

    kind: Literal["show"]
    problem: _Problem


class See(_Message):
    """Interviewers: how much of a report the candidate sees."""

    kind: Literal["see"]
    level: Reveal


class Clock(_Message):
    """Interviewers: give so many minutes from now; None takes the clock away."""

    kind: Literal["clock"]
    minutes: Annotated[float, Field(gt=0, le=600)] | None


class Note(_Message):
    """Interviewers: keep a note, which no candidate sees."""

    kind: Literal["note"]
    text: Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(visible)]


class Hint(_Message):
    """Interviewers: tell the candidate something, which stays on the page."""

    kind: Literal["hint"]
    text: Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(visible)]


ForInterviewers = Show | See | Clock | Note | Hint
Message = Push | Cursor | Run | Stop | Try | Pasted | Focus | ForInterviewers
read = reader(Here | Message)
