"""`mha-judge show ID`: a problem's statement."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markdown import Markdown

from mha_judge.cli.context import bank_of


@click.command("show")
@click.argument("problem_id", metavar="ID")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language.")
@click.option("--raw", is_flag=True, help="Print the Markdown as it is.")
@click.pass_context
def command(ctx: click.Context, problem_id: str, lang: str, raw: bool) -> None:
    """Show the statement of problem ID."""
    bank = bank_of(ctx)
    problem = bank.problem(problem_id)
    text = bank.statement(problem.id, lang)
    if raw:
        click.echo(text, nl=False)
        return
    Console(width=min(Console().width, 100)).print(Markdown(text))
