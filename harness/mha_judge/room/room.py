"""What a room is at a moment: what its log says, from the first event to the last."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mha_judge.errors import UsageError
from mha_judge.report.models import Report, Reveal
from mha_judge.room.changes import Text
from mha_judge.room.log import Event
from mha_judge.room.messages import (
    Clock,
    Focus,
    ForInterviewers,
    Hint,
    Message,
    Note,
    Pasted,
    Push,
    See,
    Show,
    Stop,
)
from mha_judge.service.tokens import Role

_LINE_ENDS = re.compile("\r\n?")
MAX_EVENTS = 500_000
"""Of one room: a fast writer's for days."""
MAX_CHANGES_BYTES = 64 * 1024**2
"""Of one room: a million keystrokes, or the longest text pasted a hundred times."""


class Who(NamedTuple):
    """One browser in a room, or several pages of it."""

    role: Role
    number: int
    """Counts those who came, from 1."""


class Stale(UsageError):
    """A change was made on a version that is not the current one; the browser makes it anew."""


@dataclass
class Sheet:
    """The text of one problem."""

    begun_with: str
    text: Text
    updates: list[tuple[str, Any]] = field(default_factory=list)
    """Each change with the client that made it; their number is the version."""


@dataclass
class Graded:
    """A text that was handed in, and what came of it."""

    grade: str
    """Its id in the store of grades."""
    problem: str
    version: int
    """How many changes the text had."""
    at: float
    reason: str = ""
    """Why it is done; empty while it is not."""
    message: str = ""
    report: Report | None = None


class Room:
    """One room; nothing here waits for disk or network."""

    def __init__(
        self, room_id: str, starter: Callable[[str], str], clock: Callable[[], float] = time.time
    ) -> None:
        """Take what the log needs not to say.

        Args:
            room_id: Its id.
            starter: Returns the text with which a problem begins.
            clock: Seconds since 1970.
        """
        self.id = room_id
        self._starter = starter
        self._clock = clock
        self.count = 0
        """How many events there were."""
        self._changes_bytes = 0
        self._writers: dict[str, str] = {}
        """Whose each client is."""
        self._at = 0.0
        self.problems: list[str] = []
        """What may be shown, in order."""
        self.language = "en"
        self.shown = ""
        self.sees = Reveal.CHECKS
        """How much of a report the candidate sees."""
        self.ends_at: float | None = None
        self.sheets: dict[str, Sheet] = {}
        """The problems that were shown."""
        self.runs: dict[str, Graded] = {}
        """By grade, in order."""
        self.hints: list[Event] = []
        self.notes: list[Event] = []
        """What interviewers wrote, and what was noted by itself."""
        self._came = 0
        self._numbers: dict[tuple[str, str], int] = {}
        """Of browsers that can be told from others, by name and role."""

    @property
    def running(self) -> Graded | None:
        """The run that is not done yet."""
        return next((run for run in self.runs.values() if not run.reason), None)

    def event(self, who: Who | None, kind: str, **body: Any) -> Event:
        """Return an event of now, or of just after the last one if the clock was set back.

        Args:
            who: Whose it is; None for the judge.
            kind: What happened.
            body: What there is to say of it.
        """
        at = max(self._at, self._clock())
        if who is None:
            return Event(at, "", kind, body)
        return Event(at, who.role, kind, {"number": who.number, **body})

    def joining(self, role: Role, browser: str) -> tuple[Who, Event]:
        """Return who comes in, and that they do; a browser that was here keeps its number.

        Args:
            role: What its link allows.
            browser: Tells it from others; empty if nothing does.
        """
        number = self._numbers.get((browser, role)) or self._came + 1
        who = Who(role, number)
        return who, self.event(who, "join", browser=browser)

    def opening(self, problems: list[str], language: str, sees: Reveal) -> list[Event]:
        """Return the first events of a room."""
        opened = self.event(None, "open", problems=problems, language=language, sees=sees)
        return [
            opened,
            self.event(None, "show", problem=problems[0], text=self._begun(problems[0])),
        ]

    def _begun(self, problem: str) -> str:
        """Return the text with which a problem begins; a browser has one kind of line end only."""
        return _LINE_ENDS.sub("\n", self._starter(problem))

    def follow(self, events: Iterable[Event]) -> None:
        """Take what happened."""
        for event in events:
            self.count += 1
            self._at = event.at
            self._take(event.kind, event.body, event)

    def _take(self, kind: str, body: dict[str, Any], event: Event) -> None:
        match kind:
            case "open":
                self.problems, self.language = body["problems"], body["language"]
                self.sees = Reveal(body["sees"])
            case "join":
                self._came = max(self._came, body["number"])
                if browser := body.get("browser"):
                    self._numbers[browser, event.who] = body["number"]
            case "show":
                self.shown = body["problem"]
                if "text" in body:
                    self.sheets[self.shown] = Sheet(body["text"], Text(body["text"]))
            case "change":
                sheet = self.sheets[body["problem"]]
                self._changes_bytes += sheet.text.change(body["parts"])
                sheet.updates.append((body["client"], body["parts"]))
                self._writers.setdefault(body["client"], event.who)
            case "run":
                run = Graded(body["grade"], body["problem"], body["version"], event.at)
                self.runs[run.grade] = run
            case "graded":
                run = self.runs[body["grade"]]
                run.reason, run.message = body["reason"], body["message"]
                if body["report"] is not None:
                    run.report = Report.model_validate_json(body["report"])
            case "see":
                self.sees = Reveal(body["level"])
            case "clock":
                self.ends_at = body["ends_at"]
            case "note" | "focus" | "pasted":
                self.notes.append(event)
            case "hint":
                self.hints.append(event)

    def propose(self, who: Who, message: Message) -> list[Event]:
        """Return what happens by a message; nothing has happened yet.

        Raises:
            UsageError: It may not be sent by them, or makes no sense now.
            Stale: Its changes are made on an older version.
        """
        if isinstance(message, ForInterviewers) and who.role is not Role.INTERVIEWER:
            raise UsageError("only interviewers may do this")
        if self.count > MAX_EVENTS:
            raise UsageError("this room's record is full; make another room")
        match message:
            case Push():
                return self._pushed(who, message)
            case Pasted():
                self.sheet(message.problem)
                return [self._of(who, message)]
            case Focus() | Note() | Hint() | See():
                return [self._of(who, message)]
            case Clock(minutes=minutes):
                until = None if minutes is None else self._clock() + 60 * minutes
                return [self.event(who, "clock", ends_at=until, minutes=minutes)]
            case Show():
                return [self._showing(who, message.problem)]
            case Stop():
                if self.running is None:
                    raise UsageError("no run is going on; there is nothing to stop")
                return [self.event(who, "stop", grade=self.running.grade)]
            case _:
                return []

    def _of(self, who: Who, message: Message) -> Event:
        return self.event(who, message.kind, **message.model_dump(exclude={"kind"}, mode="json"))

    def sheet(self, problem: str) -> Sheet:
        """Return the text of a problem that was shown.

        Raises:
            UsageError: It was not.
        """
        if problem not in self.sheets:
            raise UsageError("this problem has not been shown in this room")
        return self.sheets[problem]

    def _pushed(self, who: Who, push: Push) -> list[Event]:
        sheet = self.sheet(push.problem)
        if push.version != len(sheet.updates):
            raise Stale("the text has changed since")
        if self._writers.get(push.client, who.role) != who.role:  # an editor takes such for its own
            raise UsageError("this client is another one's")
        if self._changes_bytes > MAX_CHANGES_BYTES:
            raise UsageError("this room's record has no place for more text; make another room")
        tried = Text.like(sheet.text)
        for parts in push.changes:
            tried.change(parts)
        return [
            self.event(who, "change", problem=push.problem, client=push.client, parts=parts)
            for parts in push.changes
        ]

    def _showing(self, who: Who, problem: str) -> Event:
        if problem not in self.problems:
            raise UsageError(f"this room has no problem {problem!r}")
        begun = {} if problem in self.sheets else {"text": self._begun(problem)}
        return self.event(who, "show", problem=problem, **begun)
