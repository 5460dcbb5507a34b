"""What a learner has done, in one SQLite file: rounds, attempts, hints, cards, notes, interviews.

A round is one go at a problem: it begins with a starter and ends when an answer is accepted, or
when the learner gives up or starts over. What the learner is shown has been committed before.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import platformdirs

from mha_judge.bank import Bank
from mha_judge.database import changing, connected, version_of
from mha_judge.errors import ProgressUnavailable, UsageError

PATH_VARIABLE = "MHA_JUDGE_PROGRESS"
"""Environment variable that names the file of the built-in bank."""

_MIGRATIONS = (
    """
    CREATE TABLE round (
        id INTEGER PRIMARY KEY, problem TEXT NOT NULL, path TEXT NOT NULL, began TEXT NOT NULL,
        review INTEGER NOT NULL, ended TEXT, end TEXT
    ) STRICT;
    CREATE INDEX round_of_problem ON round (problem, id);
    CREATE UNIQUE INDEX one_open_round ON round (problem) WHERE ended IS NULL;
    CREATE TABLE attempt (
        id INTEGER PRIMARY KEY, round INTEGER NOT NULL REFERENCES round ON DELETE CASCADE,
        at TEXT NOT NULL, sha256 TEXT NOT NULL, source TEXT NOT NULL, seed INTEGER NOT NULL,
        verdict TEXT NOT NULL, score REAL NOT NULL, strict_score REAL NOT NULL,
        diagnoses TEXT NOT NULL, hints REAL NOT NULL, seconds REAL NOT NULL
    ) STRICT;
    CREATE INDEX attempt_of_round ON attempt (round, id);
    CREATE TABLE hint (
        id INTEGER PRIMARY KEY, round INTEGER NOT NULL REFERENCES round ON DELETE CASCADE,
        at TEXT NOT NULL, mistake TEXT NOT NULL, rung INTEGER NOT NULL, price REAL NOT NULL,
        UNIQUE (round, mistake, rung)
    ) STRICT;
    CREATE TABLE card (
        name TEXT PRIMARY KEY, state TEXT NOT NULL, due TEXT NOT NULL, before TEXT NOT NULL,
        rating INTEGER NOT NULL, rated TEXT NOT NULL
    ) STRICT;
    CREATE TABLE note (problem TEXT PRIMARY KEY, text TEXT NOT NULL, at TEXT NOT NULL) STRICT;
    CREATE TABLE interview (
        id INTEGER PRIMARY KEY, began TEXT NOT NULL, state TEXT NOT NULL, ended TEXT
    ) STRICT;
    """,
)
"""What makes each schema version from the one before; the number of them is the newest version."""
_TABLES = ("round", "attempt", "hint", "card", "note", "interview")
_BUSY_S, _AGAIN_S = 5.0, 0.01
"""Seconds that one program waits while another one writes."""


class End(StrEnum):
    """How a round ended."""

    SOLVED = "solved"
    GIVEN_UP = "given up"
    STARTED_OVER = "started over"


@dataclass(frozen=True)
class Round:
    """One go at a problem."""

    id: int
    problem: str
    path: str
    """Of the file that is worked on, absolute."""
    began: datetime
    review: bool
    """Whether the problem had been solved before."""
    ended: datetime | None = None
    end: End | None = None

    @property
    def is_open(self) -> bool:
        return self.ended is None


@dataclass(frozen=True)
class Attempt:
    """One graded answer of a round."""

    id: int
    round: int
    at: datetime
    sha256: str
    source: str
    seed: int
    verdict: str
    score: float
    """The report's, of 100; the hints are not yet taken off."""
    strict_score: float
    diagnoses: tuple[str, ...]
    """Ids of the mistakes that were shown."""
    hints: float
    """Points that the hints of the round had cost until then."""
    seconds: float
    """Of work since the attempt before, or since the round began."""

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"

    @property
    def kept(self) -> float:
        """The score less what the hints cost."""
        return max(0.0, round(self.score - self.hints, 1))


@dataclass(frozen=True)
class Hint:
    """One rung that was told."""

    id: int
    round: int
    at: datetime
    mistake: str
    """Its id; empty for the ladder of the problem itself."""
    rung: int
    """Counted from 0."""
    price: float


@dataclass(frozen=True)
class StoredCard:
    """When something is due again, as its scheduler keeps it."""

    name: str
    state: str
    due: datetime
    before: str
    """The state before the last rating, which may be overruled; empty before the first."""
    rating: int
    rated: datetime


@dataclass(frozen=True)
class Interview:
    """A mock interview, with all that is needed to go on with it."""

    id: int
    began: datetime
    state: dict[str, Any]
    ended: datetime | None = None


def default_path(bank: Bank) -> Path:
    """Return where progress is kept: what the environment names, else in the user's data folder.

    A bank of one's own has a file beside that of the built-in one: an id is a problem of one bank.
    """
    named = os.environ.get(PATH_VARIABLE)
    path = Path(named or platformdirs.user_data_path("mha-judge") / "progress.sqlite3")
    if bank == Bank.builtin():
        return path
    place = hashlib.sha256(os.fsencode(bank.root)).hexdigest()[:12]
    return path.with_stem(f"{path.stem}-{bank.root.name[:40]}-{place}")


class Progress:
    """The store. Several programs may use one file at once."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or one in memory if None; make it, or bring it up to date.

        A file that is damaged, or that a later version has written, is set aside under another
        name, and `notice` says so.

        Raises:
            ProgressUnavailable: The file can be neither read nor made.
        """
        self.path = path
        self.notice = ""
        with self._told():
            try:
                self._database = self._opened()
            except (sqlite3.DatabaseError, _Later) as error:
                if path is None or isinstance(error, sqlite3.OperationalError):
                    raise
                self._set_aside(path, error)
                self._database = self._opened()

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # rounds

    def begin(self, problem: str, path: str, now: datetime, *, review: bool) -> Round:
        """Return the open round of a problem, on this file from now on, or a new one."""
        with self._writing() as database:
            database.execute(
                "INSERT INTO round (problem, path, began, review) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET path = excluded.path",
                (problem, path, _text(now), review),
            )
        found = self.open_round(problem)
        assert found is not None
        return found

    def open_round(self, problem: str) -> Round | None:
        rounds = self.rounds("WHERE problem = ? AND ended IS NULL", problem)
        return rounds[0] if rounds else None

    def last_round(self, problem: str) -> Round | None:
        """Return the last round of a problem, open or not."""
        rounds = self.rounds("WHERE problem = ? ORDER BY id DESC LIMIT 1", problem)
        return rounds[0] if rounds else None

    def round_of_file(self, path: str) -> Round | None:
        """Return the last round that was worked on in a file."""
        rounds = self.rounds("WHERE path = ? ORDER BY id DESC LIMIT 1", path)
        return rounds[0] if rounds else None

    def rounds(self, condition: str = "ORDER BY id", *values: object) -> list[Round]:
        return [
            Round(
                id=row["id"],
                problem=row["problem"],
                path=row["path"],
                began=_time(row["began"]),
                review=bool(row["review"]),
                ended=_time(row["ended"]) if row["ended"] else None,
                end=End(row["end"]) if row["end"] else None,
            )
            for row in self._rows(f"SELECT * FROM round {condition}", *values)
        ]

    def end(self, round_id: int, end: End, now: datetime) -> None:
        """End a round that is open; one that has ended stays as it is."""
        with self._writing() as database:
            _end(database, round_id, end, now)

    # attempts and hints

    def add_attempt(self, attempt: Attempt, end: End | None = None) -> None:
        """Keep an attempt, whose id is not used, and end its round with it, or not."""
        values = asdict(attempt) | {
            "at": _text(attempt.at),
            "diagnoses": json.dumps(attempt.diagnoses),
        }
        names = [field.name for field in fields(Attempt) if field.name != "id"]
        with self._of_a_round(), self._writing() as database:
            database.execute(
                f"INSERT INTO attempt ({', '.join(names)}) VALUES ({_marks(names)})",
                [values[name] for name in names],
            )
            if end is not None:
                _end(database, attempt.round, end, attempt.at)

    def attempts(self, round_id: int | None = None) -> list[Attempt]:
        """Return the attempts of a round, or all, in their order."""
        condition = "" if round_id is None else "WHERE round = ?"
        values = () if round_id is None else (round_id,)
        rows = self._rows(f"SELECT * FROM attempt {condition} ORDER BY id", *values)
        return [
            Attempt(
                **dict(row)
                | {"at": _time(row["at"]), "diagnoses": tuple(json.loads(row["diagnoses"]))}
            )
            for row in rows
        ]

    def add_hint(self, round_id: int, mistake: str, rung: int, price: float, now: datetime) -> None:
        """Keep that a rung was told; a rung is paid for once."""
        with self._of_a_round(), self._writing() as database:
            database.execute(
                "INSERT OR IGNORE INTO hint (round, at, mistake, rung, price)"
                " VALUES (?, ?, ?, ?, ?)",
                (round_id, _text(now), mistake, rung, price),
            )

    def hints(self, round_id: int) -> list[Hint]:
        rows = self._rows("SELECT * FROM hint WHERE round = ? ORDER BY id", round_id)
        return [Hint(**dict(row) | {"at": _time(row["at"])}) for row in rows]

    def spent(self, round_: Round | None) -> float:
        """Return what the hints of a round have cost."""
        return sum(hint.price for hint in self.hints(round_.id)) if round_ is not None else 0.0

    # cards, notes, interviews

    def card(self, name: str) -> StoredCard | None:
        return self.cards().get(name)

    def cards(self) -> dict[str, StoredCard]:
        """Return all cards by name."""
        return {
            row["name"]: StoredCard(
                **dict(row) | {"due": _time(row["due"]), "rated": _time(row["rated"])}
            )
            for row in self._rows("SELECT * FROM card ORDER BY due, name")
        }

    def put_card(self, card: StoredCard) -> None:
        values = asdict(card) | {"due": _text(card.due), "rated": _text(card.rated)}
        with self._writing() as database:
            database.execute(
                f"INSERT OR REPLACE INTO card ({', '.join(values)}) VALUES ({_marks(values)})",
                list(values.values()),
            )

    def drop_card(self, name: str) -> None:
        with self._writing() as database:
            database.execute("DELETE FROM card WHERE name = ?", (name,))

    def note(self, problem: str) -> str:
        rows = self._rows("SELECT text FROM note WHERE problem = ?", problem)
        return rows[0]["text"] if rows else ""

    def put_note(self, problem: str, text: str, now: datetime) -> None:
        with self._writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO note VALUES (?, ?, ?)", (problem, text, _text(now))
            )

    def interviews(self, condition: str = "ORDER BY id", *values: object) -> list[Interview]:
        return [
            Interview(
                row["id"],
                _time(row["began"]),
                json.loads(row["state"]),
                _time(row["ended"]) if row["ended"] else None,
            )
            for row in self._rows(f"SELECT * FROM interview {condition}", *values)
        ]

    def add_interview(self, state: Mapping[str, Any], now: datetime) -> int:
        """Keep an interview that begins; return its id."""
        with self._writing() as database:
            cursor = database.execute(
                "INSERT INTO interview (began, state) VALUES (?, ?)",
                (_text(now), _json(state)),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def put_interview(
        self, interview_id: int, state: Mapping[str, Any], ended: datetime | None = None
    ) -> None:
        with self._writing() as database:
            database.execute(
                "UPDATE interview SET state = ?, ended = ? WHERE id = ?",
                (_json(state), _text(ended) if ended else None, interview_id),
            )

    # the whole of it

    def forget(self, problem: str) -> int:
        """Forget what was done for a problem; return how many rounds there were."""
        with self._writing() as database:
            count = database.execute("DELETE FROM round WHERE problem = ?", (problem,)).rowcount
            database.execute("DELETE FROM card WHERE name = ?", (f"problem:{problem}",))
        return count

    def export(self) -> str:
        """Return everything as JSON."""
        tables = {
            table: [dict(row) for row in self._rows(f"SELECT * FROM {table} ORDER BY 1")]
            for table in _TABLES
        }
        return json.dumps(
            {"mha_judge_progress": len(_MIGRATIONS), **tables}, ensure_ascii=False, indent=1
        )

    def import_(self, text: str) -> int:
        """Take over what was exported, into a file that holds nothing yet; return how many rounds.

        Raises:
            UsageError: If the text is no export of this version, or something is kept already.
        """
        try:
            content = json.loads(text)
            version = content["mha_judge_progress"]
            rows = {table: list(content[table]) for table in _TABLES}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise UsageError(
                "this is no progress that `mha-judge progress export` wrote; name another file"
            ) from error
        if version != len(_MIGRATIONS):
            raise UsageError(
                f"this progress has schema version {version} and not {len(_MIGRATIONS)}; "
                "export it with this version of mha-judge"
            )
        if any(self._rows(f"SELECT 1 FROM {table} LIMIT 1") for table in _TABLES):
            raise UsageError(
                f"{self.path} holds progress already, which would be lost; export it, then move "
                "the file away"
            )
        try:
            with self._writing() as database:
                for table in _TABLES:
                    database.execute(f"DELETE FROM {table}")
                    names = self._columns(table)
                    values = [[row[name] for name in names] for row in rows[table]]
                    if any(isinstance(value, (dict, list)) for row in values for value in row):
                        raise TypeError(f"a {table} has a list where a value belongs")
                    database.executemany(f"INSERT INTO {table} VALUES ({_marks(names)})", values)
                self._check_types(database)
        except (
            KeyError, TypeError, ValueError, OverflowError, sqlite3.IntegrityError
        ) as error:  # fmt: skip
            raise UsageError(f"the progress is damaged: {error}; nothing was taken over") from error
        return len(rows["round"])

    def _check_types(self, database: sqlite3.Connection) -> None:
        """Read everything once: what cannot be read must not be kept."""
        if database.execute("PRAGMA foreign_key_check").fetchall():
            raise ValueError("an attempt or a hint has no round")
        from fsrs import Card  # only here: whatever grades imports this module

        self.rounds()
        numbers = [row["price"] for row in database.execute("SELECT price FROM hint")]
        for attempt in self.attempts():
            numbers += [attempt.score, attempt.strict_score, attempt.hints, attempt.seconds]
            if not all(isinstance(mistake, str) for mistake in attempt.diagnoses):
                raise ValueError("a diagnosis is no name")
        if not all(map(math.isfinite, numbers)):
            raise ValueError("a number is infinite")
        for card in self.cards().values():
            for state in filter(None, (card.state, card.before)):
                Card.from_json(state)
        self.interviews()
        for row in database.execute("SELECT at FROM hint UNION ALL SELECT at FROM note"):
            _time(row["at"])

    def _columns(self, table: str) -> list[str]:
        return [row["name"] for row in self._rows(f"PRAGMA table_info({table})")]

    def _opened(self) -> sqlite3.Connection:
        """Return the database, made or brought up to date."""
        database = connected(self.path, _BUSY_S)
        try:
            database.row_factory = sqlite3.Row
            # One that is read-only, or damaged, is noticed here and not in the middle of a session.
            _write_ahead(database)
            database.execute("PRAGMA synchronous = FULL")
            database.execute("PRAGMA foreign_keys = ON")
            version = version_of(database)
            if version > len(_MIGRATIONS):
                raise _Later
            if version:
                problem = database.execute("PRAGMA quick_check(1)").fetchone()[0]
                if problem != "ok":
                    raise sqlite3.DatabaseError(problem)
            while version_of(database) < len(_MIGRATIONS):
                _migrate(database)
        except BaseException:
            database.close()
            raise
        return database

    def _set_aside(self, path: Path, error: Exception) -> None:
        why = "a later version of mha-judge has written it" if isinstance(error, _Later) else (
            f"it is damaged ({error})"
        )  # fmt: skip
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        aside = path.with_name(f"{path.name}.aside-{stamp}")
        for suffix in ("-wal", "-shm", ""):
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                beside.rename(aside.with_name(aside.name + suffix))
        self.notice = (
            f"{path} cannot be used: {why}. It lies in {aside} now, and a new one was begun."
        )

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._told():
            return self._database.execute(query, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the database for one change, which is kept whole or not at all."""
        with self._told(), changing(self._database) as database:
            yield database

    @contextmanager
    def _of_a_round(self) -> Iterator[None]:
        """Say so if the round that something belongs to is not there any more."""
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise ProgressUnavailable(
                "this cannot be kept: another program has forgotten the round meanwhile; begin anew"
            ) from error

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the system says against it into a sentence with a remedy."""
        try:
            yield
        except sqlite3.IntegrityError:  # says something of what was to be kept
            raise
        except (sqlite3.DatabaseError, OSError) as error:
            raise ProgressUnavailable(
                f"progress cannot be kept in {self.path}: {error}; name another file in "
                f"{PATH_VARIABLE}, or pass --no-progress where a command takes it"
            ) from error


class _Later(Exception):
    """A later version has written the file."""


def _end(database: sqlite3.Connection, round_id: int, end: End, now: datetime) -> None:
    database.execute(
        "UPDATE round SET ended = ?, end = ? WHERE id = ? AND ended IS NULL",
        (_text(now), end, round_id),
    )


def _write_ahead(database: sqlite3.Connection) -> None:
    """Turn write-ahead logging on, for which SQLite does not wait while another one does so."""
    until = time.monotonic() + _BUSY_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_S)
        else:
            return


def _migrate(database: sqlite3.Connection) -> None:
    """Bring the schema one version further, unless another program has done so meanwhile."""
    with changing(database):
        version = version_of(database)
        if version < len(_MIGRATIONS):
            for statement in _MIGRATIONS[version].split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {version + 1}")


def _marks(names: Any) -> str:
    return ", ".join("?" * len(names))


def _json(state: Mapping[str, Any]) -> str:
    return json.dumps(state, ensure_ascii=False)


def _text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat()


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    if not 1970 <= time.year < 9999:  # beyond, calendars of some time zones end
        raise ValueError(f"{text!r} is no time of anybody's practice")
    return time
