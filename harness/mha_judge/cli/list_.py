"""`mha-judge list`: the problems, a line each."""

from __future__ import annotations

import unicodedata

import click

from mha_judge.bank import Bank
from mha_judge.bank.listing import TRACKS, ProblemSummary, tracks
from mha_judge.cli.context import bank_of
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import progress_kept
from mha_judge.errors import ProgressUnavailable

_HEADINGS = {
    "en": ("id", "title", "level", "minutes", "points"),
    "zh": ("编号", "标题", "难度", "分钟", "分值"),
}
_LEGEND = {"en": "✓ solved · ● begun", "zh": "✓ 已解出 · ● 已开始"}


@click.command("list")
@language_option("the titles")
@click.pass_context
def command(ctx: click.Context, lang: str) -> None:
    """List the problems by track, each after those that it requires; ✓ is solved, ● begun."""
    bank = bank_of(ctx)
    found = tracks(bank)
    marks = _marks(bank)
    rows = {track: [_row(line, lang) for line in lines] for track, lines in found.items()}
    every = [_HEADINGS[lang], *(row for lines in rows.values() for row in lines)]
    widths = [max(_width(row[column]) for row in every) for column in range(len(every[0]))]
    click.secho("    " + _cells(_HEADINGS[lang], widths), dim=True)
    for track, lines in rows.items():
        click.secho(TRACKS.get(track, track) if lang == "zh" else track, bold=True)
        for row in lines:
            click.echo(f"  {marks.get(row[0], ' ')} {_cells(row, widths)}")
    if marks:
        click.secho(f"\n{_LEGEND[lang]}", dim=True)
    click.secho("\nmha-judge show ID · mha-judge start ID · mha-judge run FILE", dim=True)


def _marks(bank: Bank) -> dict[str, str]:
    """Return a sign for each problem that is kept as solved or begun; no file is made for that."""
    from mha_judge.practice.progress import default_path

    if not default_path(bank).exists():
        return {}
    from mha_judge.practice.standing import standings

    try:
        with progress_kept(bank) as progress:
            found = standings(progress)
    except ProgressUnavailable as error:
        click.echo(f"mha-judge: {error}", err=True)
        return {}
    return {problem: "✓" if one.solved is not None else "●" for problem, one in found.items()}


def _row(line: ProblemSummary, lang: str) -> tuple[str, ...]:
    return line.id, line.title_in(lang), str(line.level), str(line.minutes), str(line.points)


def _cells(row: tuple[str, ...], widths: list[int]) -> str:
    """Return a row in columns: texts to the left, numbers to the right."""
    cells = []
    for column, (text, wide) in enumerate(zip(row, widths, strict=True)):
        gap = " " * (wide - _width(text))
        cells.append(text + gap if column < 2 else gap + text)
    return "  ".join(cells)


def _width(text: str) -> int:
    """Return how many columns a terminal gives a text: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
