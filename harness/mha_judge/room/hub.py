"""Rooms at work: messages in, everyone told, texts graded.

What a browser is sent has a `kind`: `room` is all there is, at first and after a change of problem
or of what is seen; `changes` follow a text; `refused` says which message did nothing, and why;
`cursor` and `people` tell who is there; `run`, `check` and `graded` go with a grade; `hint`,
`note` and `clock` are what interviewers did; `tried` answers who made a call of one's own.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mha_judge.errors import JudgeError, UsageError
from mha_judge.pool.job import Call
from mha_judge.pool.tries import Tries
from mha_judge.report.models import CheckResult, Reveal
from mha_judge.report.reveal import revealed, revealed_check
from mha_judge.room.log import Event, Keys, Log
from mha_judge.room.messages import Cursor, Message, Run, Stop, Try
from mha_judge.room.room import Graded, Room, Who
from mha_judge.room.texts import Texts
from mha_judge.sanitising import clean, visible
from mha_judge.service.models import Ask, Reason
from mha_judge.service.queue import Queue, QueueFull
from mha_judge.service.store import Store
from mha_judge.service.tokens import Role
from mha_judge.submission import Submission

_MOST_UNSENT = 1_000
"""Messages that may wait for a browser; one that does not keep up is cut off, and comes back."""
_MOST_UNSENT_BYTES = 4 * 1024**2
"""Of them together; one message more may be of any length."""
_MOST_PEOPLE = 16
"""Of each role: candidates cannot keep interviewers out."""
_TOLD_THE_REFERENCE = {Reveal.HINTS, Reveal.FULL}
"""Levels at which a candidate may make calls of one's own: they show what is right."""
_PING_S = 15.0
_AGAIN_S = 5.0
_RATE = 60
"""Messages that one browser may send in `_RATE_S`."""
_RATE_S = 2.0


@dataclass(eq=False)
class Member:
    """A page that is in a room."""

    who: Who
    unsent: asyncio.Queue[str | None] = field(
        default_factory=lambda: asyncio.Queue(maxsize=_MOST_UNSENT)
    )
    """What is to be sent; None ends it."""
    unsent_bytes: int = 0
    has: set[str] = field(default_factory=set)
    """Problems whose text it has; it is told every change."""
    sent_at: deque[float] = field(default_factory=lambda: deque(maxlen=_RATE))

    @property
    def role(self) -> Role:
        return self.who.role

    def tell(self, kind: str, **body: Any) -> None:
        """Send something; one that does not take it is cut off."""
        if self.unsent.full() or self.unsent_bytes > _MOST_UNSENT_BYTES:
            while not self.unsent.empty():
                self.unsent.get_nowait()
            self.unsent.put_nowait(None)
        else:
            text = json.dumps({"kind": kind, **body})  # one byte a character
            self.unsent_bytes += len(text)
            self.unsent.put_nowait(text)

    async def next(self) -> str | None:
        """Return what is to be sent now."""
        text = await self.unsent.get()
        self.unsent_bytes -= len(text or "")
        return text

    def is_too_fast(self) -> bool:
        """Count a message; say whether there were too many of late."""
        now = time.monotonic()
        too_fast = len(self.sent_at) == _RATE and now - self.sent_at[0] < _RATE_S
        self.sent_at.append(now)
        return too_fast


class _Open:
    """A room with those who are in it."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.lock = asyncio.Lock()
        """Held from a proposal until it is on disk: events have one order."""
        self.members: set[Member] = set()
        self.trying = False

    def tell(self, kind: str, *, only: Role | None = None, **body: Any) -> None:
        for member in [*self.members]:
            if only is None or member.role is only:
                member.tell(kind, **body)


class Hub:
    """The rooms of one server."""

    def __init__(self, log: Log, queue: Queue, store: Store, texts: Texts, tries: Tries) -> None:
        """Take what keeps the rooms, what grades, what the bank says, and what makes calls."""
        self._log = log
        self._queue = queue
        self._store = store
        self._texts = texts
        self._tries = tries
        self._rooms: dict[str, _Open] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def _new(self, room_id: str) -> Room:
        return Room(room_id, self._texts.starter)

    def make(self, problems: list[str], language: str, sees: Reveal) -> Keys:
        """Make a room, on disk when this returns; before the server answers."""
        keys = self._log.make()
        self._log.append(keys.room, 0, self._new(keys.room).opening(problems, language, sees))
        return keys

    async def _open(self, room_id: str) -> _Open:
        if room_id not in self._rooms:
            room = self._new(room_id)
            room.follow(await asyncio.to_thread(self._log.events, room_id))
            found = self._rooms.setdefault(room_id, _Open(room))
            if found.room is room:
                for run in room.runs.values():  # those that an earlier server was grading
                    if not run.reason:
                        self._spawn(self._graded(found, run))
        return self._rooms[room_id]

    async def enter(
        self, room_id: str, role: Role, browser: str, versions: dict[str, int]
    ) -> Member:
        """Let a page in, and tell it what it does not have yet.

        Args:
            room_id: The room.
            role: What its link allows.
            browser: Tells its browser from others; empty if nothing does.
            versions: Those of the texts that it has.

        Raises:
            UsageError: The room is full.
        """
        opened = await self._open(room_id)
        async with opened.lock:
            if sum(one.role is role for one in opened.members) >= _MOST_PEOPLE:
                raise UsageError(f"there are {_MOST_PEOPLE} such browsers in this room; close one")
            who, joins = opened.room.joining(role, browser)
            member = Member(who)
            await self._happen(opened, [joins])
            sheets = opened.room.sheets
            member.has = {
                problem
                for problem, version in versions.items()
                if problem in sheets and version <= len(sheets[problem].updates)
            }
            missing = {problem: versions[problem] for problem in member.has}
            opened.members.add(member)
            self._tell_room(opened, member)
            for problem, since in missing.items():
                self._tell_changes(member, problem, opened.room.sheets[problem].updates, since)
            self._tell_people(opened)
        return member

    async def leave(self, room_id: str, member: Member) -> None:
        """Let a browser go."""
        opened = await self._open(room_id)
        opened.members.discard(member)
        self._tell_people(opened)
        async with opened.lock:
            with suppress(Exception):  # the disk may be full; nothing depends on it
                await self._happen(opened, [opened.room.event(member.who, "leave")])

    async def take(self, room_id: str, member: Member, message: Message) -> None:
        """Do what a browser asks.

        Raises:
            UsageError: It cannot be done; nothing has happened.
            Stale: A change was made on an older version; the browser makes it anew after the
                changes since, which it is told anyway.
        """
        if member.is_too_fast():
            raise UsageError("that is too much at once; wait a moment")
        opened = await self._open(room_id)
        if isinstance(message, Cursor):
            for other in opened.members - {member}:
                body = message.model_dump(exclude={"kind"})
                other.tell("cursor", who=member.role, number=member.who.number, **body)
        elif isinstance(message, Run):
            await self._run(opened, member.who, message.problem)
        elif isinstance(message, Try):
            await self._try(opened, member, message)
        else:
            async with opened.lock:
                events = opened.room.propose(member.who, message)
                await self._happen(opened, events)
                self._tell_events(opened, events)
            if isinstance(message, Stop):
                ticket = self._queue.ticket(events[0].body["grade"])
                if ticket is not None:  # else it has ended just now
                    self._queue.cancel(ticket)

    async def _happen(self, opened: _Open, events: list[Event]) -> None:
        """Put events on disk, then take them; the lock is held."""
        await asyncio.to_thread(self._log.append, opened.room.id, opened.room.count, events)
        opened.room.follow(events)

    # telling

    def _tell_events(self, opened: _Open, events: Sequence[Event]) -> None:
        """Tell everyone of what a message has made; its events are of one kind."""
        event = events[0]
        match event.kind:
            case "change":
                problem = event.body["problem"]
                updates = opened.room.sheets[problem].updates
                for member in [*opened.members]:
                    self._tell_changes(member, problem, updates, len(updates) - len(events))
            case "show" | "see":
                for member in [*opened.members]:
                    self._tell_room(opened, member)
            case "note" | "focus" | "pasted":
                opened.tell("noted", only=Role.INTERVIEWER, **_noted(event))
            case "hint" | "clock":
                opened.tell(event.kind, **event.body, at=event.at)

    def _tell_changes(
        self, member: Member, problem: str, updates: Sequence[tuple[str, Any]], since: int
    ) -> None:
        if since < len(updates):
            changes = updates[since:]
            member.tell("changes", problem=problem, version=len(updates), changes=changes)

    def _tell_people(self, opened: _Open) -> None:
        people = {(member.who.number, member.role) for member in opened.members}
        for member in [*opened.members]:
            member.tell("people", people=sorted(people), you=member.who.number)

    def _tell_room(self, opened: _Open, member: Member) -> None:
        """Tell all that a role may know, but no text that the browser has."""
        room, is_interviewer = opened.room, member.role is Role.INTERVIEWER
        sheet = room.sheets[room.shown]
        last = {run.problem: run.grade for run in room.runs.values()}
        body: dict[str, Any] = {
            "role": member.role,
            "now": time.time(),
            "language": room.language,
            "problem": room.shown,
            "version": len(sheet.updates),
            "sees": room.sees,
            "ends_at": room.ends_at,
            "hints": [{**event.body, "at": event.at} for event in room.hints],
            "runs": [
                self._told(room, run, member.role, is_last=last[run.problem] == run.grade)
                for run in room.runs.values()
            ],
            **self._texts.of_problem(room.shown, room.language),
        }
        if room.shown not in member.has:
            body["text"] = str(sheet.text)
            member.has.add(room.shown)
        if is_interviewer:
            body["problems"] = [
                [one, self._texts.title(one, room.language)] for one in room.problems
            ]
            body["notes"] = [_noted(event) for event in room.notes]
            body["questions"] = self._texts.questions(room.shown, room.language)
        member.tell("room", **body)

    def _told(self, room: Room, run: Graded, role: Role, *, is_last: bool = True) -> dict[str, Any]:
        """Return what a role is told of a run; of one that others followed, the score."""
        told: dict[str, Any] = {
            "grade": run.grade, "problem": run.problem, "version": run.version, "at": run.at,
            "reason": run.reason, "message": run.message,
        }  # fmt: skip
        if run.reason == Reason.JUDGE_FAILED and role is not Role.INTERVIEWER:
            told["message"] = "the judge failed; run it again"
        if run.report is not None:
            level = Reveal.FULL if role is Role.INTERVIEWER else room.sees
            report = self._texts.report(run.report, room.language)
            told["report"] = revealed(report, level if is_last else Reveal.SCORE)
            if role is Role.INTERVIEWER and is_last:
                told["questions"] = self._texts.questions_on(run.report, room.language)
        return told

    # grading

    async def _run(self, opened: _Open, who: Who, problem: str) -> None:
        room = opened.room
        async with opened.lock:
            sheet = room.sheet(problem)
            if room.running is not None:
                raise UsageError("a run is going on; wait for its report")
            ask = Ask(source=sheet.text.as_source, problem=problem)
            self._queue.check(ask)
            try:
                [grade] = await self._queue.accept([ask], room.id, None, "")
            except QueueFull as full:
                raise UsageError(str(full)) from full
            body = {"grade": grade, "problem": problem, "version": len(sheet.updates)}
            await self._happen(opened, [room.event(who, "run", **body)])
            run = room.runs[grade]
            opened.tell("run", **self._told(room, run, Role.CANDIDATE))
        self._spawn(self._graded(opened, run))

    async def _graded(self, opened: _Open, run: Graded) -> None:
        """Tell the checks of a run as they are done, and keep what came of it."""
        ticket = self._queue.ticket(run.grade)
        if ticket is not None:
            async for check in self._queue.checks(ticket, _PING_S):
                if check is not None:
                    self._tell_check(opened, run, check)
        stored = self._store.get(run.grade)
        if stored is not None and stored.reason is None:
            return  # the server ends; the next one goes on
        reason = Reason.JUDGE_FAILED if stored is None else stored.reason
        message = "its grade was not kept; run it again" if stored is None else stored.message
        report = None if stored is None else stored.report
        graded_with = None
        if report is not None:
            graded_with = await asyncio.to_thread(self._texts.graded_with, run.problem)
        body = {
            "grade": run.grade, "reason": reason, "message": message, "report": report,
            "graded_with": graded_with,
        }  # fmt: skip
        while not run.reason:  # else no text of this room could be run any more
            try:
                async with opened.lock:
                    await self._happen(opened, [opened.room.event(None, "graded", **body)])
            except sqlite3.Error:  # the disk may be full
                await asyncio.sleep(_AGAIN_S)
        for member in [*opened.members]:
            member.tell("graded", **self._told(opened.room, run, member.role))

    def _tell_check(self, opened: _Open, run: Graded, check: CheckResult) -> None:
        check = self._texts.check(check, opened.room.language)
        for member in [*opened.members]:
            level = Reveal.FULL if member.role is Role.INTERVIEWER else opened.room.sees
            shown = revealed_check(check, level)
            if shown is not None:
                member.tell("check", grade=run.grade, check=shown)

    # calls of one's own

    async def _try(self, opened: _Open, member: Member, asked: Try) -> None:
        room, is_interviewer = opened.room, member.role is Role.INTERVIEWER
        if not is_interviewer and room.sees not in _TOLD_THE_REFERENCE:
            raise UsageError("what the reference gives is not shown in this room now")
        async with opened.lock:
            if opened.trying:
                raise UsageError("a call is being tried; its answer comes first")
            source = room.sheet(asked.problem).text.as_source
            call = Call(asked.problem, Submission.of_text(source), asked.call)
            body = {"problem": asked.problem, "call": visible(asked.call)}
            await self._happen(opened, [room.event(member.who, "try", **body)])
            opened.trying = True
        self._spawn(self._tried(opened, member, call))

    async def _tried(self, opened: _Open, member: Member, call: Call) -> None:
        try:
            member.tell("tried", attempt=await asyncio.to_thread(self._tries.tried, call))
        except JudgeError as error:
            member.tell("refused", what="try", why=clean(str(error), 2_000))
        finally:
            opened.trying = False

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a run in a room was not brought to its end", "exception": error}
            )


def _noted(event: Event) -> dict[str, Any]:
    return {**event.body, "at": event.at, "who": event.who, "what": event.kind}
