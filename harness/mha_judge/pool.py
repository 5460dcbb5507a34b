"""Processes that grade: each has a judge and a sandbox of its own, warm from grade to grade."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError
from mha_judge.gpu import GpuAccess
from mha_judge.report.models import Report
from mha_judge.sandbox import Channel
from mha_judge.submission import Submission

OpenSandbox = Callable[[], Channel]
"""Starts a supervisor; it must be picklable, because each process calls it for itself."""

RECYCLE_AFTER = 200
"""Grades of one process before a fresh one takes its place: what a grade leaves is bounded."""
GRADE_TIMEOUT_S = 600.0
"""Far above what limits allow a submission: a judge that takes longer hangs."""
_LEAVING_S = 15.0


@dataclass(frozen=True)
class Job:
    """One submission to be graded under one seed."""

    problem: str
    submission: Submission
    seed: int
    verdict_only: bool = False
    """Stop at the first check that fails, and explain nothing."""
    without_gpu: bool = False
    """Assess no check on a GPU, though one could be reached."""


class Pool:
    """A number of such processes. They end with their parent, however that ends."""

    def __init__(
        self,
        bank: Bank,
        open_sandbox: OpenSandbox,
        processes: int,
        recycle_after: int = RECYCLE_AFTER,
        gpus: GpuAccess | None = None,
    ) -> None:
        self._start = functools.partial(_Process, bank.root, open_sandbox, gpus)
        self._limit = processes
        self._recycle_after = recycle_after
        self._idle: list[_Process] = []
        self._busy: list[_Process] = []
        self._leaving: list[_Process] = []

    def graded(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Report | JudgeError]]:
        """Yield the index of each job with its report, as they are done.

        Where no verdict could be reached the error is yielded; the other jobs go on.
        """
        waiting = deque(enumerate(jobs))
        while waiting or self._busy:
            while waiting and len(self._busy) < self._limit:
                process = self._idle.pop() if self._idle else self._start()
                process.give(*waiting.popleft())
                self._busy.append(process)
            for process in self._answering():
                self._busy.remove(process)
                index, answer = process.take()
                self._put_away(process, answer)
                yield index, answer

    def close(self) -> None:
        """End all processes; nobody waits for what is being graded."""
        for process in self._busy:
            process.kill()
        for process in self._idle:
            process.dismiss()
        for process in (*self._busy, *self._idle, *self._leaving):
            process.join()
        self._busy, self._idle, self._leaving = [], [], []

    def _answering(self) -> list[_Process]:
        left = min(process.deadline for process in self._busy) - time.monotonic()
        ready = wait([process.connection for process in self._busy], max(0.0, left))
        now = time.monotonic()
        return [p for p in self._busy if p.connection in ready or p.deadline <= now]

    def _put_away(self, process: _Process, answer: Report | JudgeError) -> None:
        """Keep a process for the next job, unless there is any doubt about it.

        A grader that failed half-way stays imported as far as it came, so that a fault of the bank
        is a doubt too.
        """
        if isinstance(answer, Report) and process.grades < self._recycle_after:
            self._idle.append(process)
        else:
            process.dismiss()
            self._leaving.append(process)


class _Process:
    """The parent's end of one process."""

    def __init__(self, root: Path, open_sandbox: OpenSandbox, gpus: GpuAccess | None) -> None:
        context = multiprocessing.get_context("spawn")  # a fork of a process with torch may hang
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, root, open_sandbox, gpus), daemon=True
        )
        self._process.start()
        theirs.close()  # the end of the process must be the end of the connection
        self.grades = 0
        self.deadline = 0.0
        self._index = -1

    def give(self, index: int, job: Job) -> None:
        self._index = index
        self.grades += 1
        self.deadline = time.monotonic() + GRADE_TIMEOUT_S
        with contextlib.suppress(OSError):  # it is gone, which its answer will say
            self.connection.send(job)

    def take(self) -> tuple[int, Report | JudgeError]:
        if not self.connection.poll():
            self.kill()
            return self._index, JudgeError(f"the judge did not end within {GRADE_TIMEOUT_S:.0f} s")
        try:
            answer: Report | JudgeError = self.connection.recv()
        except (EOFError, OSError):
            self._process.join(_LEAVING_S)
            return self._index, JudgeError(
                f"the process that graded it ended (exit status {self._process.exitcode}); "
                "was the machine out of memory?"
            )
        return self._index, answer

    def dismiss(self) -> None:
        """Let it close its sandbox and end."""
        self.connection.close()

    def kill(self) -> None:
        self._process.kill()  # its supervisor ends with it

    def join(self) -> None:
        self._process.join(_LEAVING_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.connection.close()


def _serve(
    connection: Connection, root: Path, open_sandbox: OpenSandbox, gpus: GpuAccess | None
) -> None:
    """Grade what comes, until nothing more does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    bank = Bank.at(root)
    problem_of = functools.cache(bank.problem)
    with contextlib.ExitStack() as stack, contextlib.suppress(EOFError, OSError):
        channel: Channel | None = None
        if gpus is not None:
            stack.callback(gpus.close)
        while True:
            job: Job = connection.recv()
            answer: Report | JudgeError
            try:
                if channel is None:
                    channel = open_sandbox()
                    stack.callback(channel.close)
                from mha_judge.judge import grade  # while the supervisor starts

                answer = grade(
                    job.submission,
                    bank,
                    problem_of(job.problem),
                    channel,
                    seed=job.seed,
                    verdict_only=job.verdict_only,
                    gpus=None if job.without_gpu else gpus,
                )
            except JudgeError as error:
                answer = error
            except Exception as error:  # a bug of ours must not stop the other grades
                text = "".join(traceback.format_exception(error))
                answer = JudgeError(f"the judge failed: {error!r}\n{text[-3_000:]}")
            connection.send(answer)
