"""Many grades at once: every process has a judge and a sandbox of its own."""

from __future__ import annotations

import atexit
import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.report.models import Report
from mha_judge.sandbox import Channel, open_channel
from mha_judge.submission import Submission


@dataclass(frozen=True)
class Task:
    """One source to be graded under one seed."""

    problem: str
    kind: str
    name: str
    source: str
    seed: int


_here: dict[str, tuple[Bank, Channel]] = {}
"""What this process grades with, once it has been asked."""


class Graders:
    """A pool of processes that grade."""

    def __init__(self, bank: Bank, backend: str, processes: int) -> None:
        self._bank = bank
        self._pool = ProcessPoolExecutor(
            processes,
            multiprocessing.get_context("spawn"),  # a fork of a process with torch may hang
            initializer=_open,
            initargs=(str(bank.root), backend),
        )

    def reports(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Report]]:
        """Yield each task with its report, in order.

        Raises:
            JudgeError: No verdict could be reached.
        """
        listed = list(tasks)
        yield from zip(listed, self._pool.map(_grade, listed, chunksize=4), strict=True)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _open(root: str, backend: str) -> None:
    channel = open_channel(backend)
    _here["here"] = (Bank.at(Path(root)), channel)
    atexit.register(channel.close)


def _grade(task: Task) -> Report:
    bank, channel = _here["here"]
    submission = Submission.of(task.source, f"{task.name}.py")
    return grade(submission, bank, bank.problem(task.problem), channel, seed=task.seed)
