"""What is left of a mock interview: an account, and the files that an interviewer takes along."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.packet.answers import Answer
from mha_judge.packet.folder import make_folder
from mha_judge.practice.mock import MARKS, Asked, Mock, Over, State, Task
from mha_judge.render.packet import files
from mha_judge.render.score.candidates import file_name
from mha_judge.sanitising import clean_line, visible

_NOTES = "-questions"
"""How the files of the questions are called, after the packet's name."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class OfProblem(_Model):
    """What came of one problem."""

    problem: str
    title: str
    path: str
    """Of the file; empty before the problem was begun."""
    tries: int
    accepted: bool
    points: float
    """Of the best answer, after hints."""
    hints: float
    over: Over | None


class OfQuestion(_Model):
    """What came of one question."""

    problem: str
    id: str
    """Of a question with choices; empty for an open one."""
    question: str
    """Empty before it was answered, like what follows."""
    answer: str | None
    good_answer: list[str]
    right: bool | None
    mark: int | None


class Account(_Model):
    """An interview as far as it has gone."""

    began: datetime | None
    """None if it would begin only now."""
    minutes: int
    left_minutes: float
    seed: int
    track: str | None
    folder: str
    problems: list[OfProblem]
    questions: list[OfQuestion]

    @property
    def used_minutes(self) -> float:
        return self.minutes - self.left_minutes


def account(state: State, bank: Bank, language: str, began: datetime | None = None) -> Account:
    """Return what an interview has come to; questions are told once they were answered."""
    return Account(
        began=began,
        minutes=state.minutes,
        left_minutes=round(state.left_s / 60, 1),
        seed=state.seed,
        track=state.track,
        folder=state.folder,
        problems=[_of_problem(task, bank, language) for task in state.tasks],
        questions=[_of_question(asked) for asked in state.questions],
    )


def write(mock: Mock, language: str) -> list[Path]:
    """Write what an interviewer takes along, end the interview, and return the files to read.

    The packet has the best answer to each problem. The questions lie beside it, as Markdown and as
    JSON. What is there already under other names stays.

    Raises:
        UsageError: If the folder cannot be written.
        BankError: If the bank is broken.
    """
    folder = Path(mock.state.folder)
    make_folder(folder)
    if not mock.state.packet:
        mock.state.packet = _free_name(folder)
        mock.save()  # a second try writes over its own files, and over no others
    name = mock.state.packet
    answers = [_answer(task, name) for task in mock.state.tasks if _has_answer(task, mock.bank)]
    pages = files.write(answers, mock.bank, folder, language)
    told = account(mock.state, mock.bank, language, mock.began)
    notes = folder / file_name(name + _NOTES, ".md")
    try:
        notes.write_text(as_markdown(told, language), encoding="utf-8")
        notes.with_suffix(".json").write_text(told.model_dump_json(indent=2) + "\n", "utf-8")
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}); name another one with --folder"
        ) from error
    mock.save(ended=True)
    return [*pages, notes]


def as_markdown(told: Account, language: str) -> str:
    """Return the account of an interview as a page of Markdown."""
    return "\n".join(_lines(told, _WORDS[language])).strip() + "\n"


def summary(told: Account, language: str) -> list[str]:
    """Return what an interview came to, a line each."""
    words = _WORDS[language]
    lines = [
        words["after hints" if one.hints else "problem"].format(
            title=one.title, points=one.points, tries=one.tries, hints=one.hints
        )
        if one.tries
        else words["untried"].format(title=one.title)
        for one in told.problems
    ]
    graded = [one.right for one in told.questions if one.right is not None]
    marks = [one.mark for one in told.questions if one.mark is not None]
    if graded:
        lines.append(words["right"].format(right=sum(graded), of=len(graded)))
    if marks:
        given = words["and"].join(map(str, marks))
        lines.append(words["marks"].format(marks=given, most=MARKS))
    lines.append(words["time"].format(used=told.used_minutes, minutes=told.minutes))
    return lines


def _lines(told: Account, words: dict[str, str]) -> Iterator[str]:
    day = f"{told.began.astimezone():%Y-%m-%d}" if told.began else ""
    yield f"# {words['head']} {day}\n"
    yield from (f"- {line}" for line in summary(told, words["language"]))
    for number, one in enumerate(told.questions, 1):
        if one.answer is None:
            continue
        yield f"\n## {number}. {one.question}\n"
        yield f"{words['answer']}\n"
        yield from (f"    {line}" for line in visible(one.answer).splitlines() or ["—"])
        if one.right is not None:
            yield f"\n{words['was right'] if one.right else words['was wrong']}"
        if one.mark is not None:
            yield f"\n{words['mark'].format(mark=one.mark, most=MARKS)}"
        yield f"\n{words['good']}\n"
        yield from (f"- {point}" for point in one.good_answer)


def _of_problem(task: Task, bank: Bank, language: str) -> OfProblem:
    title = task.problem
    if task.problem in bank.ids:
        title = bank.problem(task.problem).title_in(language)
    return OfProblem(
        problem=task.problem,
        title=title,
        path=task.path,
        tries=task.tries,
        accepted=task.accepted,
        points=task.points,
        hints=task.hints,
        over=task.over,
    )


def _of_question(asked: Asked) -> OfQuestion:
    return OfQuestion(
        problem=asked.problem,
        id=asked.id,
        question=asked.text,
        answer=asked.answer,
        good_answer=asked.good_answer,
        right=asked.right,
        mark=asked.mark,
    )


def _has_answer(task: Task, bank: Bank) -> bool:
    return task.best is not None and task.problem in bank.ids


def _answer(task: Task, candidate: str) -> Answer:
    assert task.best is not None
    path = Path(task.path)
    return Answer(
        candidate=candidate,
        problem=task.problem,
        path=clean_line(task.path),
        submission=task.best.submission(path),
        report=task.best.report,
        graded_with=task.best.graded_with,
    )


def _free_name(folder: Path) -> str:
    """Return a name that no file of a packet in a folder has."""
    first = clean_line(folder.name) or "mock"
    names = [first, *(f"{first}-{number}" for number in range(2, 1000))]
    ends = ("", _NOTES)
    return next(
        name
        for name in names
        if not any(
            (folder / file_name(name + end, suffix)).exists()
            for end in ends
            for suffix in (".html", ".json", ".zip", ".md")
        )
    )


_WORDS = {
    "en": {
        "language": "en",
        "head": "Mock interview of",
        "problem": "{title}: {points:g} points; answers graded: {tries}",
        "after hints": "{title}: {points:g} points after hints (−{hints:g}); answers graded: "
        "{tries}",
        "untried": "{title}: nothing was handed in",
        "right": "Questions with choices: {right} of {of} right",
        "marks": "Own marks: {marks} of {most} each",
        "time": "Time: {used:.0f} of {minutes} minutes",
        "and": ", ",
        "answer": "Answered:",
        "was right": "That is right.",
        "was wrong": "That is wrong.",
        "mark": "Own mark: {mark} of {most}",
        "good": "A good answer contains:",
    },
    "zh": {
        "language": "zh",
        "head": "模拟面试",
        "problem": "{title}：{points:g} 分；评分次数：{tries}",
        "after hints": "{title}：扣除提示后 {points:g} 分（−{hints:g}）；评分次数：{tries}",
        "untried": "{title}：没有提交答案",
        "right": "选择题：{of} 题中答对 {right} 题",
        "marks": "自评：{marks}（每题满分 {most}）",
        "time": "用时：{used:.0f} 分钟，共 {minutes} 分钟",
        "and": "、",
        "answer": "回答：",
        "was right": "回答正确。",
        "was wrong": "回答错误。",
        "mark": "自评：{mark}，满分 {most}",
        "good": "好的回答应包含：",
    },
}
