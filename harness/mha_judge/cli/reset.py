"""`mha-judge reset ID`: forget what was done for a problem."""

from __future__ import annotations

import sys

import click

from mha_judge.cli.context import folded
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, learning, print_json
from mha_judge.errors import UsageError
from mha_judge.render.prose import confirmed

_WORDS = {
    "en": {
        "ask": "Forget {rounds} of {problem}?",
        "forgot": "forgot {rounds} of {problem}",
        "one": "1 round",
        "rounds": "{count} rounds",
    },
    "zh": {
        "ask": "要删除 {problem} 的 {rounds}吗？",
        "forgot": "已删除 {problem} 的 {rounds}",
        "one": "1 轮记录",
        "rounds": "{count} 轮记录",
    },
}


@click.command("reset")
@click.argument("problem_id", metavar="ID", type=folded)
@click.option("-y", "--yes", is_flag=True, help="Do it without being asked.")
@language_option("all that is said")
@json_option
@click.pass_context
def command(ctx: click.Context, problem_id: str, yes: bool, lang: str, as_json: bool) -> None:
    """Forget all rounds of problem ID; your files stay.

    It is then due at no time. Misconceptions that your answers showed are still remembered.
    """
    words = _WORDS[lang]
    with learning(ctx) as learner:
        rounds = learner.progress.rounds("WHERE problem = ?", problem_id)
        if not rounds:
            learner.bank.require(problem_id)  # one that has left the bank can be forgotten as well
        if rounds and not yes:
            if not sys.stdin.isatty():
                has = _counted(len(rounds), "en")
                raise UsageError(f"{problem_id} has {has}; pass --yes to forget all of it")
            counted = _counted(len(rounds), lang)
            if not confirmed(words["ask"].format(rounds=counted, problem=problem_id), lang):
                ctx.exit(1)
        count = learner.progress.forget(problem_id)
    if as_json:
        print_json({"problem": problem_id, "forgotten": count})
    else:
        click.echo(words["forgot"].format(rounds=_counted(count, lang), problem=problem_id))


def _counted(count: int, language: str) -> str:
    """Return how many rounds there are, in words."""
    words = _WORDS[language]
    return words["one" if count == 1 else "rounds"].format(count=count)
