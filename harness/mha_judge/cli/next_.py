"""`mha-judge next`: what to do now, and why."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, learning, print_json
from mha_judge.render.prose import say

if TYPE_CHECKING:
    from mha_judge.practice.learner import Learner
    from mha_judge.practice.order import Proposal

_WORDS = {
    "en": {
        "then": "After that:",
        "done": "Everything is solved, and nothing is due. Well done.",
        "gone": "{path} is gone; `mha-judge start {problem}` writes the starter again.",
    },
    "zh": {
        "then": "之后：",
        "done": "全部解出，也没有到期的复习。",
        "gone": "{path} 已不存在；`mha-judge start {problem}` 重新写出起始文件。",
    },
}


@click.command("next")
@language_option("all that is said")
@json_option
@click.option("-n", "--count", type=click.IntRange(1, 100), default=4, help="How many to name.")
@click.pass_context
def command(ctx: click.Context, lang: str, as_json: bool, count: int) -> None:
    """Say which problem is next, and why."""
    with learning(ctx) as learner:
        if as_json:
            print_json([asdict(one) for one in _found(learner, lang, count)])
        else:
            say_next(learner, lang, count)


def say_next(learner: Learner, lang: str, count: int = 4) -> None:
    """Print what to do now, with its command, and what could come after it.

    Args:
        learner: Whose progress counts.
        lang: `en` or `zh`.
        count: How many problems are named at most.
    """
    from mha_judge.practice.order import Kind

    found = _found(learner, lang, count)
    if not found:
        say(_WORDS[lang]["done"])
        return
    first, *others = found
    say(Text.assemble((first.problem, "bold"), f": {first.why}"))
    begun = learner.progress.open_round(first.problem) if first.kind is Kind.GO_ON else None
    if begun is not None and not Path(begun.path).exists():
        say("  " + _WORDS[lang]["gone"].format(path=begun.path, problem=first.problem))
    elif begun is not None:
        click.echo(f"  mha-judge run {begun.path}")
    elif first.kind is Kind.NEW and learner.progress.last_round(first.problem) is None:
        click.echo(f"  mha-judge show {first.problem} · mha-judge start {first.problem}")
    else:
        click.echo(f"  mha-judge review {first.problem}")
    if others:
        say(_WORDS[lang]["then"], "dim")
    for one in others:
        say(f"  {one.problem}: {one.why}")


def _found(learner: Learner, lang: str, count: int) -> list[Proposal]:
    from mha_judge.practice.learner import now
    from mha_judge.practice.order import proposals

    return proposals(learner.bank, learner.progress, now(), lang)[:count]
