"""SQLite files that nobody else may read, and changes of them that are kept whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mha_judge.errors import UsageError


def connected(path: Path | None, timeout_s: float = 5.0) -> sqlite3.Connection:
    """Return a connection to a file, which is made with its folder if it is missing.

    Threads may share it if they take turns, and nothing is begun unasked.

    Args:
        path: The file; None keeps everything in memory.
        timeout_s: How long is waited for another program that writes.

    Raises:
        OSError: The file cannot be made.
        sqlite3.Error: It cannot be opened.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return sqlite3.connect(
        path or ":memory:", timeout=timeout_s, isolation_level=None, check_same_thread=False
    )


def kept_at(
    path: Path, application: int, version: int, schema: str, *, alone: bool
) -> sqlite3.Connection:
    """Return a connection to a file that `--store` names, with its tables.

    Args:
        path: The file; it is made if it is missing.
        application: As of `prepare`, like what follows.
        version: Of the schema.
        schema: Makes the tables of a new file.
        alone: Whether no other process may use it meanwhile, not even to read.

    Raises:
        UsageError: It is of another kind or version, in use, or cannot be written.
    """
    try:
        database = connected(path)
        prepare(database, application, version, schema, alone=alone)
    except (OSError, sqlite3.Error) as error:
        told = f"{path} cannot be used as a store: {error}; name another with --store"
        if "locked" in str(error):
            told = f"{path} is used by another process; stop that one, or name another with --store"
        raise UsageError(told) from error
    return database


@contextmanager
def changing(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Give the database for one change: on disk after the block, and undone if that raises."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # some errors have undone it already
            database.execute("ROLLBACK")
        raise


def version_of(database: sqlite3.Connection) -> int:
    """Return the version of the schema that a file says it has; a new one has 0."""
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def prepare(
    database: sqlite3.Connection, application: int, version: int, schema: str, *, alone: bool
) -> None:
    """Make sure that a file has its tables; a change of it is on disk when it is done.

    Args:
        database: The file, which may be new.
        application: Which program's files are of this kind.
        version: Of the schema.
        schema: Makes the tables of a new file.
        alone: Whether no other process may use it meanwhile, not even to read.

    Raises:
        sqlite3.Error: It is of another kind or version, or another process has it alone.
    """
    if alone:
        database.execute("pragma locking_mode = exclusive")
    found = version_of(database)
    (kind,) = database.execute("pragma application_id").fetchone()
    is_new = not (found or kind)
    is_new = is_new and not database.execute("select 1 from sqlite_schema").fetchone()
    if not is_new and kind != application:
        raise sqlite3.DatabaseError("it is another program's")
    if not is_new and found != version:
        raise sqlite3.DatabaseError(f"it is of version {found}, and this judge writes {version}")
    database.execute("pragma journal_mode = wal")
    database.execute("pragma synchronous = full")
    if is_new:
        database.executescript(
            f"begin; {schema} pragma application_id = {application};"
            f" pragma user_version = {version}; commit;"
        )
    with changing(database):  # fails if another process has it
        pass
