"""The queue of jobs, and the processes that grade them."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, as_completed

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError
from mha_judge.gpu import GpuAccess
from mha_judge.pool.job import Job, OpenSandbox, Place
from mha_judge.pool.process import Process
from mha_judge.pool.workforce import Grading, Workforce
from mha_judge.report.models import CheckResult, Report

RECYCLE_AFTER = 200
"""Grades of one process before a fresh one takes its place: what a grade leaves is bounded."""


class _Turn(Grading):
    """A job that waits for a process, or has one."""

    def __init__(self, job: Job, on_check: Callable[[CheckResult], None] | None) -> None:
        super().__init__(job)
        self._on_check = on_check
        self._lock = threading.RLock()  # who is told of a cancellation may cancel, too
        self._process: Process | None = None
        self._cancelled = False
        self._left_the_queue = False

    def cancel(self) -> None:
        """Take it back. A process that grades it is ended; a report that is there stays."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.kill()
            if self.future.cancel():
                self.begin()  # who waits for it is told only now

    def begin(self) -> bool:
        """Note that its turn has come; return whether it is still wanted."""
        with self._lock:
            first, self._left_the_queue = not self._left_the_queue, True
            return first and self.future.set_running_or_notify_cancel()

    def grade(self, process: Process) -> bool:
        """Have it graded; return whether the process may be given another job.

        A grader that failed half-way stays imported as far as it came, so that a fault of the bank
        is a doubt too.
        """
        with self._lock:
            if self._cancelled:
                process.kill()
            self._process = process
        self.started_at = time.monotonic()
        answer: Report | BaseException
        try:
            answer = process.graded(self.job, self._on_check)
        except BaseException as error:  # of whoever is told the checks
            process.kill()
            answer = error
        with self._lock:
            self._process = None  # from here on it is not this job's to kill
        if isinstance(answer, Report):
            self.future.set_result(answer)
        else:
            self.future.set_exception(CancelledError() if self._cancelled else answer)
        return isinstance(answer, Report) and not self._cancelled


class Pool(Workforce):
    """Grades jobs in the order in which they come. It may be used from several threads."""

    def __init__(
        self,
        bank: Bank,
        open_sandbox: OpenSandbox,
        processes: int,
        recycle_after: int = RECYCLE_AFTER,
        gpus: GpuAccess | None = None,
        quiet: bool = False,
    ) -> None:
        """Start nothing yet: processes start when there are jobs for them.

        Args:
            bank: The problems.
            open_sandbox: Starts the sandbox of a process.
            processes: How many jobs are graded at once.
            recycle_after: How many grades a process gives before a fresh one takes its place.
            gpus: Access to a GPU.
            quiet: Whether what processes say on stderr is left out.
        """
        self._place = Place(bank.root, open_sandbox, gpus)
        self._most = processes
        self._quiet = quiet
        self._recycle_after = recycle_after
        self._waiting: queue.SimpleQueue[_Turn | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._at_work: set[_Turn] = set()
        self._unfinished = 0
        self._idle: list[Process] = []
        self._processes: set[Process] = set()
        self._is_closed = False

    def submit(self, job: Job, on_check: Callable[[CheckResult], None] | None = None) -> Grading:
        grading = _Turn(job, on_check)
        with self._lock:
            if self._is_closed:
                raise JudgeError("the judge is closed; open another one")
            if len(self._threads) < min(self._most, self._unfinished + 1):
                # not one of an executor's, which has its jobs graded before a program may end
                thread = threading.Thread(target=self._work, name="mha-judge", daemon=True)
                thread.start()
                self._threads.append(thread)
            self._unfinished += 1
            self._waiting.put(grading)
        return grading

    def graded(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Report | JudgeError]]:
        indices = {self.submit(job).future: index for index, job in enumerate(jobs)}
        for future in as_completed(indices):
            error = future.exception()
            if error is not None and not isinstance(error, JudgeError):
                raise error
            yield indices[future], future.result() if error is None else error

    def warm_up(self) -> None:
        """Start processes before there are jobs for them: they import torch meanwhile.

        Raises:
            JudgeError: None can be started.
        """
        with self._lock:  # closing waits, and then ends them
            while len(self._processes) < self._most and not self._is_closed:
                process = Process(self._place, self._quiet)
                process.warm_up()
                self._processes.add(process)
                self._idle.append(process)

    def close(self) -> None:
        """End all processes; nobody waits for what is being graded."""
        with self._lock:
            self._is_closed = True
            at_work = [*self._at_work]
        with contextlib.suppress(queue.Empty):
            while (left := self._waiting.get_nowait()) is not None:
                left.cancel()
        for grading in at_work:
            grading.cancel()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():  # which tells somebody a check
                thread.join()
        for process in self._idle:
            if process.grades:
                process.dismiss()
            else:  # it is warming up, and would hear of it only afterwards
                process.kill()
        for process in self._processes:
            process.join()
        self._processes.clear()
        self._idle.clear()

    def _work(self) -> None:
        """Grade what comes, in a thread for each process that may be at work."""
        while (grading := self._waiting.get()) is not None:
            if grading.begin():
                self._grade(grading)
            with self._lock:
                self._unfinished -= 1

    def _grade(self, grading: _Turn) -> None:
        """Have a job graded; whatever happens, its future is done, and this thread goes on."""
        process, may_go_on = None, False
        with self._lock:
            self._at_work.add(grading)
            if self._is_closed:  # since it was taken from the queue
                grading.cancel()
        try:
            process = self._taken()
            may_go_on = grading.grade(process)
        except BaseException as error:  # no process, or what was to be told of a report
            if not grading.future.done():
                with contextlib.suppress(BaseException):
                    grading.future.set_exception(error)
        with self._lock:
            self._at_work.remove(grading)
            if process is not None:
                self._put_away(process, may_go_on and process.grades < self._recycle_after)

    def _taken(self) -> Process:
        """Return a process that is idle, the last one used first, or a fresh one."""
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if not process.has_ended:  # as one does that somebody kills
                    return process
                process.dismiss()
        process = Process(self._place, self._quiet)
        with self._lock:
            self._processes.add(process)
        return process

    def _put_away(self, process: Process, for_another: bool) -> None:
        """Keep a process for another job, or let it end."""
        if for_another:
            self._idle.append(process)
        else:
            process.dismiss()
        self._processes -= {one for one in self._processes if one.has_ended}
