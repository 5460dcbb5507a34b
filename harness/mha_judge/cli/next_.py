"""`mha-judge next`: what to do now, and why."""

from __future__ import annotations

from dataclasses import asdict

import click

from mha_judge.cli.learning import json_option, language_option, learning, print_json

_WORDS = {
    "en": {"then": "After that", "done": "Everything is solved, and nothing is due. Well done."},
    "zh": {"then": "之后", "done": "全部解出，也没有到期的复习。"},
}


@click.command("next")
@language_option
@json_option
@click.option("-n", "--count", type=click.IntRange(1, 100), default=4, help="How many to name.")
@click.pass_context
def command(ctx: click.Context, lang: str, as_json: bool, count: int) -> None:
    """Say which problem is next, and why."""
    from mha_judge.practice.learner import now
    from mha_judge.practice.order import Kind, proposals

    with learning(ctx) as learner:
        found = proposals(learner.bank, learner.progress, now(), lang)[:count]
        open_rounds = {
            one.problem: learner.progress.open_round(one.problem)
            for one in found
            if one.kind is Kind.GO_ON
        }
    if as_json:
        print_json([asdict(one) for one in found])
        return
    if not found:
        click.echo(_WORDS[lang]["done"])
        return
    first, *others = found
    click.echo(f"{click.style(first.problem, bold=True)}: {first.why}")
    begun = open_rounds.get(first.problem)
    if begun is not None:
        click.echo(f"  mha-judge run {begun.path}")
    elif first.kind is Kind.NEW:
        click.echo(f"  mha-judge show {first.problem} · mha-judge start {first.problem}")
    else:
        click.echo(f"  mha-judge review {first.problem}")
    if others:
        click.secho(f"{_WORDS[lang]['then']}:", dim=True)
    for one in others:
        click.echo(f"  {one.problem}: {one.why}")
