"""Has answers graded in the background, one at a time, and tells what becomes of the last one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mha_judge.errors import JudgeError

if TYPE_CHECKING:
    from mha_judge.pool import Grading
    from mha_judge.report.models import CheckResult, Report
    from mha_judge.submission import Submission


class Grader(Protocol):
    """What grades: a `Judge`, or whatever does as one."""

    def warm_up(self) -> None: ...

    def submit(
        self,
        answer: Submission,
        problem: str,
        *,
        on_check: Callable[[CheckResult], None],
    ) -> Grading: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Asked:
    """An answer that is being graded."""

    problem: str
    submission: Submission
    number: int
    """Tells it from those before it, which nobody waits for any more."""


@dataclass(frozen=True)
class Checked:
    """A check is done."""

    asked: Asked
    check: CheckResult


@dataclass(frozen=True)
class Graded:
    """The report is there."""

    asked: Asked
    report: Report


@dataclass(frozen=True)
class Failed:
    """There is no verdict, through no fault of the answer."""

    asked: Asked
    why: str


Event = Checked | Graded | Failed


class Background:
    """Grades in threads of its own, so that nobody who calls it waits."""

    def __init__(self, open_grader: Callable[[], Grader]) -> None:
        """Take what opens a judge; it is called once, in another thread."""
        self._open_grader = open_grader
        self._tell: Callable[[Event], None] = lambda _: None
        self._grader: Grader | None = None
        self._opening = threading.Lock()
        self._is_closed = False
        self._lock = threading.Lock()
        self._number = 0
        self._grading: Grading | None = None
        self.asked: Asked | None = None
        """What is being graded now."""

    def listen(self, tell: Callable[[Event], None]) -> None:
        """Have somebody told every event, in another thread."""
        self._tell = tell

    def warm_up(self) -> None:
        """Start the judge's process, so that the first answer does not wait for its imports."""
        threading.Thread(target=self._warm_up, daemon=True).start()

    def grade(self, submission: Submission, problem: str) -> Asked:
        """Grade an answer; the one that is being graded is cancelled."""
        self.cancel()
        asked = self.asked = Asked(problem, submission, self._number)
        threading.Thread(target=self._grade, args=(asked,), daemon=True).start()
        return asked

    def is_current(self, asked: Asked) -> bool:
        """Return whether an answer is still the one that is graded."""
        return asked.number == self._number

    def done(self, asked: Asked) -> None:
        """Note that an answer's end was heard of."""
        if self.is_current(asked):
            self.asked = None

    def cancel(self) -> None:
        """Let go of what is being graded."""
        with self._lock:
            self._number += 1
            grading, self._grading, self.asked = self._grading, None, None
        if grading is not None:
            grading.cancel()

    def close(self) -> None:
        """End the judge with its process; nothing is told any more."""
        self._is_closed = True
        self.cancel()
        with self._opening:
            grader, self._grader = self._grader, None
        if grader is not None:
            grader.close()

    def _warm_up(self) -> None:
        try:
            self._opened().warm_up()
        except JudgeError:  # the first grade meets it again, and tells of it
            return

    def _opened(self) -> Grader:
        with self._opening:
            if self._is_closed:
                raise JudgeError("the judge is closed")
            if self._grader is None:
                self._grader = self._open_grader()
            return self._grader

    def _grade(self, asked: Asked) -> None:
        """Grade, and tell; whatever happens, whoever waits is told."""

        def told(check: CheckResult) -> None:
            self._say(Checked(asked, check))

        try:
            grader = self._opened()
            with self._lock:
                if not self.is_current(asked):
                    return
                grading = self._grading = grader.submit(
                    asked.submission, asked.problem, on_check=told
                )
            report = grading.result()
        except JudgeError as error:
            self._say(Failed(asked, str(error)))
        except Exception as error:  # a bug of ours must not leave somebody waiting
            self._say(Failed(asked, f"the judge failed: {error!r}; try again"))
        else:
            self._say(Graded(asked, report))

    def _say(self, event: Event) -> None:
        if self.is_current(event.asked) and not self._is_closed:
            self._tell(event)
