"""A mock interview: a clock, two problems, questions; each step is kept before the next one.

The state lies in the progress file, so that an interview goes on after whatever ended the program,
and its clock has gone on meanwhile. Nothing here knows of a terminal.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mha_judge.bank import Bank
from mha_judge.bank.questions import Choice, Question
from mha_judge.errors import UsageError
from mha_judge.packet.answers import Environment
from mha_judge.packet.models import Question as OpenQuestion
from mha_judge.packet.questions import general
from mha_judge.practice.learner import Kept, Learner, Offer, now
from mha_judge.practice.mock_choice import Chosen, Wishes, choose
from mha_judge.practice.order import weak
from mha_judge.practice.progress import Interview, Progress, Round
from mha_judge.practice.standing import standings
from mha_judge.report.models import Report
from mha_judge.scoring.keys import Keys
from mha_judge.submission import Submission

MARKS = 5
"""What one gives oneself for an open answer goes from 0 to this."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Over(StrEnum):
    """Why a problem is not worked on any more."""

    DONE = "done"
    TIME = "time is up"
    GONE = "not in the bank any more"


class Graded(_Model):
    """An answer, and what came of it."""

    source: str
    report: Report
    graded_with: Environment

    def submission(self, path: Path) -> Submission:
        """Return the answer as it was handed in from a file."""
        return Submission(path, self.source, self.report.submission.sha256)


class Task(_Model):
    """A problem of the interview."""

    problem: str
    path: str = ""
    """Of the file that is worked on, absolute; empty before the problem was begun."""
    tries: int = 0
    last_sha256: str = ""
    """Of what was graded last."""
    accepted: bool = False
    points: float = 0.0
    """Of the best answer, less what hints had cost until then."""
    hints: float = 0.0
    """What hints have cost, in points."""
    best: Graded | None = None
    over: Over | None = None


class Asked(_Model):
    """A question, and what was answered."""

    problem: str
    id: str = ""
    """Of a question with choices; empty for an open one."""
    number: int = 0
    """Of an open one: its place among those of the problem, from 0."""
    text: str = ""
    """The question, once it was answered, as all that follows."""
    answer: str | None = None
    good_answer: list[str] = []
    right: bool | None = None
    """Of a question with choices."""
    mark: Annotated[int, Field(ge=0, le=MARKS)] | None = None
    """Of an open one, by oneself."""
    gone: bool = False
    """Whether it has left the bank."""

    @property
    def is_over(self) -> bool:
        return self.gone or self.right is not None or self.mark is not None


class State(_Model):
    """All that is kept of an interview, but for when it began."""

    version: Literal[1] = 1
    revision: int = 0
    """Counts what was kept: who has another one is not the only one at it."""
    minutes: int
    left_s: float
    """The least that was ever left: a clock that is set back gives nothing."""
    seed: int
    track: str | None
    folder: str
    """Absolute."""
    tasks: list[Task]
    questions: list[Asked]
    unkept: Graded | None = None
    """A report that may not be among the attempts yet."""
    packet: str = ""
    """Whose name the packet's files have; empty before they are written."""


class Mock:
    """An interview that is going on."""

    def __init__(
        self, learner: Learner, interview: Interview, clock: Callable[[], datetime] = now
    ) -> None:
        """Read an interview as it was kept; `go_on` before anything of it is changed.

        Raises:
            UsageError: If another version of mha-judge has kept it.
        """
        try:
            self.state = State.model_validate(interview.state)
        except ValidationError as error:
            raise UsageError(
                f"the interview of {interview.began.astimezone():%Y-%m-%d %H:%M} is of another "
                "version; `mha-judge mock --new` begins another one"
            ) from error
        self.began = interview.began
        self._id = interview.id
        self._learner = learner
        self._clock = clock

    @classmethod
    def begin(
        cls, learner: Learner, wishes: Wishes, folder: Path, clock: Callable[[], datetime] = now
    ) -> Mock:
        """Begin an interview; one that is open ends.

        Raises:
            UsageError: If nothing fits the wishes, or the folder cannot be written.
        """
        time = clock()
        state = plan(learner, wishes, folder, time)
        _require_writable(folder)
        open_one = open_interview(learner.progress)
        if open_one is not None:
            learner.progress.put_interview(open_one.id, open_one.state, time)
        content = state.model_dump(mode="json")
        number = learner.progress.add_interview(content, time)
        return cls(learner, Interview(number, time, content), clock)

    # the clock, and what is kept

    def left_s(self) -> float:
        """Return the seconds that are left, by the wall clock; never more than before."""
        gone_s = (self._clock() - self.began).total_seconds()
        left_s = min(self.state.left_s, self.state.minutes * 60 - gone_s)
        self.state.left_s = max(0.0, left_s)
        return self.state.left_s

    def save(self, *, ended: bool = False) -> None:
        """Keep the state.

        Raises:
            UsageError: If somebody else went on with the interview, or ended it.
        """
        self.left_s()
        stored = self._progress.interviews("WHERE id = ?", self._id)
        if not stored or stored[0].ended or stored[0].state["revision"] != self.state.revision:
            raise UsageError(
                "the interview went on, or was ended, in another terminal; go on there, or close "
                "that one and run `mha-judge mock` again"
            )
        self.state.revision += 1
        content = self.state.model_dump(mode="json")
        self._progress.put_interview(self._id, content, self._clock() if ended else None)

    def go_on(self) -> None:
        """Make good what was missed if the program ended between two steps."""
        if self.state.unkept is not None:
            self._take_over(self.state.unkept)
        for task in self.state.tasks:
            task.hints = self._spent(task)

    def move(self, folder: Path) -> None:
        """Let what is yet to be written lie in another folder.

        Raises:
            UsageError: If it cannot be written.
        """
        _require_writable(folder)
        self.state.folder = str(folder.resolve())
        self.save()

    # problems

    @property
    def task(self) -> Task | None:
        """The problem that it is the turn of."""
        return next((task for task in self.state.tasks if task.over is None), None)

    def enter(self, task: Task) -> bool:
        """Begin a problem, or go on with it; say whether it is in the bank still.

        Raises:
            UsageError: If its starter cannot be written.
        """
        if task.problem not in self.bank.ids:
            self.leave(task, Over.GONE)
            return False
        if not task.path:
            folder = Path(self.state.folder)
            begun = self._progress.open_round(task.problem)
            # One that lies here was begun, and the program ended before it could say so.
            is_ours = begun is not None and Path(begun.path).parent == folder
            path = Path(begun.path) if begun is not None and is_ours else None
            if path is None or not path.exists():
                path = self._learner.begin_afresh(task.problem, folder, anew=True)
            task.path = str(path.resolve())
            self.save()
        return True

    def leave(self, task: Task, why: Over) -> None:
        """Have done with a problem."""
        task.over = why
        self.save()

    def news(self, task: Task) -> Submission | None:
        """Return what its file holds, if that is neither the starter nor what was graded last.

        Raises:
            SubmissionUnreadable: If it cannot be read.
        """
        found = Submission.read(Path(task.path))
        is_old = found.sha256 == task.last_sha256
        return None if is_old or found.source == self.bank.starter(task.problem) else found

    def keep(self, submission: Submission, report: Report) -> Kept | None:
        """Keep an answer and its report, here and among the learner's attempts."""
        graded_with = Environment.current(report.problem, Keys(self.bank, ""))
        graded = Graded(source=submission.source, report=report, graded_with=graded_with)
        self.state.unkept = graded
        self.save()
        return self._take_over(graded)

    def offer(self, task: Task, language: str) -> Offer:
        """Return the next hint, not yet told.

        Raises:
            UsageError: If there is none.
        """
        return self._learner.offer(task.problem, language)

    def take(self, task: Task, offer: Offer) -> str:
        """Pay for a hint, and return what it tells."""
        text = self._learner.take(offer)
        task.hints = self._spent(task)
        self.save()
        return text

    def told(self, task: Task, language: str) -> list[str]:
        """Return the hints that were paid for."""
        return [text for _, text in self._learner.told(task.problem, language)]

    # questions

    @property
    def question(self) -> Asked | None:
        """The question that it is the turn of."""
        return next((asked for asked in self.state.questions if not asked.is_over), None)

    def with_choices(self, asked: Asked) -> Question | None:
        """Return the question that an entry with an id stands for; None if it has left the bank."""
        known = self.bank.questions(asked.problem) if asked.problem in self.bank.ids else {}
        question = known.get(asked.id)
        return question if question is not None and question.choices else None

    def open_one(self, asked: Asked, language: str) -> OpenQuestion | None:
        """Return the question that an entry without an id stands for; None if it has left."""
        if asked.answer is not None:  # it was answered, and waits for its mark
            return OpenQuestion(question=asked.text, good_answer=asked.good_answer)
        found = general(asked.problem, self.bank, language)
        found = found or general(asked.problem, self.bank, "en")
        return found[asked.number] if asked.number < len(found) else None

    def drop(self, asked: Asked) -> None:
        """Leave out a question that has left the bank."""
        asked.gone = True
        self.save()

    def choose(self, asked: Asked, question: Question, choice: Choice, language: str) -> bool:
        """Keep which choice was taken; say whether it is right."""
        asked.text = question.text_in(language)
        asked.answer = choice.text_in(language)
        asked.good_answer = [question.right.text_in(language)] if question.right else []
        asked.right = choice == question.right
        self.save()
        return self._learner.choose(asked.problem, question, choice)

    def answer(self, asked: Asked, question: OpenQuestion, text: str) -> None:
        """Keep what was answered to an open question."""
        asked.text, asked.good_answer = question.question, question.good_answer
        asked.answer = text
        self.save()

    def mark(self, asked: Asked, mark: int) -> None:
        """Keep what one gives oneself for an open answer."""
        asked.mark = mark
        self.save()

    # the rest

    @property
    def bank(self) -> Bank:
        return self._learner.bank

    @property
    def _progress(self) -> Progress:
        return self._learner.progress

    def _take_over(self, graded: Graded) -> Kept | None:
        """Keep a report among the attempts, unless it is there, and in the state; once."""
        report = graded.report
        task = next(one for one in self.state.tasks if one.problem == report.problem)
        if task.problem not in self.bank.ids:
            self.state.unkept = None
            return None
        round_ = self._round(task)
        same = (report.seed, report.submission.sha256)
        attempts = self._progress.attempts(round_.id)
        kept = None
        attempt = next((one for one in attempts if (one.seed, one.sha256) == same), None)
        if attempt is None:
            kept = self._learner.keep(round_, graded.submission(Path(task.path)), report)
            if kept is None:
                self.state.unkept = None
                self.save()
                return None
            attempt = kept.attempt
        task.tries += 1
        task.last_sha256 = attempt.sha256
        task.accepted = task.accepted or attempt.accepted
        if task.best is None or attempt.kept >= task.points:
            task.best, task.points = graded, attempt.kept
        self.state.unkept = None
        self.save()
        return kept

    def _round(self, task: Task) -> Round:
        """Return the round of a problem, which somebody may have reset meanwhile."""
        path = Path(task.path)
        return self._learner.round_of(path) or self._learner.begin(task.problem, path)

    def _spent(self, task: Task) -> float:
        round_ = self._learner.round_of(Path(task.path)) if task.path else None
        return self._progress.spent(round_)


def open_interview(progress: Progress) -> Interview | None:
    """Return the interview that has not ended."""
    found = progress.interviews("WHERE ended IS NULL ORDER BY id DESC LIMIT 1")
    return found[0] if found else None


def plan(learner: Learner, wishes: Wishes, folder: Path, time: datetime) -> State:
    """Return the state of an interview that would begin now.

    Raises:
        UsageError: If nothing fits the wishes.
    """
    progress = learner.progress
    chosen: Chosen = choose(
        learner.bank, standings(progress), weak(learner.bank, progress), wishes, time
    )
    return State(
        minutes=wishes.minutes,
        left_s=wishes.minutes * 60.0,
        seed=wishes.seed,
        track=wishes.track,
        folder=str(folder.resolve()),
        tasks=[Task(problem=problem) for problem in chosen.problems],
        questions=[
            Asked(problem=one.problem, id=one.id, number=one.number) for one in chosen.questions
        ],
    )


def free_folder(parent: Path, time: datetime) -> Path:
    """Return a folder named after the day that is not there yet."""
    name = f"mock-{time.astimezone():%Y-%m-%d}"
    names = [name, *(f"{name}-{number}" for number in range(2, 1000))]
    return next(folder for folder in map(parent.joinpath, names) if not folder.exists())


def _require_writable(folder: Path) -> None:
    from mha_judge.packet.folder import make_folder

    make_folder(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{folder} cannot be written; name another one with --folder")
