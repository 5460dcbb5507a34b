"""`mha-judge solution ID`: how it is done, once it is solved or given up."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console

from mha_judge.cli.context import folded
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, learning, print_json
from mha_judge.errors import UsageError


@click.command("solution")
@click.argument("problem_id", metavar="ID", type=folded)
@click.option("--give-up", is_flag=True, help="End your round unsolved, and see it.")
@language_option("all that is said")
@json_option
@click.pass_context
def command(ctx: click.Context, problem_id: str, give_up: bool, lang: str, as_json: bool) -> None:
    """Show the solution of problem ID beside your mistakes.

    It can be seen once the problem is solved, or given up. Written to a file, it is the code alone.
    """
    from mha_judge.practice.solution import solution_of
    from mha_judge.render.practice.solution import Colours, render

    with learning(ctx) as learner:
        if give_up:
            learner.give_up(problem_id)
        elif not learner.may_see_solution(problem_id):
            raise UsageError(
                f"{problem_id} is not solved yet; `mha-judge hint {problem_id}` helps, and "
                f"`mha-judge solution {problem_id} --give-up` ends the round and shows it"
            )
        shown = solution_of(learner.bank, problem_id, learner.made(problem_id), lang)
    if as_json:
        print_json(asdict(shown))
        return
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(render(shown, lang, Colours(), given_up=give_up))
    else:  # a file or a pipe gets what Python can read
        click.echo(shown.source, nl=False)
        if shown.slips:
            click.echo("mha-judge: only the code; --json has your own mistakes too", err=True)
