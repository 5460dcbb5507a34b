"""The judge as a library: answers in, reports out, from one warm set of processes."""

from __future__ import annotations

import math
import os
import sys
import threading
import warnings
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from mha_judge.bank import LANGUAGES, Bank
from mha_judge.bank.listing import ProblemSummary, summaries
from mha_judge.bank.which_problem import problem_of
from mha_judge.errors import JudgeError, UsageError
from mha_judge.extras import require_extra
from mha_judge.gpu import GpuAccess
from mha_judge.judge import MAX_SEED, fresh_seed
from mha_judge.pool import Grading, Job, Pool, Workforce
from mha_judge.report.models import CheckResult, Report
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

if TYPE_CHECKING:
    from types import TracebackType

AnswerLike = str | os.PathLike[str] | Submission
"""A file, or a text: a `str` that is blank or has a line break is the text of an answer, any other
one a path. What comes from strangers is better made a `Submission.of_text`, which is never a
path."""
_AHEAD = 16
"""Answers that are handed in before they are waited for, for each process."""


@dataclass(frozen=True)
class Graded:
    """What came of one answer of many: a report, or the reason why there is none."""

    answer: AnswerLike
    problem: str
    """Its id; empty if it could not be known."""
    report: Report | None
    error: JudgeError | None = None
    """Says nothing of the answer: grade it again."""


class Judge:
    """Grades answers in processes of its own, which stay warm from one to the next.

    Nothing of an answer runs in the process that uses this class, nor is torch imported there. It
    may be used from several threads. Close it, or use it as a context manager; a program that
    forgets to leaves no process behind either.
    """

    def __init__(
        self,
        *,
        bank: str | os.PathLike[str] | None = None,
        sandbox: str | SandboxOptions = "auto",
        unsafe: bool = False,
        device: str = "auto",
        workers: int | None = None,
        dask: str | None = None,
        quiet: bool = False,
    ) -> None:
        """Choose problems and sandbox; no process starts before there is something to grade.

        Args:
            bank: A folder with `problems/`, `graders/` and `reference/`; the built-in one if None.
            sandbox: How answers are confined: `auto`, `container`, `jail` or `none`; or options
                that say all of it, and then neither `unsafe` nor `device`.
            unsafe: Allows `none`.
            device: `auto` runs the checks on a GPU if one can be reached, `cpu` leaves them out,
                `cuda` fails if none can be reached.
            workers: How many answers are graded at once; as many as there are cores if None. Each
                is a process with torch in it, and takes about 0.5 GiB.
            dask: The address of a Dask scheduler, or a scheduler file: its workers grade, and none
                of this machine. TLS is what Dask is configured to use.
            quiet: Leaves out what its processes say on stderr, such as warnings of torch: for
                programs that have the screen to themselves.

        Raises:
            UsageError: If these do not fit together, or no scheduler answers.
            BankError: If the folder is not a bank.
            SandboxUnavailable: If `cuda` is asked for, and there is none.
        """
        if workers is not None and dask is not None:
            raise UsageError("a cluster has its own workers; pass workers or dask")
        if workers is None:
            workers = len(os.sched_getaffinity(0))
        if workers < 1:
            raise UsageError(f"workers is {workers}; it must be 1 or more")
        if isinstance(sandbox, str):
            sandbox = SandboxOptions(sandbox, unsafe, device=device)
        elif unsafe or device != "auto":
            raise UsageError("sandbox says how answers are confined; say the rest in it as well")
        self._bank = Bank.builtin() if bank is None else Bank.at(Path(bank))
        _show_reports()
        self._workforce: Workforce
        if dask is not None:
            require_extra("dask", "a Dask cluster")
            from mha_judge.cluster import Cluster

            cluster = Cluster(dask, self._bank, sandbox, _warn)
            self.workers = max(1, cluster.slots)
            self._workforce = cluster
        else:
            gpus = GpuAccess(sandbox)
            gpus.require()
            self.workers = workers
            self._workforce = Pool(self._bank, sandbox.open, workers, gpus=gpus, quiet=quiet)
        self._ahead = _AHEAD * self.workers
        self._close = weakref.finalize(self, self._workforce.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes; what is being graded is cancelled."""
        self._close()

    def warm_up(self) -> None:
        """Start the processes now, so that the first answer need not wait for their imports.

        It returns at once; without it they start when there is something to grade.

        Raises:
            JudgeError: None can be started.
        """
        self._workforce.warm_up()

    def problems(self) -> list[ProblemSummary]:
        """Return what there is to solve, easiest first.

        Raises:
            BankError: If a problem is broken.
        """
        return summaries(self._bank)

    def statement(self, problem: str, lang: str = "en") -> str:
        """Return what a problem asks, as Markdown.

        Args:
            problem: Its id.
            lang: `en` or `zh`.

        Raises:
            UsageError: If there is no such problem, or no such language.
        """
        if lang not in LANGUAGES:
            raise UsageError(f"no language {lang!r}; there are {' and '.join(LANGUAGES)}")
        self._bank.require(problem)
        return self._bank.statement(problem, lang)

    def starter(self, problem: str) -> str:
        """Return the file that one starts a problem with.

        Raises:
            UsageError: If there is no such problem.
        """
        self._bank.require(problem)
        return self._bank.starter(problem)

    def grade(
        self,
        answer: AnswerLike,
        problem: str | None = None,
        *,
        seed: int | None = None,
        verdict_only: bool = False,
        on_check: Callable[[CheckResult], None] | None = None,
    ) -> Report:
        """Grade an answer, and wait for its report.

        Args:
            answer: A text with a line break, or a path.
            problem: Its problem's id; if None, what the answer's `# problem:` line or the file's
                name says.
            seed: Repeats the inputs of an earlier report; fresh from the system if None.
            verdict_only: Stop at the first check that fails, and explain nothing.
            on_check: Told each check as it is done, in another thread. What the report says of it
                counts: a rule broken later can still fail it.

        Raises:
            SubmissionUnreadable: If it is no readable text of at most 256 KiB.
            UsageError: If there is no such problem.
            JudgeError: If no verdict could be reached, through no fault of the answer.
        """
        asked = self.submit(
            answer, problem, seed=seed, verdict_only=verdict_only, on_check=on_check
        )
        with _cancelled_if_left(asked):
            return asked.result()

    async def agrade(
        self,
        answer: AnswerLike,
        problem: str | None = None,
        *,
        seed: int | None = None,
        verdict_only: bool = False,
        on_check: Callable[[CheckResult], None] | None = None,
    ) -> Report:
        """Grade an answer as `grade` does, from asyncio or trio; cancelling ends the grade."""
        asked = self.submit(
            answer, problem, seed=seed, verdict_only=verdict_only, on_check=on_check
        )
        with _cancelled_if_left(asked):
            await _settled(asked)
            return asked.result()

    def grade_many(
        self,
        answers: Iterable[AnswerLike | tuple[AnswerLike, str]],
        *,
        seed: int | None = None,
        verdict_only: bool = False,
        progress: Callable[[Graded], None] | None = None,
    ) -> Iterator[Graded]:
        """Yield what comes of each answer, in their order; one without a verdict stops no other.

        The answers are taken as there is room for them, so there may be any number. Leaving the
        loop cancels those that were taken.

        Args:
            answers: Each as `grade` takes it, or with its problem's id.
            seed: Of all of them: the same questions are cheaper, and fair. Fresh if None.
            verdict_only: As of `grade`.
            progress: Told each as it is done, in another thread.

        Raises:
            UsageError: If `answers` is a single text.
        """
        with self._asked(answers, seed, verdict_only, progress) as asked:
            for one in asked:
                yield one.wait()

    async def agrade_many(
        self,
        answers: Iterable[AnswerLike | tuple[AnswerLike, str]],
        *,
        seed: int | None = None,
        verdict_only: bool = False,
        progress: Callable[[Graded], None] | None = None,
    ) -> AsyncIterator[Graded]:
        """Yield what comes of each answer as `grade_many` does, from asyncio or trio."""
        with self._asked(answers, seed, verdict_only, progress) as asked:
            for one in asked:
                if one.grading is not None:
                    await _settled(one.grading)
                yield one.wait()

    def submit(
        self,
        answer: AnswerLike,
        problem: str | None = None,
        *,
        seed: int | None = None,
        verdict_only: bool = False,
        on_check: Callable[[CheckResult], None] | None = None,
    ) -> Grading:
        """Hand in an answer without waiting: its report is what `.future` will hold.

        Args and errors are those of `grade`; that there is no verdict is raised by the future.
        """
        submission = _submission(answer)
        return self._workforce.submit(
            Job(
                problem=self.problem_of(submission, problem),
                submission=submission,
                seed=_seed(seed),
                verdict_only=verdict_only,
            ),
            on_check,
        )

    def problem_of(self, answer: AnswerLike, problem: str | None = None) -> str:
        """Return the id of the problem that an answer would be graded for.

        Raises:
            SubmissionUnreadable: If the answer is no readable text.
            UsageError: If nothing says which problem it is, or there is none of that id.
        """
        if problem is None:
            return problem_of(_submission(answer), self._bank)
        self._bank.require(problem)
        return problem

    @contextmanager
    def _asked(
        self,
        answers: Iterable[AnswerLike | tuple[AnswerLike, str]],
        seed: int | None,
        verdict_only: bool,
        progress: Callable[[Graded], None] | None,
    ) -> Iterator[Iterator[_Asked]]:
        """Give what was handed in, each to be waited for in turn; at the end cancel the rest."""
        if isinstance(answers, (str, bytes)):  # of which each letter would be a path
            raise UsageError("answers come in a list, even if there is one; a text is one answer")
        seed = _seed(seed)
        ahead: deque[_Asked] = deque()

        def in_turn() -> Iterator[_Asked]:
            for answer, problem in map(_with_problem, answers):
                ahead.append(self._ask(answer, problem, seed, verdict_only, progress))
                if len(ahead) == self._ahead:
                    yield ahead[0]  # it stays until it has been waited for
                    ahead.popleft()
            while ahead:
                yield ahead[0]
                ahead.popleft()

        try:
            yield in_turn()
        finally:
            for one in ahead:
                if one.grading is not None:
                    one.grading.cancel()

    def _ask(
        self,
        answer: AnswerLike,
        problem: str | None,
        seed: int,
        verdict_only: bool,
        progress: Callable[[Graded], None] | None,
    ) -> _Asked:
        try:
            grading = self.submit(answer, problem, seed=seed, verdict_only=verdict_only)
        except UsageError as error:
            asked = _Asked(answer, problem or "", None, error)
        else:
            asked = _Asked(answer, grading.job.problem, grading)
        if progress is not None:
            if asked.grading is None:
                progress(asked.wait())
            else:
                asked.grading.future.add_done_callback(
                    lambda future: None if future.cancelled() else progress(asked.wait())
                )
        return asked


@dataclass(frozen=True)
class _Asked:
    """An answer that was handed in, or could not be."""

    answer: AnswerLike
    problem: str
    grading: Grading | None
    error: JudgeError | None = None

    def wait(self) -> Graded:
        if self.grading is None:
            return Graded(self.answer, self.problem, None, self.error)
        try:
            return Graded(self.answer, self.problem, self.grading.result())
        except JudgeError as error:
            return Graded(self.answer, self.problem, None, error)


@contextmanager
def _cancelled_if_left(grading: Grading) -> Iterator[None]:
    """Cancel a grade that nobody waits for any more."""
    try:
        yield
    except BaseException:  # without effect on one that is done
        grading.cancel()
        raise


async def _settled(grading: Grading) -> None:
    """Wait in a thread of its own: there is no limit to how many may wait."""
    from anyio import CapacityLimiter, to_thread

    done = threading.Event()
    grading.future.add_done_callback(lambda _: done.set())
    await to_thread.run_sync(done.wait, abandon_on_cancel=True, limiter=CapacityLimiter(math.inf))


def _show_reports() -> None:
    """Let the notebook show reports, if this runs in one."""
    if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()) is not None:
        from mha_judge.render.report.html import show_in

        show_in(shell)


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=4)


def _with_problem(item: AnswerLike | tuple[AnswerLike, str]) -> tuple[AnswerLike, str | None]:
    return item if isinstance(item, tuple) else (item, None)


def _submission(answer: AnswerLike) -> Submission:
    """Return an answer as it is graded.

    Raises:
        SubmissionUnreadable: If it cannot be.
    """
    if isinstance(answer, Submission):
        return answer
    if not isinstance(answer, (str, os.PathLike)):
        raise UsageError(f"an answer is a text or a path, not a {type(answer).__name__}")
    if isinstance(answer, str) and ("\n" in answer or not answer.strip()):
        return Submission.of_text(answer)
    return Submission.read(Path(answer))


def _seed(seed: int | None) -> int:
    if seed is None:
        return fresh_seed()
    if not 0 <= seed < MAX_SEED:
        raise UsageError(f"the seed is {seed}; it must be 0 or more, and below 2**53")
    return seed
