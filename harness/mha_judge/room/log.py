"""The log of rooms: what happened in each, in order, on disk before anyone is told of it.

Nothing in it is ever changed. It is the document, since its changes make the text; the recording,
since each has its time; and the evidence, since who did it is with it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mha_judge.database import changing, kept_at
from mha_judge.errors import UsageError
from mha_judge.service.tokens import Role

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x6D68616B
_SCHEMA = """
create table rooms (
    id text primary key, made_at real not null, candidate blob not null, interviewer blob not null
) strict;
create table events (
    room text not null references rooms, number integer not null, at real not null,
    who text not null, kind text not null, body text not null, primary key (room, number)
) strict, without rowid;
"""


class Event(NamedTuple):
    """Something that happened in a room."""

    at: float
    """Seconds since 1970; never before the event in front of it."""
    who: str
    """`candidate`, `interviewer`, or empty for the judge."""
    kind: str
    body: dict[str, Any]
    """What JSON can say."""


class Made(NamedTuple):
    """A room that was made."""

    room: str
    at: float
    """Seconds since 1970."""
    problems: list[str]
    """What it can show, in order."""


@dataclass(frozen=True)
class Keys:
    """What the links of a room hold. Only hashes of them are kept."""

    room: str
    candidate: str
    interviewer: str


class Log:
    """One SQLite file. One server adds to it, and others may read it meanwhile."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            UsageError: It is none of this version's, or cannot be written.
        """
        self._lock = threading.Lock()
        self._db = kept_at(path, _APPLICATION_ID, SCHEMA_VERSION, _SCHEMA, alone=False)

    def make(self) -> Keys:
        """Make a room, and return its keys, which cannot be had again."""
        keys = Keys(*(secrets.token_urlsafe(size) for size in (9, 24, 24)))
        with self._lock, changing(self._db):
            self._db.execute(
                "insert into rooms values (?, ?, ?, ?)",
                (keys.room, time.time(), _hashed(keys.candidate), _hashed(keys.interviewer)),
            )
        return keys

    def rooms(self) -> list[Made]:
        """Return every room, the newest first."""
        with self._lock:
            rows = self._db.execute(
                "select id, made_at, body from rooms"
                " left join events on events.room = rooms.id and number = 0"
                " order by made_at desc, rooms.rowid desc"
            ).fetchall()
        return [
            Made(room, at, [] if body is None else json.loads(body)["problems"])
            for room, at, body in rows
        ]

    def role(self, room: str, key: str) -> Role | None:
        """Return what a key allows in a room; None if it is none of the room's."""
        with self._lock:
            found = self._db.execute(
                "select candidate, interviewer from rooms where id = ?", (room,)
            ).fetchone()
        if found is None:
            return None
        given = _hashed(key)
        roles = [
            role
            for role, known in zip((Role.CANDIDATE, Role.INTERVIEWER), found, strict=True)
            if secrets.compare_digest(known, given)
        ]
        return roles[0] if roles else None

    def append(self, room: str, first: int, events: Sequence[Event]) -> None:
        """Add events to a room, all or none, on disk when this returns.

        Args:
            room: Its id.
            first: The number of the first one, which follows the last one that is there.
            events: What happened.
        """
        rows = [
            (room, first + n, one.at, one.who, one.kind, json.dumps(one.body))
            for n, one in enumerate(events)
        ]
        with self._lock, changing(self._db):
            self._db.executemany("insert into events values (?, ?, ?, ?, ?, ?)", rows)

    def events(self, room: str) -> Iterable[Event]:
        """Return what happened in a room, in order.

        Raises:
            UsageError: There is no such room.
        """
        with self._lock:
            known = self._db.execute("select 1 from rooms where id = ?", (room,)).fetchone()
            rows = self._db.execute(
                "select at, who, kind, body from events where room = ? order by number", (room,)
            ).fetchall()
        if known is None:
            raise UsageError(f"there is no room {room!r}; `mha-judge room list` names them")
        return [Event(at, who, kind, json.loads(body)) for at, who, kind, body in rows]

    def close(self) -> None:
        with self._lock:
            self._db.close()


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()
