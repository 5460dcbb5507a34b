"""A mock interview on the page: whose turn it is, and what is shown of it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mha_judge.app.grading import Graded
from mha_judge.app.session import Session
from mha_judge.bank.questions import WrongChoice
from mha_judge.errors import JudgeError, UsageError
from mha_judge.practice.learner import Offer
from mha_judge.practice.mock import Asked, Mock, Over, Task, free_folder, open_interview
from mha_judge.practice.mock_choice import Wishes
from mha_judge.render.practice.mock_files import account, summary, write

_GRACE_S = 3.0
"""What a page has to send what was typed when the time is up."""


@dataclass(frozen=True)
class Open:
    """An interview that was begun and has not ended."""

    left_s: float


def open_one(session: Session) -> Open | None:
    """Return the interview that could be gone on with."""
    found = open_interview(session.learner.progress)
    if found is None:
        return None
    mock = Mock(session.learner, found, session.now)
    return Open(mock.left_s())


class Interview:
    """An interview that goes on at a desk."""

    def __init__(self, session: Session, mock: Mock) -> None:
        self._session = session
        self._mock = mock
        self._told: dict[str, Any] | None = None
        """What was said to the last choice; the next question waits."""
        self._ended: dict[str, Any] | None = None
        self._time_up_at: datetime | None = None
        self._leaves: Over | None = None
        """Why the problem is left once what is in its file is graded."""
        self.go_on()

    @classmethod
    def begin(cls, session: Session, minutes: int, track: str | None) -> Interview:
        """Begin one; the one that is open ends.

        Raises:
            UsageError: If nothing fits, or its folder cannot be written.
        """
        wishes = Wishes(minutes, track, secrets.randbelow(2**32))
        folder = free_folder(session.folder, session.now())
        return cls(session, Mock.begin(session.learner, wishes, folder, session.now))

    @classmethod
    def resume(cls, session: Session) -> Interview:
        """Go on with the one that is open.

        Raises:
            UsageError: If there is none.
        """
        found = open_interview(session.learner.progress)
        if found is None:
            raise UsageError(session.words["no interview"])
        mock = Mock(session.learner, found, session.now)
        mock.go_on()
        return cls(session, mock)

    @property
    def has_ended(self) -> bool:
        return self._ended is not None

    @property
    def problem(self) -> str | None:
        """The problem that is worked at; None once questions are asked."""
        return self._mock.task.problem if self._mock.task is not None else None

    @property
    def _asked(self) -> Asked | None:
        """The question that is asked now: none before the problems are over."""
        return self._mock.question if self._mock.task is None else None

    def go_on(self) -> None:
        """Go to what comes next: a problem, a question, or the end.

        Raises:
            JudgeError: If its files cannot be written, or it goes on in another terminal.
        """
        self._told = None
        mock = self._mock
        while (task := mock.task) is not None:
            if not mock.left_s():
                return  # `tick` leaves it
            if mock.enter(task):
                self._session.open(task.problem)
                return
        while (asked := mock.question) is not None:
            if mock.with_choices(asked) if asked.id else mock.open_one(asked, self._language):
                return
            mock.drop(asked)
        paths = write(mock, self._language)
        told = account(mock.state, mock.bank, self._language, mock.began)
        self._ended = {
            "lines": summary(told, self._language),
            "paths": [str(path) for path in paths],
        }

    # problems

    def graded(self, event: Graded) -> None:
        """Keep a report that was asked for in it.

        Raises:
            UsageError: If it goes on in another terminal.
        """
        task = self._mock.task
        if task is None or task.problem != event.asked.problem:
            return
        self._mock.keep(event.asked.submission, event.report)
        if self._leaves is not None:
            self._leave(task, self._leaves)

    def failed(self) -> None:
        """Note that there was no verdict: the problem is not left for that."""
        if self._leaves is Over.TIME and (task := self._mock.task) is not None:
            self._leave(task, Over.TIME)
        self._leaves = None

    def take(self, offer: Offer) -> None:
        """Pay for a hint."""
        task = self._mock.task
        if task is not None:
            self._mock.take(task, offer)

    def hand_in(self) -> None:
        """Have done with a problem, once what is in its file is graded.

        Raises:
            JudgeError: If it cannot be read.
        """
        if (task := self._mock.task) is not None:
            self._grade_and_leave(task, Over.DONE)

    def tick(self) -> bool:
        """Look at the clock; say whether the time is up just now.

        Raises:
            JudgeError: As of `go_on`.
        """
        task = self._mock.task
        if task is None or self._mock.left_s() or self._session.is_grading:
            return False
        if self._time_up_at is None:
            self._time_up_at = self._session.now()
            return True
        waited_s = (self._session.now() - self._time_up_at).total_seconds()
        if waited_s >= _GRACE_S and self._leaves is None:
            self._grade_and_leave(task, Over.TIME)
            return True
        return False

    def _grade_and_leave(self, task: Task, why: Over) -> None:
        news = None
        try:
            news = self._mock.news(task) if task.path else None
        except JudgeError:  # an empty file, perhaps: there is nothing to grade
            if why is not Over.TIME:
                raise
        if news is None:
            self._leave(task, why)
            return
        self._leaves = why
        self._session.open(task.problem)
        self._session.grade()

    def _leave(self, task: Task, why: Over) -> None:
        self._leaves = None
        left = [task] if why is not Over.TIME else self._mock.state.tasks
        for one in left:
            if one.over is None:
                self._mock.leave(one, why)
        self.go_on()

    # questions

    def choose(self, letter: str) -> None:
        """Answer a question with choices.

        Raises:
            UsageError: If there is no such choice, or no such question now.
        """
        asked = self._asked
        question = self._mock.with_choices(asked) if asked is not None and asked.id else None
        choice = question.choices.get(letter) if question is not None else None
        if asked is None or question is None or choice is None or self._told is not None:
            raise UsageError(self._session.words["no such choice"])
        right = self._mock.choose(asked, question, choice, self._language)
        why = choice.why_in(self._language) if isinstance(choice, WrongChoice) else ""
        self._told = {
            "question": question.text_in(self._language).strip(),
            "right": right,
            "why": why,
            "told": question.told(self._language),
        }

    def answer(self, text: str) -> None:
        """Answer an open question.

        Raises:
            UsageError: If none is asked.
        """
        asked = self._asked
        question = self._mock.open_one(asked, self._language) if asked and not asked.id else None
        if asked is None or question is None or asked.answer is not None:
            raise UsageError(self._session.words["no such choice"])
        self._mock.answer(asked, question, text)

    def mark(self, mark: int) -> None:
        """Give oneself a mark for an open answer.

        Raises:
            UsageError: If none waits for one.
        """
        asked = self._asked
        if asked is None or asked.id or asked.answer is None:
            raise UsageError(self._session.words["no such choice"])
        self._mock.mark(asked, mark)
        self.go_on()

    # what is shown

    @property
    def _language(self) -> str:
        return self._session.language

    @property
    def told(self) -> dict[str, Any]:
        """How the interview stands, for the page."""
        mock = self._mock
        task = mock.task
        return {
            "left_s": mock.left_s(),
            "task": None
            if task is None
            else {
                "number": mock.state.tasks.index(task) + 1,
                "of": len(mock.state.tasks),
                "tries": task.tries,
                "points": task.points,
                "file": Path(task.path).name,
            },
            "said": self._told,
            "question": self._question() if task is None and self._told is None else None,
            "ended": self._ended,
        }

    def _question(self) -> dict[str, Any] | None:
        asked = self._mock.question
        if asked is None:
            return None
        questions = self._mock.state.questions
        shown: dict[str, Any] = {"number": questions.index(asked) + 1, "of": len(questions)}
        if asked.id:
            question = self._mock.with_choices(asked)
            if question is None:
                return None
            return {
                **shown,
                "text": question.text_in(self._language).strip(),
                "choices": [
                    (letter, choice.text_in(self._language))
                    for letter, choice in question.choices.items()
                ],
            }
        open_ = self._mock.open_one(asked, self._language)
        if open_ is None:
            return None
        good = open_.good_answer if asked.answer is not None else []
        return {**shown, "text": open_.question, "answer": asked.answer, "good": good}
