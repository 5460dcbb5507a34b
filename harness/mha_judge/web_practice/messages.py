"""What the page sends, one message at a time; `desk.py` tells what it is sent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mha_judge.browser.messages import Message as _Message
from mha_judge.browser.messages import reader
from mha_judge.practice.mock import MARKS
from mha_judge.submission import MAX_BYTES

_Problem = Annotated[str, Field(max_length=60)]


class Open(_Message):
    """Show a problem."""

    kind: Literal["open"]
    problem: _Problem


class Begin(_Message):
    """Begin the problem that is shown, or go on with it."""

    kind: Literal["begin"]


class Run(_Message):
    """Write the text into the file of a problem, and grade it."""

    kind: Literal["run"]
    problem: _Problem
    text: Annotated[str, Field(max_length=MAX_BYTES)]
    over: Annotated[str, Field(max_length=64)]
    """The version of the file that the text was made from."""


class Try(_Message):
    """Make a call of one's own with a text that need not be saved."""

    kind: Literal["try"]
    problem: _Problem
    text: Annotated[str, Field(max_length=MAX_BYTES)]
    call: Annotated[str, Field(max_length=10_000)]


class Ask(_Message):
    """Ask for something of the problem that is shown."""

    kind: Literal[
        "stop", "hint", "take", "solution", "give up", "language", "resume", "hand in", "next",
        "leave",
    ]  # fmt: skip
    """To stop the run that is going on; the next hint's price; that hint; the solution; to give up;
    the other language. Of a mock interview: to go on with it; to have done with its problem; its
    next question; to leave it."""


class Rate(_Message):
    """Rate a problem that is solved otherwise than the facts did."""

    kind: Literal["rate"]
    rating: Literal["again", "hard", "good", "easy"]


class Note(_Message):
    """Keep one's notes on a problem."""

    kind: Literal["note"]
    problem: _Problem
    text: Annotated[str, Field(max_length=100_000)]


class Interview(_Message):
    """Begin a mock interview."""

    kind: Literal["interview"]
    minutes: Annotated[int, Field(ge=10, le=240)]
    track: Annotated[str, Field(max_length=60)] | None


class Choose(_Message):
    """Answer its question with one of the choices."""

    kind: Literal["choose"]
    letter: Annotated[str, Field(max_length=1)]


class Answer(_Message):
    """Answer its open question."""

    kind: Literal["answer"]
    text: Annotated[str, Field(max_length=20_000)]


class Mark(_Message):
    """Give oneself a mark for that answer."""

    kind: Literal["mark"]
    mark: Annotated[int, Field(ge=0, le=MARKS)]


Message = Open | Begin | Run | Try | Ask | Rate | Note | Interview | Choose | Answer | Mark
read = reader(Message)
