"""Calls of one's own, made in a process that stays warm."""

from __future__ import annotations

import threading
from typing import Any

from mha_judge.errors import JudgeError
from mha_judge.pool.job import Call, Place
from mha_judge.pool.process import Process


class Tries:
    """Makes calls, one at a time; its process starts with the first. Threads may share it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._process: Process | None = None

    def tried(self, call: Call) -> dict[str, Any]:
        """Return what came of a call, as JSON has it.

        Raises:
            UsageError: The code cannot be read, or there is nothing that it could call.
            JudgeError: Nothing came of it, through no fault of the code.
        """
        with self._lock:
            if self._process is None or self._process.has_ended:
                self._process = Process(self._place, quiet=True)
            told = self._process.tried(call)
        if isinstance(told, JudgeError):
            raise told
        return told

    def close(self) -> None:
        """End the process, whatever it is at."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
