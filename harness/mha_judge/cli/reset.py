"""`mha-judge reset ID`: forget what was done for a problem."""

from __future__ import annotations

import sys

import click

from mha_judge.cli.context import folded
from mha_judge.cli.learning import json_option, learning, print_json
from mha_judge.errors import UsageError


@click.command("reset")
@click.argument("problem_id", metavar="ID", type=folded)
@click.option("-y", "--yes", is_flag=True, help="Do it without being asked.")
@json_option
@click.pass_context
def command(ctx: click.Context, problem_id: str, yes: bool, as_json: bool) -> None:
    """Forget all rounds of problem ID; your files stay.

    It is then due at no time. Misconceptions that your answers showed are still remembered.
    """
    with learning(ctx) as learner:
        rounds = learner.progress.rounds("WHERE problem = ?", problem_id)
        if not rounds:
            learner.bank.require(problem_id)  # one that has left the bank can be forgotten as well
        if rounds and not yes:
            if not sys.stdin.isatty():
                raise UsageError(
                    f"{problem_id} has {len(rounds)} rounds; pass --yes to forget them"
                )
            click.confirm(f"Forget {len(rounds)} rounds of {problem_id}?", abort=True)
        count = learner.progress.forget(problem_id)
    if as_json:
        print_json({"problem": problem_id, "forgotten": count})
    else:
        click.echo(f"forgot {count} rounds of {problem_id}")
