"""A mock interview in the terminal: what is said, and what is typed."""

from __future__ import annotations

import contextlib
import io
import math
import select
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown

from mha_judge.errors import JudgeError, UsageError
from mha_judge.library import Judge
from mha_judge.practice.learner import Learner, now
from mha_judge.practice.mock import Asked, Mock, Task, free_folder, open_interview
from mha_judge.practice.mock_choice import Wishes
from mha_judge.render.prose import confirmed
from mha_judge.render.prose import say as _say
from mha_judge.sanitising import clean, clean_line
from mha_judge.submission import Submission

_LOOK_EVERY_S = 5.0
"""How often the clock is looked at while one thinks: a computer that slept has to notice."""
_WIDTH = 100


def opened(
    learner: Learner,
    wishes: Wishes,
    folder: Path | None,
    language: str,
    *,
    new: bool,
    not_heeded: Sequence[str],
) -> Mock:
    """Return the interview that is open, or begin one; say which.

    Args:
        learner: Whose it is.
        wishes: For one that begins.
        folder: Where its files go.
        language: `en` or `zh`.
        new: Whether another one is begun in any case.
        not_heeded: Options that were given, and that an open one does not heed.
    """
    words = _WORDS[language]
    open_one = None if new else open_interview(learner.progress)
    if open_one is None:
        mock = Mock.begin(learner, wishes, folder or free_folder(Path(), now()))
        what = words["begin" if len(mock.state.tasks) > 1 else "begin with one"]
        _say(what.format(minutes=wishes.minutes, questions=len(mock.state.questions)))
        return mock
    mock = Mock(learner, open_one)
    mock.go_on()
    if folder is not None:
        mock.move(folder)
    time = f"{mock.began.astimezone():%Y-%m-%d %H:%M}"
    _say(words["go on"].format(time=time, left=_minutes(mock)))
    if not_heeded:
        _say(words["not heeded"].format(options=", ".join(not_heeded)), "yellow")
    return mock


class _Left(Exception):
    """The learner leaves; the interview stays open."""


class Conversation:
    """What is said and typed in an interview."""

    def __init__(self, mock: Mock, judge: Judge, language: str) -> None:
        self._mock = mock
        self._judge = judge
        self._console = Console(highlight=False)
        self._language = language
        self._words = _WORDS[language]

    def hold(self) -> None:
        """Go on with the interview to its end, or until the learner leaves."""
        try:
            self._problems()
            self._questions()
            self._end()
        except (_Left, KeyboardInterrupt, EOFError, click.Abort):
            _say("")
            _say(self._words["left"].format(left=_minutes(self._mock)))

    # problems

    def _problems(self) -> None:
        while (task := self._mock.task) is not None:
            if not self._mock.left_s():
                self._time_up(task)
            elif self._mock.enter(task):
                self._work(task)
            else:
                _say(self._words["gone"].format(name=task.problem), "yellow")

    def _work(self, task: Task) -> None:
        """Let one work on a problem until it is over, or the time is."""
        self._show_task(task)
        for hint in self._mock.told(task, self._language):
            _say(hint, "bold")
        while task.over is None and self._mock.left_s():
            typed = self._typed_in_time(
                self._words["commands"].format(left=_minutes(self._mock)) + "> "
            )
            if typed is not None and self._mock.left_s():
                self._do(typed, task)

    def _do(self, typed: str, task: Task) -> None:
        """Do what a command says."""
        match typed.lower():
            case "g":
                if self._grade(task) and task.accepted:
                    _say(self._words["accepted"], "green")
            case "h":
                self._hint(task)
            case "t":
                self._mock.save()
                _say(self._words["time"].format(left=_minutes(self._mock)))
            case "s":
                self._show_task(task)
            case "f":
                self._show_markdown(self._mock.bank.fine_print(task.problem, self._language))
            case "d":
                self._done(task)
            case "q":
                raise _Left
            case _:
                _say(self._words["help"])

    def _show_task(self, task: Task) -> None:
        self._show_markdown(self._mock.bank.task(task.problem, self._language))
        minutes = self._mock.bank.problem(task.problem).minutes
        _say("")
        _say(
            self._words["file"].format(
                path=clean_line(task.path), minutes=minutes, left=_minutes(self._mock)
            ),
            "bold",
        )

    def _grade(self, task: Task, submission: Submission | None = None) -> bool:
        """Grade what is in the file now; say whether there is a verdict."""
        from mha_judge.render.report import terminal
        from mha_judge.report.models import Reveal

        try:
            submission = submission or Submission.read(Path(task.path))
            _say(self._words["grading"], "dim")
            report = self._judge.grade(submission, task.problem)
        except JudgeError as error:
            _say(clean(str(error), 4_000), "yellow")
            return False
        except KeyboardInterrupt:
            _say(self._words["cancelled"], "yellow")
            return False
        self._mock.keep(submission, report)
        terminal.show(report, self._console, Reveal.CHECKS, named=())
        kind = "points after hints" if task.hints else "points"
        _say(self._words[kind].format(points=task.points, hints=task.hints), "bold")
        return True

    def _hint(self, task: Task) -> None:
        """Offer the next hint for its price."""
        if task.accepted:
            _say(self._words["accepted"])
            return
        if not task.tries:
            _say(self._words["try first"])
            return
        try:
            offer = self._mock.offer(task, self._language)
        except UsageError as error:
            _say(str(error), "yellow")
            return
        what = self._words[offer.tells]
        _say(self._words["hint"].format(what=what, price=offer.price, spent=task.hints))
        if self._confirmed("take"):
            _say(self._mock.take(task, offer), "bold")

    def _done(self, task: Task) -> None:
        from mha_judge.practice.mock import Over

        if not self._hand_in(task):
            return
        if task.points or self._confirmed("no points"):
            self._mock.leave(task, Over.DONE)

    def _time_up(self, task: Task) -> None:
        from mha_judge.practice.mock import Over

        _say(self._words["time up"], "bold yellow")
        is_there = task.problem in self._mock.bank.ids
        if task.path and is_there and not self._hand_in(task):
            raise _Left
        for left in self._mock.state.tasks:
            if left.over is None:
                self._mock.leave(left, Over.TIME)

    def _hand_in(self, task: Task) -> bool:
        """Grade what is new in the file; say whether one may go on."""
        try:
            found = self._mock.news(task)
        except JudgeError as error:
            _say(clean(str(error), 4_000), "yellow")
        else:
            if found is None or self._grade(task, found):
                return True
        return self._confirmed("ungraded")

    # questions

    def _questions(self) -> None:
        questions = self._mock.state.questions
        while (asked := self._mock.question) is not None:
            number = questions.index(asked) + 1
            _say("")
            _say(self._words["asked"].format(number=number, of=len(questions)), "dim")
            if not (self._choices(asked) if asked.id else self._open(asked)):
                self._mock.drop(asked)
                _say(self._words["gone"].format(name=asked.id or asked.problem), "yellow")

    def _choices(self, asked: Asked) -> bool:
        """Ask a question with choices; say whether there is one."""
        from mha_judge.bank.questions import WrongChoice

        question = self._mock.with_choices(asked)
        if question is None:
            return False
        language = self._language
        _say(question.text_in(language), "bold")
        for letter, choice in question.choices.items():
            _say(f"  {letter}) {choice.text_in(language)}")
        while True:
            typed = self._typed("> ")
            if typed.lower() == "q":
                raise _Left
            chosen = question.chosen(typed)
            if chosen is not None:
                break
            _say(self._words["letter"].format(letters=" ".join(question.choices)))
        if self._mock.choose(asked, question, chosen, language):
            _say(self._words["right"], "green")
        else:
            why = chosen.why_in(language) if isinstance(chosen, WrongChoice) else ""
            _say(self._words["wrong"].format(why=why))
            for letter, choice in question.choices.items():
                if choice == question.right:
                    text = choice.text_in(language)
                    _say(self._words["right is"].format(letter=letter, text=text))
        _say(question.explanation_in(language), "dim")
        return True

    def _open(self, asked: Asked) -> bool:
        """Ask an open question, and for a mark; say whether there is one."""
        from mha_judge.practice.mock import MARKS

        question = self._mock.open_one(asked, self._language)
        if question is None:
            return False
        _say(question.question, "bold")
        if asked.answer is None:
            _say(self._words["type"], "dim")
            self._mock.answer(asked, question, _typed_lines())
        else:
            _say(clean(asked.answer, 4_000))
        _say(self._words["good"])
        self._show_markdown("\n".join(f"- {point}" for point in question.good_answer))
        prompt = self._words["mark"].format(most=MARKS)
        while not (typed := self._typed(prompt)).isdecimal() or int(typed) > MARKS:
            pass  # the prompt says what is wanted
        self._mock.mark(asked, int(typed))
        return True

    # the end

    def _end(self) -> None:
        from mha_judge.render.practice.mock_files import account, summary, write

        paths = write(self._mock, self._language)
        mock = self._mock
        told = account(mock.state, mock.bank, self._language, mock.began)
        _say("")
        _say(self._words["end"], "bold")
        for line in summary(told, self._language):
            _say(f"  {line}")
        for path in paths:
            _say(self._words["wrote"].format(path=clean_line(str(path))))

    # what is said and typed

    def _show_markdown(self, text: str) -> None:
        self._console.print(Markdown(text), width=min(self._console.width, _WIDTH))

    def _confirmed(self, question: str) -> bool:
        return confirmed(self._words[question], self._language)

    def _typed(self, prompt: str) -> str:
        return _line(prompt, lambda: 1.0) or ""

    def _typed_in_time(self, prompt: str) -> str | None:
        """Return what is typed; None if the time is up before."""
        return _line(prompt, self._mock.left_s)


def _minutes(mock: Mock) -> int:
    """Return the minutes that are left, a minute that has begun among them."""
    return math.ceil(mock.left_s() / 60)


def _line(prompt: str, left_s: Callable[[], float]) -> str | None:
    """Return the line that is typed; None once nothing is left of the time."""
    click.echo(prompt, nl=False)
    while not _is_typed(min(_LOOK_EVERY_S, left := left_s())):
        if not left:
            click.echo()
            return None
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def _is_typed(within_s: float) -> bool:
    try:
        return bool(select.select([sys.stdin], [], [], within_s)[0])
    except (OSError, ValueError, io.UnsupportedOperation):  # nothing that one can wait for
        return True


def _typed_lines() -> str:
    """Return what is typed up to an empty line."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - `input` then edits lines of any length
    lines = []
    while line := input().strip():
        lines.append(line)
    return "\n".join(lines)


_WORDS = {
    "en": {
        "begin": "{minutes} minutes: a warm-up, a main problem, {questions} questions. "
        "The clock runs.",
        "begin with one": "{minutes} minutes: one problem, {questions} questions. The clock runs.",
        "go on": "The interview that began on {time} goes on; minutes left: {left}.",
        "not heeded": "{options}: only a new interview heeds this; --new begins one.",
        "commands": "g grade · h hint · t time · s task · d done · q leave, then Enter · "
        "{left} min ",
        "help": "g grades your file as it is now, h offers a hint, t tells the time that is left, "
        "s shows the task again, f its fine print, d is for done with this problem, q leaves.",
        "file": "Write your answer in {path}. It should take {minutes} minutes; left in all: "
        "{left}.",
        "grading": "Grading …",
        "cancelled": "The grade was cancelled.",
        "points": "Best so far: {points:g} points.",
        "points after hints": "Best so far: {points:g} points after hints (−{hints:g}).",
        "accepted": "This is solved; d goes on.",
        "try first": "Try it first: change the starter and grade it (g), then I can give "
        "you a hint.",
        "hint": "I can give you {what}. It costs {price:g} points; hints have cost {spent:g} so "
        "far.",
        "asked": "Question {number} of {of}",
        "question": "a question to ask yourself",
        "where": "a hint where to look",
        "change": "a hint what to change",
        "take": "Do you want it?",
        "ungraded": "What is in the file is not graded. Go on all the same?",
        "no points": "There are no points for it yet. Go on all the same?",
        "time": "Minutes left: {left}.",
        "time up": "Time is up. On to the questions; they are not timed.",
        "gone": "{name} is not in the bank any more; this part is left out.",
        "letter": "Type one of the letters {letters}, or q to leave.",
        "right": "Right.",
        "wrong": "No. {why}",
        "right is": "Right is {letter}) {text}",
        "type": "Type your answer; an empty line ends it. Ctrl-C leaves.",
        "good": "A good answer contains:",
        "mark": "Your own mark, 0 to {most}: ",
        "end": "The interview is over.",
        "wrote": "wrote {path}",
        "left": "Everything is kept, and the clock goes on; minutes left: {left}. `mha-judge mock` "
        "goes on with the interview.",
    },
    "zh": {
        "begin": "{minutes} 分钟：一道热身题、一道主要题目、{questions} 个问题。现在开始计时。",
        "begin with one": "{minutes} 分钟：一道题目、{questions} 个问题。现在开始计时。",
        "go on": "继续 {time} 开始的面试；剩余 {left} 分钟。",
        "not heeded": "{options}：只对新的面试有效；--new 开始新的面试。",
        "commands": "g 评分 · h 提示 · t 时间 · s 题目 · d 完成 · q 离开，再按 Enter · "
        "{left} 分钟 ",
        "help": "g 对文件现在的内容评分，h 给出一条提示，t 显示剩余时间，s 再次显示题目，"
        "f 显示细则，d 完成这道题，q 离开。",
        "file": "请把答案写在 {path} 里。这道题大约需要 {minutes} 分钟；总共还剩 {left} 分钟。",
        "grading": "正在评分……",
        "cancelled": "评分已取消。",
        "points": "目前最好成绩：{points:g} 分。",
        "points after hints": "目前最好成绩：{points:g} 分（提示已扣 {hints:g} 分）。",
        "accepted": "这道题已经解出；按 d 继续。",
        "try first": "请先试一试：改动起始文件并评分（g）之后才有提示。",
        "hint": "我可以给您{what}。价格 {price:g} 分；此前的提示共用去 {spent:g} 分。",
        "asked": "第 {number} 个问题（共 {of} 个）",
        "question": "一个值得自问的问题",
        "where": "一条关于该看哪里的提示",
        "change": "一条关于该改什么的提示",
        "take": "要看吗？",
        "ungraded": "文件里的内容没有评分。仍要继续吗？",
        "no points": "这道题还没有得分。仍要继续吗？",
        "time": "剩余 {left} 分钟。",
        "time up": "时间到。接下来是提问，不再计时。",
        "gone": "{name} 已不在题库中；这一部分跳过。",
        "letter": "请输入字母 {letters} 之一，或输入 q 离开。",
        "right": "正确。",
        "wrong": "不对。{why}",
        "right is": "正确的是 {letter}) {text}",
        "type": "请输入您的回答；空行表示结束，Ctrl-C 离开。",
        "good": "好的回答应包含：",
        "mark": "您给自己打几分（0 到 {most}）：",
        "end": "面试结束。",
        "wrote": "已写入 {path}",
        "left": "一切都已保存，计时仍在继续；剩余 {left} 分钟。"
        "再次运行 `mha-judge mock` 即可继续面试。",
    },
}
