"""Grades on disk: what was acknowledged survives the server, however it ends."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mha_judge.database import changing, kept_at
from mha_judge.errors import UsageError
from mha_judge.service.models import Ask, Reason

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x6D68616A
_SCHEMA = """
create table grades (
    id text primary key, asked_at real not null, ask text not null,
    finished_at real, reason text, message text not null default '', report text
) strict;
create index unfinished on grades (asked_at) where reason is null;
create index finished on grades (finished_at) where reason is not null;
create table keys (
    owner text not null, key text not null, digest text not null, ids text not null,
    primary key (owner, key)
) strict;
"""


@dataclass(frozen=True)
class Stored:
    """What is known of a grade; it is unfinished as long as it has no reason."""

    id: str
    ask: Ask
    reason: Reason | None = None
    message: str = ""
    report: str | None = None
    """As JSON."""


class KeyTaken(UsageError):
    """An idempotency key came again with another request."""


class Store:
    """One SQLite file, used by one server."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            UsageError: It is none of this version's, in use, or cannot be written.
        """
        self._lock = threading.Lock()
        self._db = kept_at(path, _APPLICATION_ID, SCHEMA_VERSION, _SCHEMA, alone=True)

    def add(self, grades: Sequence[Stored], owner: str, key: str | None, digest: str) -> list[str]:
        """Keep new grades, on disk when this returns; return their ids.

        Args:
            grades: What was asked.
            owner: Whose key it is.
            key: With the same key and request nothing is added, and the first ids are returned.
            digest: Of the request.

        Raises:
            KeyTaken: The key came with another request before.
        """
        ids = [grade.id for grade in grades]
        with self._written():
            if key is not None:
                known = self._known(owner, key, digest)
                if known is not None:
                    return known
                row = (owner, key, digest, json.dumps(ids))
                self._db.execute("insert into keys values (?, ?, ?, ?)", row)
            now = time.time()
            rows = [(grade.id, now, grade.ask.model_dump_json()) for grade in grades]
            self._db.executemany("insert into grades (id, asked_at, ask) values (?, ?, ?)", rows)
        return ids

    def known(self, owner: str, key: str, digest: str) -> list[str] | None:
        """Return the ids that a key was given before.

        Raises:
            KeyTaken: It came with another request.
        """
        with self._lock:
            return self._known(owner, key, digest)

    def _known(self, owner: str, key: str, digest: str) -> list[str] | None:
        found = self._db.execute(
            "select digest, ids from keys where owner = ? and key = ?", (owner, key)
        ).fetchone()
        if found is None:
            return None
        if found[0] != digest:
            raise KeyTaken("this idempotency key came with another request before; use a new one")
        ids: list[str] = json.loads(found[1])
        return ids

    def finish(self, grade_id: str, reason: Reason, message: str, report: str | None) -> None:
        """Keep what came of a grade, on disk when this returns."""
        with self._written():
            self._db.execute(
                "update grades set finished_at = ?, reason = ?, message = ?, report = ?"
                " where id = ?",
                (time.time(), reason, message, report, grade_id),
            )

    def get(self, grade_id: str) -> Stored | None:
        with self._lock:
            row = self._db.execute(
                "select id, ask, reason, message, report from grades where id = ?", (grade_id,)
            ).fetchone()
        return None if row is None else _stored(row)

    def unfinished(self) -> Iterable[Stored]:
        """Return what was asked and never finished, the oldest first."""
        with self._lock:
            rows = self._db.execute(
                "select id, ask, reason, message, report from grades where reason is null"
                " order by asked_at, rowid"
            ).fetchall()
        return [_stored(row) for row in rows]

    def forget(self, older_than_s: float) -> None:
        """Remove finished grades of long ago, and keys that lead to nothing any more."""
        with self._written():
            self._db.execute(
                "delete from grades where reason is not null and finished_at < ?",
                (time.time() - older_than_s,),
            )
            self._db.execute(
                "delete from keys where not exists (select 1 from json_each(keys.ids) as one"
                " join grades on grades.id = one.value)"
            )

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _written(self) -> Iterator[None]:
        with self._lock, changing(self._db):
            yield


def _stored(row: tuple[str, str, str | None, str, str | None]) -> Stored:
    grade_id, ask, reason, message, report = row
    return Stored(
        grade_id,
        Ask.model_validate_json(ask),
        None if reason is None else Reason(reason),
        message,
        report,
    )
