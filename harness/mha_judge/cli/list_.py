"""`mha-judge list`: the problems, a line each."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mha_judge.cli.context import bank_of


@click.command("list")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of titles.")
@click.pass_context
def command(ctx: click.Context, lang: str) -> None:
    """List the problems."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("id", "title", "track", "level", "minutes"):
        table.add_column(heading, justify="right" if heading in ("level", "minutes") else "left")
    for problem in sorted(bank_of(ctx).problems(), key=lambda p: (p.level, p.id)):
        title = problem.title if lang == "en" else problem.title_zh
        table.add_row(
            Text(problem.id, style="bold"), Text(title), problem.track, str(problem.level),
            str(problem.minutes),
        )  # fmt: skip
    console = Console()
    console.print(table)
    console.print(
        Text("\nmha-judge show ID · mha-judge start ID · mha-judge run FILE", style="dim")
    )
