"""SQLite files that nobody else may read, and changes of them that are kept whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
