"""What practice has come to, in a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mha_judge.bank import Bank
from mha_judge.practice.statistics import LEFT, Met, Statistics, Track
from mha_judge.render.practice.words import (
    AVOIDED,
    SHOWN,
    SHOWN_WEEKS,
    SOON_DAYS,
    WORDS,
    Titles,
    duration,
    lately,
    month,
    month_spans,
    near_day,
    shade,
    shades,
    soon,
    track_name,
)
from mha_judge.sanitising import clean_line

_BLOCKS = ("·", "░", "▒", "▓", "█")
_COLOURS = ("dim", "cyan", "cyan", "cyan", "bold cyan")
_CELL = 3
"""Columns of a week."""
_BAR = 24
_NAME = 24
_MOST_NAMED = 4
"""Reviews of one day that are named."""


def show(found: Statistics, bank: Bank, language: str, console: Console) -> None:
    """Print a summary: how far each track is, what is due, and two heat maps by week."""
    words = WORDS[language]
    if not found.begun:
        console.print(Text(words["begin"]))
        return
    titles = Titles(bank, language)
    _show_totals(found, language, console)
    _show_tracks(found, language, console)
    _show_due(found, titles, language, console)
    if any(week.tries for week in found.weeks[-SHOWN_WEEKS:]):
        _show_work(found, language, console)
    if lately(found):
        _show_misconceptions(found, titles, language, console)


def _show_totals(found: Statistics, language: str, console: Console) -> None:
    words = WORDS[language]
    numbers = {name: f"{value:.0f}" for name, value in found.totals.items()}
    parts = [
        words["solved_of"].format(**numbers),
        words["points_of"].format(**numbers),
        words["worked"].format(time=duration(found.totals["minutes"], language)),
    ]
    console.print(Text.assemble((words["practice"], "bold"), "   ", " · ".join(parts)))
    console.print()


def _show_tracks(found: Statistics, language: str, console: Console) -> None:
    words = WORDS[language]
    console.print(Text(words["tracks"], style="bold"))
    table = _table()
    table.add_column("", width=_NAME, no_wrap=True, overflow="ellipsis")
    table.add_column("", width=_BAR, no_wrap=True)
    table.add_column(words["solved"], justify="right", no_wrap=True)
    table.add_column(words["points"], justify="right", no_wrap=True)
    for track in found.tracks:
        points = words["left"] if track.track == LEFT else f"{track.points:.0f} / {track.of}"
        style = "dim" if track.track == LEFT else ""
        table.add_row(
            Text(f"  {track_name(track.track, language)}", style=style),
            _bar(track) if track.track != LEFT else "",
            Text(f"{track.solved} / {track.problems}", style=style),
            Text(points, style=style),
        )
    console.print(table)
    console.print()


def _bar(track: Track) -> Text:
    done = round(_BAR * track.solved / track.problems)
    # What is begun is seen, and what is not finished does not look so.
    done = min(max(done, track.solved > 0), _BAR - (track.solved < track.problems))
    return Text.assemble(("━" * done, "green"), ("╌" * (_BAR - done), "dim"))


def _show_due(found: Statistics, titles: Titles, language: str, console: Console) -> None:
    words = WORDS[language]
    by_day, later = soon(found)
    console.print(Text.assemble((words["due"], "bold"), "  ", (words["due_how"], "dim")))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for day, dues in by_day.items():
        names = [
            f"“{titles.of(due)}”" if due.mistake else clean_line(due.id)
            for due in dues[:_MOST_NAMED]
        ]
        more = [f"+{len(dues) - _MOST_NAMED}"] if len(dues) > _MOST_NAMED else []
        style = "bold yellow" if day <= found.today else ""
        name = near_day(day, found.today, language)
        table.add_row(Text(f"  {name}", style=style), Text(words["comma"].join(names + more)))
    console.print(table)
    if not by_day:
        console.print(Text(f"  {words['due_none'].format(days=SOON_DAYS)}"))
    if later:
        text = words["due_later"].format(count=len(later), day=later[0].day.isoformat())
        console.print(Text(f"  {text}", style="dim"))
    console.print()


def _show_work(found: Statistics, language: str, console: Console) -> None:
    words = WORDS[language]
    mondays = [week.monday for week in found.weeks[-SHOWN_WEEKS:]]
    console.print(Text(words["work"], style="bold"))
    table = _table()
    table.add_column("", width=_NAME, no_wrap=True, overflow="ellipsis")
    table.add_column(_heads(mondays, language), no_wrap=True, width=_CELL * len(mondays))
    table.add_column(f"\n{words['all']}", justify="right", no_wrap=True)
    for track in found.tracks:
        minutes, tries = track.minutes[-SHOWN_WEEKS:], track.tries[-SHOWN_WEEKS:]
        total = Text(duration(sum(minutes), language) if any(tries) else "")
        row = _shaded(list(map(shade, minutes, tries)))
        style = "" if any(tries) else "dim"
        table.add_row(Text(f"  {track_name(track.track, language)}", style=style), row, total)
    console.print(table)
    legend = Text("  ")
    for block, colour, meaning in zip(_BLOCKS, _COLOURS, shades(language), strict=True):
        legend.append(2 * block if block != _BLOCKS[0] else block, style=colour)
        legend.append(f" {meaning}   ", style="dim")
    legend.rstrip()
    console.print(legend)
    console.print()


def _shaded(levels: Sequence[int]) -> Text:
    row = Text()
    for level in levels:
        row.append(f"{_BLOCKS[level]:>2} " if not level else f"{2 * _BLOCKS[level]} ")
        row.stylize(_COLOURS[level], len(row) - _CELL)
    return row


def _show_misconceptions(
    found: Statistics, titles: Titles, language: str, console: Console
) -> None:
    words = WORDS[language]
    mondays = [week.monday for week in found.weeks[-SHOWN_WEEKS:]]
    console.print(Text(words["mistakes"], style="bold"))
    table = _table()
    table.add_column("", ratio=1)
    table.add_column(_heads(mondays, language), no_wrap=True, width=_CELL * len(mondays))
    for met in lately(found):
        table.add_row(Padding(Text(titles.of(met)), (0, 0, 0, 2)), _signs(met))
    console.print(table)
    console.print(
        Text.assemble(
            "  ",
            (SHOWN, "red"),
            (f" {words['shown']}   ", "dim"),
            (AVOIDED, "green"),
            (f" {words['avoided']}", "dim"),
        )
    )
    console.print()


def _signs(met: Met) -> Text:
    row = Text()
    for shown, avoided in zip(met.shown[-SHOWN_WEEKS:], met.avoided[-SHOWN_WEEKS:], strict=True):
        if not shown and not avoided:
            row.append(" · ", style="dim")
            continue
        row.append(SHOWN if shown else " ", style="bold red")
        row.append(AVOIDED if avoided else " ", style="green")
        row.append(" ")
    return row


def _heads(mondays: Sequence[date], language: str) -> Text:
    """Return two lines above the weeks: the months, and the day of each Monday."""
    months = ""
    for start, weeks in month_spans(mondays):
        # A month of one week has no room for its name beside the next one.
        name = month(start, language) if weeks > 1 or start == mondays[-1] else ""
        months += set_cell_size(name, _CELL * weeks)
    days = "".join(f"{monday.day:2} " for monday in mondays)
    return Text(f"{set_cell_size(months, cell_len(days))}\n{days}")


def _table() -> Table:
    return Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
