"""What runs in a process that grades: one job after the other, until its parent has gone."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError
from mha_judge.pool.job import WARM_UP, Call, Job, Place
from mha_judge.report.models import CheckResult, Report
from mha_judge.sandbox import Channel

_LOOK_EVERY_S = 1.0


def main(descriptor: int) -> None:
    """Grade what comes over a connection, until nothing more does."""
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    connection = Connection(descriptor)
    with contextlib.suppress(EOFError, OSError), contextlib.ExitStack() as stack:
        works = _Works(connection.recv(), stack, connection.send)
        while (asked := connection.recv()) is not None:
            if asked == WARM_UP:
                works.warm_up()
                continue
            if isinstance(asked, Call):
                connection.send(_done(functools.partial(works.tried, asked)))
            else:
                connection.send(_done(functools.partial(works.graded, *asked)))
            give_back_memory()


def give_back_memory() -> None:
    """Return to the system what is free but lies between what is remembered.

    Without that a process holds about twice what it remembers. Other C libraries than glibc have
    nothing of the kind.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _leave_with(parent: int) -> None:
    """End with the parent in the middle of a grade too: nobody waits for it any more."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    os._exit(1)  # its sandbox ends with it


class _Works:
    """A judge with one sandbox, which starts with the first thing to do, and ends with a stack."""

    def __init__(
        self, place: Place, stack: contextlib.ExitStack, tell: Callable[[CheckResult], None]
    ) -> None:
        self._place = place
        self._stack = stack
        self._tell = tell
        self._bank = Bank.at(place.bank)
        self._problem = functools.cache(self._bank.problem)
        self._channel: Channel | None = None
        if place.gpus is not None:
            stack.callback(place.gpus.close)

    def _started(self) -> Channel:
        if self._channel is None:
            self._channel = self._place.open_sandbox()
            self._stack.callback(self._channel.close)
        return self._channel

    def warm_up(self) -> None:
        with contextlib.suppress(JudgeError):  # the first job meets it again, and tells of it
            self._started()
            from mha_judge.judge import prepare  # while the supervisor starts

            prepare()

    def graded(self, job: Job, tells_checks: bool) -> Report:
        channel = self._started()
        from mha_judge.judge import grade  # while the supervisor starts

        return grade(
            job.submission,
            self._bank,
            self._problem(job.problem),
            channel,
            seed=job.seed,
            verdict_only=job.verdict_only,
            gpus=None if job.without_gpu else self._place.gpus,
            on_check=self._tell if tells_checks else None,
            shows_call=job.shows_call,
        )

    def tried(self, call: Call) -> dict[str, Any]:
        channel = self._started()
        from mha_judge.judge import try_call

        problem = self._problem(call.problem)
        attempt = try_call(call.submission, self._bank, problem, channel, call.code, seed=call.seed)
        return attempt.as_fields()


def _done(work: Callable[[], Any]) -> Any:
    """Return what comes of something to do, or why nothing does."""
    try:
        return work()
    except JudgeError as error:
        return error
    except OSError:
        raise
    except Exception as error:  # a bug of ours must not stop the other grades
        text = "".join(traceback.format_exception(error))
        return JudgeError(f"the judge failed: {error!r}\n{text[-3_000:]}")
