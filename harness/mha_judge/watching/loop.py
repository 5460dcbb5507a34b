"""The loop of `watch`: a save or a key, a grade, the screen."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError, SandboxBroken
from mha_judge.gpu import GpuAccess
from mha_judge.judge import grade
from mha_judge.render.report import terminal
from mha_judge.report.models import Report, Reveal
from mha_judge.report.translation import translated
from mha_judge.sandbox import Channel
from mha_judge.sanitising import clean_line
from mha_judge.submission import Submission
from mha_judge.watching.changes import Changes, changes
from mha_judge.watching.files import Watched
from mha_judge.watching.keys import pressed, single_keys

if TYPE_CHECKING:
    from mha_judge.practice.learner import Kept

_LEVELS = [Reveal.CHECKS, Reveal.HINTS, Reveal.FULL]
_LOOK_EVERY_S = 0.1
_MOST_TITLES = 5


class Watching:
    """Grades files as they are saved, with one warm supervisor."""

    def __init__(
        self,
        watched: Watched,
        bank: Bank,
        open_sandbox: Callable[[], Channel],
        console: Console,
        *,
        gpus: GpuAccess | None = None,
        problem_of: Callable[[Submission], str],
        reveal: Reveal = Reveal.CHECKS,
        every_check: bool = False,
        language: str = "en",
        keep: Callable[[Submission, Report], Kept | None] | None = None,
    ) -> None:
        """Take what is watched, where problems lie, and how to start a supervisor.

        `problem_of` returns the id of the problem that a file answers. `keep` is told every answer
        and its report, before it is shown; what it says stands above the report.
        """
        self._keep = keep
        self._language = language
        self._gpus = gpus
        self._watched = watched
        self._bank = bank
        self._open = open_sandbox
        self._console = console
        self._problem_of = problem_of
        self._every_check = every_check
        self._level = _LEVELS.index(reveal)
        self._channel = open_sandbox()
        self._last: dict[Path, Report] = {}
        self._told: dict[Path, frozenset[str] | None] = {}
        self._attempts: dict[Path, int] = {}
        self._shown: Path | None = None

    def run(self) -> None:
        """Grade until `q` is pressed or the user interrupts.

        Raises:
            JudgeError: The sandbox cannot be had any more.
        """
        self._watched.start()
        try:
            with single_keys():
                for path in self._watched.files():
                    self._grade(path)
                self._say_keys()
                while self._step():
                    pass
        finally:
            self._watched.stop()
            self._channel.close()
            if self._gpus is not None:
                self._gpus.close()

    def _step(self) -> bool:
        """Do what a key or a save asks for; return whether to go on."""
        key = pressed(_LOOK_EVERY_S)
        if not key:
            time.sleep(0 if self._console.is_terminal else _LOOK_EVERY_S)
        if key == "q":
            return False
        if key == "h":
            self._reveal_more()
        if key == "r" and self._shown is not None:
            self._grade(self._shown)
            self._say_keys()
        changed = self._watched.changed()
        for path in changed:
            self._grade(path)
        if changed:
            self._say_keys()
        return True

    def _reveal_more(self) -> None:
        shown = self._shown
        report = None if shown is None else self._last.get(shown)
        if shown is not None and report is not None and self._told.get(shown) is not None:
            told = f"`mha-judge hint {report.problem}` helps, for a price."
            self._console.print(Text(told, style="dim"))
            return
        if self._level + 1 == len(_LEVELS):
            self._console.print(Text("There is no further hint.", style="dim"))
            return
        self._level += 1
        if report is not None:
            self._show_report(report)
        self._say_keys()

    def _grade(self, path: Path) -> None:
        self._shown = path
        try:
            submission = Submission.read(path)
            report = self._graded(submission, self._problem_of(submission))
            if self._console.is_terminal:
                self._console.clear()
            kept = None if self._keep is None else self._keep(submission, report)
            self._told[path] = None if kept is None else kept.told
        except JudgeError as error:
            if isinstance(error, SandboxBroken):
                raise
            told = str(error)
            if not path.exists():
                told = f"{path} is gone; it is graded when it is back."
            self._console.print(Text(f"\n{clean_line(told, 2_000)}", style="yellow"))
            return
        self._attempts[path] = self._attempts.get(path, 0) + 1
        before = self._last.get(path)
        self._last[path] = report
        self._show(path, report, changes(before, report))

    def _graded(self, submission: Submission, problem_id: str) -> Report:
        """Grade, with a fresh supervisor if the one there has broken."""
        problem = self._bank.problem(problem_id)
        try:
            return grade(submission, self._bank, problem, self._channel, gpus=self._gpus)
        except SandboxBroken:
            with closing(self._channel):
                self._channel = self._open()
            return grade(submission, self._bank, problem, self._channel, gpus=self._gpus)

    def _show(self, path: Path, report: Report, changes: Changes) -> None:
        told = self._told.get(path)
        self._show_report(report, named=told)
        self._say_changes(changes.gained, "▲ now passes", "green")
        self._say_changes(changes.lost, "▼ no longer passes", "red")
        attempt = self._attempts[path]
        took = report.timings_s.get("total", 0.0)
        self._console.print(
            Text(f"{clean_line(path.name)} · attempt {attempt} · {took:.2f} s", style="bold")
        )

    def _say_changes(self, titles: Sequence[str], what: str, style: str) -> None:
        """Say which checks changed; of many the first, so that the report stays on the screen."""
        for title in titles[:_MOST_TITLES]:
            self._console.print(Text(f"{what}: {title}", style=style))
        if len(titles) > _MOST_TITLES:
            self._console.print(Text(f"{what}: {len(titles) - _MOST_TITLES} more", style=style))

    def _show_report(self, report: Report, named: Collection[str] | None = None) -> None:
        language = self._language
        told = translated(report, self._bank, language)
        terminal.show(
            told, self._console, _LEVELS[self._level],
            every_check=self._every_check, named=named, language=language,
        )  # fmt: skip

    def _say_keys(self) -> None:
        self._console.print(Text("save to grade · r again · h hint · q quit", style="dim"))
