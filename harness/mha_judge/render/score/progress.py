"""How far a run is: a live table where there is a terminal, lines where there is none."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from mha_judge.outcomes import Verdict
from mha_judge.scoring.models import Result

_SHOWN = 12


class Watcher(Protocol):
    """Is told of each result."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def __call__(self, result: Result) -> None: ...


def watcher(console: Console, total: int) -> Watcher:
    """Return what shows `total` results on a console."""
    return _Table(console, total) if console.is_terminal else _Lines(console, total)


class _Table:
    """The last results, and a bar."""

    def __init__(self, console: Console, total: int) -> None:
        self._last: deque[Result] = deque(maxlen=_SHOWN)
        self._progress = Progress(
            TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        )
        self._task = self._progress.add_task("", total=total)
        self._live = Live(self._shown(), console=console, transient=True)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def __call__(self, result: Result) -> None:
        self._last.append(result)
        self._progress.advance(self._task)
        self._live.update(self._shown())

    def _shown(self) -> Group:
        table = Table.grid(padding=(0, 2))
        for result in self._last:
            words, style = _words(result)
            table.add_row(Text(result.candidate), Text(result.problem), Text(words, style))
        return Group(table, self._progress)


class _Lines:
    """A line for each result."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._done = 0
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def __call__(self, result: Result) -> None:
        self._done += 1
        left = (time.monotonic() - self._started) / self._done * (self._total - self._done)
        self._console.print(
            Text(
                f"{self._done}/{self._total}  {result.candidate}  {result.problem}  "
                f"{_words(result)[0]}  (about {left:.0f} s left)"
            ),
            soft_wrap=True,
        )


def _words(result: Result) -> tuple[str, str]:
    if result.report is None:
        return "not graded: the judge failed", "yellow"
    good = result.report.verdict is Verdict.ACCEPTED
    return f"{result.report.verdict} {result.report.score:g}", "green" if good else "red"
