"""What the commands for practising share: where progress is kept, and the language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from mha_judge.cli.context import bank_of
from mha_judge.errors import ProgressUnavailable

if TYPE_CHECKING:
    from mha_judge.bank import Bank
    from mha_judge.practice.learner import Kept, Learner
    from mha_judge.practice.progress import Progress
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
    },
    "zh": {
        "attempt": "第 {number} 次尝试",
        "after hints": "扣除提示后 {points:g} 分（−{price:g}）",
        "due": "{day} 再练",
        "hint": "`mha-judge hint {problem}` 可以帮忙，但要扣分",
    },
}


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


def keep(ctx: click.Context, submission: Submission, report: Report) -> Kept | None:
    """Keep an answer in a file that was begun with `start`; others are nobody's practice.

    That it cannot be kept is said, and changes nothing of the verdict.
    """
    from mha_judge.practice.progress import default_path

    bank = bank_of(ctx)
    if report.verdict_only or not default_path(bank).exists():
        return None
    try:
        with progress_kept(bank) as progress:
            round_ = progress.round_of_file(str(submission.path.resolve()))
            if round_ is None or round_.problem != report.problem:
                return None
            from mha_judge.practice.learner import Learner

            return Learner(bank, progress).keep(round_, submission, report)
    except ProgressUnavailable as error:
        click.echo(f"mha-judge: {error}", err=True)
        return None


def say_kept(kept: Kept, problem: str, language: str) -> None:
    """Say, below a report, which attempt it was, when the problem comes back, and what helps."""
    from mha_judge.render.prose import say  # which `list` need not import

    attempt, words = kept.attempt, _KEPT[language]
    parts = [words["attempt"].format(number=kept.number)]
    if attempt.hints:
        parts.append(words["after hints"].format(points=attempt.kept, price=attempt.hints))
    if kept.due is not None:
        parts.append(words["due"].format(day=f"{kept.due.astimezone():%Y-%m-%d}"))
    if kept.told is not None:
        parts.append(words["hint"].format(problem=problem))
    say(" · ".join(parts), "dim")


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))
