"""Whatever grades: processes of this machine, or a cluster of machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future

from mha_judge.errors import JudgeError
from mha_judge.pool.job import Job
from mha_judge.report.models import CheckResult, Report


class Grading(ABC):
    """A job that was handed in."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.future: Future[Report] = Future()
        """Of its report; a `JudgeError` is raised by it where there is no verdict."""
        self.started_at: float | None = None
        """When its grade began, by the monotonic clock; None while it waits."""

    @abstractmethod
    def cancel(self) -> None:
        """Take it back. What grades it is ended; a report that is there stays."""

    def result(self, within_s: float | None = None) -> Report:
        """Wait for the report.

        Args:
            within_s: How long; without end if None.

        Raises:
            JudgeError: There is none.
            TimeoutError: It is not there in time.
        """
        try:
            return self.future.result(within_s)
        except CancelledError:
            raise JudgeError("it was cancelled: the judge was closed") from None


class Workforce(ABC):
    """Grades jobs in the order in which they come. It may be used from several threads."""

    @abstractmethod
    def submit(self, job: Job, on_check: Callable[[CheckResult], None] | None = None) -> Grading:
        """Hand in a job.

        Args:
            job: What is graded.
            on_check: Told each check as it is done, in another thread.

        Raises:
            JudgeError: It is closed.
        """

    @abstractmethod
    def graded(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Report | JudgeError]]:
        """Yield the index of each job with its report, as they are done.

        Where no verdict could be reached the error is yielded; the other jobs go on.
        """

    def warm_up(self) -> None:  # noqa: B027 - those of a cluster are warm by themselves
        """Get ready before there is a job, so that the first one need not wait; return at once."""

    @abstractmethod
    def close(self) -> None:
        """End all that was started; nobody waits for what is being graded."""
