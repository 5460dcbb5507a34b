"""The parent's end of one process that grades."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mha_judge.errors import JudgeError
from mha_judge.pool.job import WARM_UP, Call, Job, Place
from mha_judge.report.models import CheckResult, Report

GRADE_TIMEOUT_S = 600.0
"""Far above what limits allow a submission: a judge that takes longer hangs."""
_LEAVING_S = 15.0
_PACKAGES = Path(__file__).resolve().parents[2]
# multiprocessing would run the program that uses this one again, to find out what it defines;
# and the folder one works in is no place to import from: answers lie there (-P)
_CODE = (
    "import sys; sys.path.append(sys.argv[1])\n"
    "from mha_judge.pool.serve import main; main(int(sys.argv[2]))"
)

# Dask has its workers give freed memory back at once: of tensors that come and go, every page anew
_NOT_HANDED_ON = {"MALLOC_TRIM_THRESHOLD_"}


class Process:
    """A process with a judge and a sandbox of its own. It ends with its parent, however that ends.

    Raises:
        JudgeError: It cannot be started.
    """

    def __init__(self, place: Place, quiet: bool = False) -> None:
        try:
            self._connection, theirs = multiprocessing.Pipe()
        except OSError as error:
            raise JudgeError(f"no process can be started: {error.strerror}") from error
        command = [sys.executable, "-P", "-c", _CODE, str(_PACKAGES), str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if quiet else None,
                pass_fds=[theirs.fileno()],
                env={
                    name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON
                },
                start_new_session=True,  # Ctrl-C is the parent's to answer
            )
        except OSError as error:
            self._connection.close()
            raise JudgeError(f"no process can be started: {error.strerror}") from error
        finally:
            theirs.close()  # the end of the process must be the end of the connection
        self._say(place)
        self.grades = 0
        """How many it has begun."""

    def warm_up(self) -> None:
        """Have it import what a grade needs, and start its sandbox; jobs may come meanwhile."""
        self._say(WARM_UP)

    def graded(
        self, job: Job, on_check: Callable[[CheckResult], None] | None
    ) -> Report | JudgeError:
        """Grade one job; return why there is no verdict if there is none.

        Args:
            job: What is graded.
            on_check: Told each check as it is done.
        """
        self.grades += 1
        told: Report | JudgeError = self._answer((job, on_check is not None), on_check)
        return told

    def tried(self, call: Call) -> dict[str, Any] | JudgeError:
        """Make a call of one's own; return what came of it, as fields, or why nothing did."""
        told: dict[str, Any] | JudgeError = self._answer(call, None)
        return told

    def _answer(
        self, asked: tuple[Job, bool] | Call, on_check: Callable[[CheckResult], None] | None
    ) -> Any:
        self._say(asked)
        deadline = time.monotonic() + GRADE_TIMEOUT_S
        while self._connection.poll(max(0.0, deadline - time.monotonic())):
            try:
                told = self._connection.recv()
            except (EOFError, OSError):
                return JudgeError(
                    f"the process that graded it ended (exit status {self._exit_status()}); "
                    "was the machine out of memory?"
                )
            if not isinstance(told, CheckResult):
                return told
            if on_check is not None:  # or it would not have been sent
                on_check(told)
        self.kill()
        return JudgeError(f"the judge did not end within {GRADE_TIMEOUT_S:.0f} s")

    def _say(self, what: Place | tuple[Job, bool] | Call | str | None) -> None:
        with contextlib.suppress(OSError):  # it is gone, which its answer will say
            self._connection.send(what)

    def _exit_status(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LEAVING_S)
        return self._process.returncode

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def dismiss(self) -> None:
        """Let it close its sandbox and end."""
        self._say(None)  # a child of this process may have the connection, too
        self._connection.close()

    def kill(self) -> None:
        self._process.kill()  # its supervisor ends with it

    def join(self) -> None:
        """Wait until it has ended, and see to it that it does."""
        if self._exit_status() is None:
            self.kill()
            self._process.wait()
        self._connection.close()
