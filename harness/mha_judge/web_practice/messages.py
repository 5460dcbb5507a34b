"""What the page sends, one message at a time; `desk.py` tells what it is sent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mha_judge.browser.messages import Message as _Message
from mha_judge.browser.messages import reader
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

    kind: Literal["hint", "take", "solution", "give up", "language"]
    """The next hint's price; that hint; the solution; to give up; the other language."""


class Rate(_Message):
    """Rate a problem that is solved otherwise than the facts did."""

    kind: Literal["rate"]
    rating: Literal["again", "hard", "good", "easy"]


class Note(_Message):
    """Keep one's notes on a problem."""

    kind: Literal["note"]
    problem: _Problem
    text: Annotated[str, Field(max_length=100_000)]


Message = Open | Begin | Run | Try | Ask | Rate | Note
read = reader(Message)
