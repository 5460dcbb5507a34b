"""The ranking in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mha_judge.sanitising import clean_line
from mha_judge.scoring.models import Cell, Scoreboard, Standing

_STYLES = {
    Standing.ACCEPTED: "green",
    Standing.MISSING: "yellow",
    Standing.NOT_GRADED: "bold yellow",
}
_WORDS = {
    Standing.ACCEPTED: "accepted",
    Standing.REJECTED: "rejected",
    Standing.ERROR: "error",
    Standing.TIMEOUT: "timeout",
    Standing.CRASHED: "crashed",
    Standing.MISSING: "missing",
    Standing.NOT_GRADED: "not graded",
}

_MOST = 10
"""Lines of a kind below the table."""


def show(board: Scoreboard, console: Console) -> None:
    """Print the ranking, and below it what the judge failed on, hints, and what was left out."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("#", justify="right")
    table.add_column("candidate", overflow="fold")
    table.add_column("total", justify="right")
    for problem, weight in board.weights.items():
        head = problem if weight == 1 else f"{problem} ×{weight:g}"
        table.add_column(Text(head), justify="right")
    for row in (row for row in board.rows if row.rank is not None):
        table.add_row(
            str(row.rank),
            Text(row.candidate),
            Text(f"{row.total:.1f}{'?' if row.provisional else ''}", style="bold"),
            *map(_cell, row.problems.values()),
        )
    console.print()
    console.print(table)
    console.print()
    for row in (row for row in board.rows if row.rank is None):
        console.print(Text(f"Not graded, and not ranked: {row.candidate}", style="yellow"))
    for failure in board.failures:
        what = f"The judge could not grade {failure.path}: "
        console.print(Text(what + failure.fault.message, style="yellow"))
    alike = [
        f"Very similar: {', '.join(one.candidates)} on {one.problem} ({one.likeness})"
        for one in board.similar
    ]
    unloaded = [
        f"{_WORDS[cell.standing].capitalize()}: {row.candidate} on {problem}: "
        + clean_line(cell.load_problem)
        for row in board.rows
        for problem, cell in row.problems.items()
        if cell.load_problem
    ]
    left = [f"Left out: {one.path}: {one.reason}" for one in board.left_out]
    for texts in (unloaded, alike, left):
        for text in texts[:_MOST]:
            console.print(Text(text))
        if len(texts) > _MOST:
            console.print(Text(f"… and {len(texts) - _MOST} more; --html and --json have them all"))
    console.print(Text(f"seed {board.seed}", style="dim"))


def _cell(cell: Cell) -> Text:
    """Return the points of an answer, in grey those of what passes as it stands, and a verdict."""
    words = [] if cell.score is None or cell.standing is Standing.MISSING else [f"{cell.score:g}"]
    words += [_WORDS[cell.standing]] if cell.standing in _WORDS else []
    text = Text(" ".join(words), style=_STYLES.get(cell.standing, "red"))
    if cell.strict not in (None, cell.score):
        text.append(f" ({cell.strict:g})", style="dim")
    return text
