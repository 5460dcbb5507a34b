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

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError
from mha_judge.pool.job import WARM_UP, Job, Place
from mha_judge.report.models import CheckResult, Report
from mha_judge.sandbox import Channel

_LOOK_EVERY_S = 1.0


def main(descriptor: int) -> None:
    """Grade what comes over a connection, until nothing more does."""
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    connection = Connection(descriptor)
    with contextlib.suppress(EOFError, OSError), contextlib.ExitStack() as stack:
        warm_up, graded = _grader(connection.recv(), stack, connection.send)
        while (asked := connection.recv()) is not None:
            if asked == WARM_UP:
                warm_up()
            else:
                connection.send(graded(*asked))
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


def _grader(
    place: Place, stack: contextlib.ExitStack, tell: Callable[[CheckResult], None]
) -> tuple[Callable[[], None], Callable[[Job, bool], Report | JudgeError]]:
    """Return what gets ready for a job, and what grades one.

    The sandbox starts with the first of these, and ends with the stack.
    """
    bank = Bank.at(place.bank)
    problem_of = functools.cache(bank.problem)
    if place.gpus is not None:
        stack.callback(place.gpus.close)

    @functools.cache
    def channel() -> Channel:
        opened = place.open_sandbox()
        stack.callback(opened.close)
        return opened

    def warm_up() -> None:
        with contextlib.suppress(JudgeError):  # the first job meets it again, and tells of it
            channel()
            from mha_judge.judge import prepare  # while the supervisor starts

            prepare()

    def graded(job: Job, tells_checks: bool) -> Report | JudgeError:
        try:
            started = channel()
            from mha_judge.judge import grade  # while the supervisor starts

            return grade(
                job.submission,
                bank,
                problem_of(job.problem),
                started,
                seed=job.seed,
                verdict_only=job.verdict_only,
                gpus=None if job.without_gpu else place.gpus,
                on_check=tell if tells_checks else None,
                shows_call=job.shows_call,
            )
        except JudgeError as error:
            return error
        except OSError:
            raise
        except Exception as error:  # a bug of ours must not stop the other grades
            text = "".join(traceback.format_exception(error))
            return JudgeError(f"the judge failed: {error!r}\n{text[-3_000:]}")

    return warm_up, graded
