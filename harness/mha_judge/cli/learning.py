"""What the commands for practising share: where progress is kept, and the language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.context import bank_of
from mha_judge.errors import ProgressUnavailable

if TYPE_CHECKING:
    from mha_judge.bank import Bank
    from mha_judge.practice.learner import Kept, Learner
    from mha_judge.practice.progress import Progress, Round
    from mha_judge.report.models import Report
    from mha_judge.submission import Submission

no_progress_option = click.option(
    "--no-progress", is_flag=True, help="Neither read nor keep what you have done."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

_KEPT = {
    "en": {
        "attempt": "attempt {number}",
        "after hints": "{points:g} points after hints (−{price:g})",
        "due": "comes back on {day}",
        "hint": "`mha-judge hint {problem}` helps, for a price",
        "elsewhere": "not kept: your round of {problem} is in {path}",
        "move": "; `mha-judge start {problem} {folder}` moves it to this file",
        "moved": "Your round of {problem} moves here from {path}: answers in that file are no "
        "longer kept.",
    },
    "zh": {
        "attempt": "第 {number} 次尝试",
        "after hints": "扣除提示后 {points:g} 分（−{price:g}）",
        "due": "{day} 再练",
        "hint": "`mha-judge hint {problem}` 可以帮忙，但要扣分",
        "elsewhere": "未保存：{problem} 的当前轮次在 {path} 中进行",
        "move": "；`mha-judge start {problem} {folder}` 可把它移到这个文件",
        "moved": "{problem} 的当前轮次从 {path} 移到这里：那个文件中的作答不再保存。",
    },
}


@dataclass(frozen=True)
class Elsewhere:
    """Why an answer was not kept: the open round of its problem is in another file."""

    round: Round
    file: Path
    """That was graded."""
    may_move: bool
    """Whether `start` moves the round to the file that was graded."""


@contextmanager
def progress_kept(bank: Bank, *, in_memory: bool = False) -> Iterator[Progress]:
    """Open the learner's progress in a bank, and say so if what was there had to be set aside.

    Raises:
        ProgressUnavailable: It can be neither read nor made.
    """
    from mha_judge.practice.progress import Progress, default_path

    with Progress(None if in_memory else default_path(bank)) as progress:
        if progress.notice:
            click.echo(f"mha-judge: {progress.notice}", err=True)
        yield progress


@contextmanager
def learning(ctx: click.Context, *, in_memory: bool = False) -> Iterator[Learner]:
    """Open the learner's progress, as `progress_kept` does, with what can be done with it.

    Raises:
        ProgressUnavailable: It can be neither read nor made.
    """
    from mha_judge.practice.learner import Learner

    bank = bank_of(ctx)
    with progress_kept(bank, in_memory=in_memory) as progress:
        yield Learner(bank, progress)


def keep(ctx: click.Context, submission: Submission, report: Report) -> Kept | Elsewhere | None:
    """Keep an answer in a file that was begun with `start`; others are nobody's practice.

    That it cannot be kept is said, and changes nothing of the verdict.
    """
    from mha_judge.bank import module_name
    from mha_judge.practice.progress import default_path

    bank, path = bank_of(ctx), submission.path
    if report.verdict_only or not default_path(bank).exists():
        return None
    try:
        with progress_kept(bank) as progress:
            round_ = progress.round_of_file(str(path.resolve()))
            if round_ is None or not round_.is_open:
                open_one = progress.open_round(report.problem)
                if open_one is not None:
                    is_starter = path.name == f"{module_name(report.problem)}.py"
                    return Elsewhere(open_one, path, is_starter and round_ is None)
            if round_ is None or round_.problem != report.problem:
                return None
            from mha_judge.practice.learner import Learner

            return Learner(bank, progress).keep(round_, submission, report)
    except ProgressUnavailable as error:
        click.echo(f"mha-judge: {error}", err=True)
        return None


def say_kept(kept: Kept | Elsewhere, problem: str, language: str) -> None:
    """Say, below a report, which attempt it was, when the problem comes back, and what helps.

    Of one that was not kept: where the round is.
    """
    from mha_judge.render.prose import say  # which `list` need not import

    words = _KEPT[language]
    if isinstance(kept, Elsewhere):
        told = words["elsewhere"].format(problem=problem, path=kept.round.path)
        if kept.may_move:
            told += words["move"].format(problem=problem, folder=kept.file.parent)
        say(told, "yellow")
        return
    attempt = kept.attempt
    parts = [words["attempt"].format(number=kept.number)]
    if attempt.hints:
        parts.append(words["after hints"].format(points=attempt.kept, price=attempt.hints))
    if kept.due is not None:
        parts.append(words["due"].format(day=f"{kept.due.astimezone():%Y-%m-%d}"))
    if kept.told is not None:
        parts.append(words["hint"].format(problem=problem))
    say(" · ".join(parts), "dim")


def say_moved(before: Round | None, path: Path, language: str) -> None:
    """Say that an open round goes on in another file, if it was in another one before."""
    from mha_judge.render.prose import say

    if before is not None and before.path != str(path.resolve()):
        say(_KEPT[language]["moved"].format(problem=before.problem, path=before.path), "yellow")


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))
