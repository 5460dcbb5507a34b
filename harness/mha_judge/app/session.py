"""What one can do in the app, and how one stands; it knows nothing of the screen.

One thread uses a session. `overview` alone may be called from another one: it takes a moment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from mha_judge.app.grading import Background, Checked, Failed, Graded, Grader
from mha_judge.app.words import WORDS, Words
from mha_judge.bank import Bank, module_name
from mha_judge.bank.listing import ProblemSummary, tracks
from mha_judge.errors import JudgeError, UsageError
from mha_judge.file_versions import FileVersion, version_of
from mha_judge.practice.progress import End, Progress

if TYPE_CHECKING:  # the first picture must not wait for pydantic
    from mha_judge.practice.learner import Kept, Learner, Offer
    from mha_judge.practice.order import Proposal
    from mha_judge.practice.solution import Solution
    from mha_judge.report.models import CheckResult, Report
    from mha_judge.watching.files import Watched


class Mark(Enum):
    """How one stands with a problem, as a sign."""

    SOLVED = "✓"
    OPEN = "●"
    DUE = "↻"
    NEW = "·"


@dataclass(frozen=True)
class Overview:
    """What is done and what comes next."""

    marks: Mapping[str, Mark]
    """By problem; those that are not here are new."""
    proposals: tuple[Proposal, ...]


class Began(Enum):
    """What beginning came to."""

    WROTE = "wrote"
    WAS_THERE = "was there"
    """A file that nobody knows of lay there, and is gone on with."""
    GOES_ON = "already begun"


@dataclass(frozen=True)
class State:
    """How one stands with the problem that is open."""

    path: Path | None
    """The file that is worked on; None if the problem is not begun."""
    is_open: bool = False
    """Whether a round is open."""
    end: End | None = None
    """How the last round ended."""
    attempts: int = 0
    seconds: float = 0.0
    """Of work in the round."""
    score: float | None = None
    """Of the last answer, before hints are taken off."""
    price: float = 0.0
    """What the hints of the round have cost."""
    may_rate: bool = False

    @property
    def points(self) -> float | None:
        """Of the last answer, less what the hints cost."""
        return None if self.score is None else max(0.0, round(self.score - self.price, 1))


@dataclass
class Answer:
    """What is known of the last answer to a problem."""

    checks: list[CheckResult]
    """Those that are done; the report has them all."""
    report: Report | None = None
    kept: Kept | None = None
    why: str = ""
    """Why there is no verdict."""


class Session:
    """A learner, the problems, the file that is worked on, and what was graded."""

    def __init__(
        self,
        bank: Bank,
        progress: Progress,
        open_grader: Callable[[], Grader],
        *,
        folder: Path,
        language: str = "en",
        first: str | None = None,
        edit_cmd: str | None = None,
        clock: Callable[[], datetime] | None = None,
        words: Mapping[str, Words] = WORDS,
    ) -> None:
        """Take what there is to do and where it is kept; nothing is started yet.

        Args:
            bank: The problems.
            progress: Where progress is kept.
            open_grader: Opens a judge; called in another thread.
            folder: Where starters are written.
            language: `en` or `zh`.
            first: Id of the problem that is opened first; what is proposed if None.
            edit_cmd: The learner's own way to open an editor.
            clock: Says what time it is; the system's if None.
            words: What is said, by language.

        Raises:
            UsageError: If there is no problem `first`.
            BankError: If a problem is broken.
        """
        self.bank = bank
        self.folder = folder
        self.language = language
        self.shows_fine_print = False
        self.first = first
        self.edit_cmd = edit_cmd
        self.background = Background(open_grader)
        self.notice = progress.notice
        self.trouble = ""
        """Why something was not kept; empty again once something was."""
        self.answers: dict[str, Answer] = {}
        self.current: ProblemSummary | None = None
        self._titles = functools.cache(bank.titles)
        self._progress = progress
        self._clock = clock
        self._words = words
        self._asked_at = datetime.max.replace(tzinfo=UTC)
        self._paths: dict[str, Path] = {}
        self._folders: dict[Path, Watched] = {}
        self._versions: dict[Path, FileVersion] = {}
        if first is not None:
            bank.require(first)
        self._look_at_bank()

    # what there is

    @property
    def words(self) -> Words:
        return self._words[self.language]

    @property
    def tracks(self) -> dict[str, list[ProblemSummary]]:
        """The problems by track."""
        return self._tracks

    @functools.cached_property
    def learner(self) -> Learner:
        from mha_judge.practice.learner import Learner, now

        return Learner(self.bank, self._progress, self._clock or now)

    def title(self, line: ProblemSummary) -> str:
        return line.title_in(self.language)

    def summary(self, problem: str) -> ProblemSummary | None:
        """Return a problem at a glance; None if it has left the bank."""
        return self._lines.get(problem)

    def statement(self) -> str:
        """Return what the open problem asks, as Markdown, with its fine print if that is shown."""
        which = (self._current.id, self.language)
        text, fine_print = self.bank.task(*which), self.bank.fine_print(*which)
        if self.shows_fine_print or not fine_print:
            return f"{text}\n{fine_print}"
        return f"{text}\n*{self.words['fine print']}*\n"

    def change_language(self) -> None:
        self.language = "zh" if self.language == "en" else "en"

    def overview(self) -> Overview:
        """Return what is done and what comes next; this may be called in another thread.

        Raises:
            ProgressUnavailable: If progress cannot be read.
            BankError: If a problem is broken.
        """
        from mha_judge.practice import order
        from mha_judge.practice.standing import standings

        found = order.proposals(self.bank, self._progress, self.now(), self.language)
        marks = {
            problem: Mark.OPEN if one.is_open else Mark.SOLVED
            for problem, one in standings(self._progress).items()
            if one.is_open or one.solved
        }
        again = (order.Kind.REVIEW, order.Kind.MISCONCEPTION)
        marks |= {one.problem: Mark.DUE for one in found if one.kind in again}
        return Overview(marks, tuple(found))

    # the open problem

    def open(self, problem: str) -> None:
        """Show a problem from now on; the file of one that is begun is watched.

        Raises:
            UsageError: If the bank does not have it any more.
        """
        line = self.summary(problem)
        if line is None:
            raise UsageError(self.words["not found"].format(problem=problem))
        self.current = line
        path = self.state().path
        if path is not None and path.exists():
            self._watch(problem, path)

    def state(self) -> State:
        """Return how one stands with the open problem, as it is kept now."""
        problem = self._current.id
        with self._noting():
            round_ = self._progress.last_round(problem)
            path = Path(round_.path) if round_ and round_.is_open else self._paths.get(problem)
            if round_ is None:
                return State(path)
            attempts = self._progress.attempts(round_.id)
            from mha_judge.practice.reviews import of_problem

            rated = not round_.is_open and self._progress.card(of_problem(problem)) is not None
            return State(
                path=path,
                is_open=round_.is_open,
                end=round_.end,
                attempts=len(attempts),
                seconds=self.learner.worked_s(round_),
                score=attempts[-1].score if attempts else None,
                price=self._progress.spent(round_),
                may_rate=rated and round_.end is End.SOLVED,
            )
        return State(self._paths.get(problem))

    def begin(self) -> tuple[Began, Path]:
        """Begin the open problem, or go on with it; its file is watched.

        No file is overwritten. One that lies where the starter would, and that no round has worked
        on, is gone on with.

        Raises:
            UsageError: If the starter cannot be written.
        """
        problem = self._current.id
        state = self.state()
        if state.is_open and state.path is not None and state.path.exists():
            self._watch(problem, state.path)
            return Began.GOES_ON, state.path
        usual = (self.folder / f"{module_name(problem)}.py").resolve()
        if usual.is_file() and self._is_unknown(usual):
            with self._noting(writes=True):
                self.learner.begin(problem, usual)
            self._watch(problem, usual)
            return Began.WAS_THERE, usual
        path = self._written(problem, goes_on=state.is_open)
        self._versions[path] = version_of(path)  # the starter is no answer
        self._watch(problem, path)
        return Began.WROTE, path

    def saved(self) -> list[str]:
        """Return the problems whose files were saved since the last call."""
        changed = {path for watched in self._folders.values() for path in watched.changed()}
        return [problem for problem, path in self._paths.items() if self._is_new(path, changed)]

    def _is_new(self, path: Path, changed: Collection[Path]) -> bool:
        """Return whether a file holds something new; writing its starter was no save."""
        if path not in changed or not path.exists():  # some editors delete it for a moment
            return False
        before, self._versions[path] = self._versions[path], version_of(path)
        return before != self._versions[path]

    def write(self, text: str) -> None:
        """Write the file of the open problem, as an editor of one's own would; it is no save.

        Raises:
            UsageError: If it is not begun, or cannot be written.
        """
        path = self.file()
        try:
            path.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        self._versions[path] = version_of(path)

    def file(self) -> Path:
        """Return the file of the open problem.

        Raises:
            UsageError: If it is not begun.
        """
        path = self._paths.get(self._current.id) or self.state().path
        if path is None:
            raise UsageError(self.words["begin first"])
        return path

    def grade(self) -> None:
        """Have the file of the open problem graded, unless just that is being done.

        Raises:
            UsageError: If it is not begun, or cannot be read.
        """
        from mha_judge.submission import Submission

        problem = self._current.id
        submission = Submission.read(self.file())
        asked = self.background.asked
        if asked is not None and asked.problem == problem and asked.submission == submission:
            return
        self.answers[problem] = Answer([])
        self._asked_at = self.now()
        self.background.grade(submission, problem)

    def stop(self) -> bool:
        """Stop grading, which costs no attempt; say whether there was anything to stop."""
        asked = self.background.asked
        if asked is None:
            return False
        self.background.cancel()
        self.answers[asked.problem].why = self.words["stopped"]
        return True

    @property
    def is_grading(self) -> bool:
        """Whether the open problem's file is being graded."""
        asked = self.background.asked
        return asked is not None and self.current is not None and asked.problem == self.current.id

    def take_event(self, event: Checked | Graded | Failed) -> bool:
        """Take over what grading has told, and keep a report; say whether anything is new."""
        if not self.background.is_current(event.asked):
            return False
        answer = self.answers.setdefault(event.asked.problem, Answer([]))
        if isinstance(event, Checked):
            answer.checks.append(event.check)
            return True
        self.background.done(event.asked)
        if isinstance(event, Failed):
            answer.why = event.why
            return True
        with self._noting(writes=True):
            answer.kept = self._keep(event)
        answer.report = event.report
        return True

    @property
    def checks_done(self) -> int:
        """How many checks of the last answer to the open problem are done."""
        answer = self.answers.get(self._current.id)
        return len(answer.checks) if answer is not None else 0

    @property
    def answer(self) -> Answer | None:
        """The last answer to the open problem, in the learner's language."""
        answer = self.answers.get(self._current.id)
        if answer is None or self.language == "en":
            return answer
        from mha_judge.report.translation import translated, with_titles

        report = answer.report and translated(answer.report, self.bank, self.language)
        checks = with_titles(answer.checks, self._titles(self.language))
        return replace(answer, checks=checks, report=report)

    # hints, solution, rating, notes

    def offer(self) -> tuple[Offer, float]:
        """Return the next hint, and what those before it have cost.

        Raises:
            UsageError: If there is none now, with what to do.
            ProgressUnavailable: If progress cannot be read.
        """
        state = self.state()
        if not state.is_open:
            raise UsageError(self.words["begin first"])
        if not state.attempts:
            raise UsageError(self.words["try first"])
        try:
            return self.learner.offer(self._current.id, self.language), state.price
        except UsageError as error:
            raise UsageError(self.words["no further hint"]) from error

    def take(self, offer: Offer) -> str:
        """Pay for a hint, and return it; what cannot be paid for is not told.

        Raises:
            ProgressUnavailable: If it cannot be kept.
        """
        return self.learner.take(offer)

    def mistakes_told(self) -> frozenset[str] | None:
        """Return the mistakes that hints were taken for; None if all may be told."""
        with self._noting():
            round_ = self._progress.last_round(self._current.id)
            if round_ is None or round_.is_open:
                return frozenset() if round_ is None else self.learner.mistakes_told(round_)
        return None

    def told(self) -> list[tuple[str, str]]:
        """Return the hints of the round: the mistake's title, or nothing, and the text."""
        with self._noting():
            return self.learner.told(self._current.id, self.language)
        return []

    def may_see_solution(self) -> bool:
        with self._noting():
            return self.learner.may_see_solution(self._current.id)
        return False

    def give_up(self) -> None:
        """End the round unsolved.

        Raises:
            UsageError: If none is open.
            ProgressUnavailable: If that cannot be kept.
        """
        if not self.state().is_open:
            raise UsageError(self.words["begin first"])
        self.learner.give_up(self._current.id)

    def solution(self) -> Solution:
        """Return the solution beside what one's own answers had instead.

        Raises:
            BankError: If the problem is broken.
        """
        from mha_judge.practice.solution import solution_of

        made: set[str] = set()
        with self._noting():
            made = self.learner.made(self._current.id)
        return solution_of(self.bank, self._current.id, made, self.language)

    def overrule(self, rating: str) -> datetime:
        """Rate the open problem otherwise; return when it is due.

        Raises:
            UsageError: If it has not been rated.
            ProgressUnavailable: If that cannot be kept.
        """
        from mha_judge.practice.reviews import RATINGS

        if not self.state().may_rate:
            raise UsageError(self.words["not rated"])
        return self.learner.overrule(self._current.id, RATINGS[rating])

    def note(self, problem: str) -> str:
        with self._noting():
            return self._progress.note(problem)
        return ""

    def put_note(self, problem: str, text: str) -> None:
        with self._noting(writes=True):
            self._progress.put_note(problem, text, self.now())

    def close(self) -> None:
        """End what was started: the judge, and watching."""
        self.background.close()
        for watched in self._folders.values():
            watched.stop()
        self._folders.clear()

    # what these are made of

    @property
    def _current(self) -> ProblemSummary:
        if self.current is None:
            raise UsageError(self.words["nothing open"])
        return self.current

    def now(self) -> datetime:
        from mha_judge.practice.learner import now

        return (self._clock or now)()

    def _look_at_bank(self) -> None:
        self._tracks = tracks(self.bank)
        self._lines = {line.id: line for lines in self._tracks.values() for line in lines}

    def _is_unknown(self, path: Path) -> bool:
        """Return whether no round has been worked on in a file, and no other problem is."""
        with self._noting():
            return self.learner.round_of(path) is None and path not in self._paths.values()
        return False

    def _written(self, problem: str, *, goes_on: bool) -> Path:
        """Write a starter, and begin in it, or go on with the round whose file is gone."""
        from mha_judge.practice.learner import write_starter

        path = self.learner.free_path(problem, self.folder).resolve()
        with self._noting(writes=True):
            if not goes_on:
                return self.learner.begin_afresh(problem, self.folder).resolve()
        if not path.exists():  # or it was written, and only beginning was not kept
            write_starter(self.learner.bank, problem, path)
        with self._noting(writes=True):
            self.learner.begin(problem, path)
        return path

    def _watch(self, problem: str, path: Path) -> None:
        """Have saves of a file noticed; whatever else lies in its folder concerns nobody."""
        from mha_judge.watching.files import Watched

        self._paths[problem] = path
        self._versions.setdefault(path, version_of(path))
        if path.parent not in self._folders:
            watched = self._folders[path.parent] = Watched([path.parent])
            watched.start()

    def _keep(self, event: Graded) -> Kept | None:
        """Keep an answer, in the round that the file belongs to now.

        Of two programs that watch a file, the first keeps what was saved.
        """
        asked = event.asked
        round_ = self.learner.round_of(asked.submission.path)
        if round_ is None or round_.problem != asked.problem:  # forgotten meanwhile, elsewhere
            round_ = self.learner.begin(asked.problem, asked.submission.path)
        for last in self._progress.attempts(round_.id)[-1:]:
            if last.sha256 == asked.submission.sha256 and last.at > self._asked_at:
                return self.learner.kept(round_)
        return self.learner.keep(round_, asked.submission, event.report)

    @contextmanager
    def _noting(self, *, writes: bool = False) -> Iterator[None]:
        """Go on if progress cannot be read or kept, and note why; what was asked wrongly is raised.

        Args:
            writes: Whether success shows that progress can be kept again.
        """
        try:
            yield
        except UsageError:
            raise
        except JudgeError as error:
            self.trouble = str(error)
        else:
            self.trouble = "" if writes else self.trouble
