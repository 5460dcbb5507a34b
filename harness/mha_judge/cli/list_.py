"""`mha-judge list`: the problems, a line each."""

from __future__ import annotations

import unicodedata

import click

from mha_judge.cli.context import bank_of
from mha_judge.listing import lines


@click.command("list")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of titles.")
@click.pass_context
def command(ctx: click.Context, lang: str) -> None:
    """List the problems."""
    rows = [("id", "title", "track", "level", "minutes")]
    for line in lines(bank_of(ctx)):
        title = line.title if lang == "en" else line.title_zh
        rows.append((line.id, title, line.track, str(line.level), str(line.minutes)))
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [text + " " * (wide - _width(text)) for text, wide in zip(row, widths, strict=True)]
        cells[0] = click.style(cells[0], bold=True)
        click.echo(click.style("  ".join(cells).rstrip(), bold=number == 0))
    click.secho("\nmha-judge show ID · mha-judge start ID · mha-judge run FILE", dim=True)


def _width(text: str) -> int:
    """Return how many columns a terminal gives a text: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
