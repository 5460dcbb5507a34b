"""The ranking as CSV, a row a candidate."""

from __future__ import annotations

import csv
import io

from mha_judge.scoring.models import Scoreboard

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(board: Scoreboard) -> str:
    """Return the text; no cell of it is a formula to a spreadsheet."""
    categories = sorted({name for row in board.rows for name in row.categories})
    heads = ["rank", "candidate", "total", "provisional"]
    for problem in board.weights:
        heads += [f"{problem}{what}" for what in ("", ": strict", ": verdict", ": mistakes")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*heads, *categories])
    for row in board.rows:
        cells: list[object] = [_or_empty(row.rank), row.candidate]
        cells.append(row.total if row.rank is not None else "")  # nothing was graded
        cells.append("yes" if row.provisional else "")
        for cell in row.problems.values():
            cells += [_or_empty(cell.score), _or_empty(cell.strict)]
            cells += [str(cell.standing), "; ".join(cell.diagnoses)]
        cells += [row.categories.get(name, "") for name in categories]
        writer.writerow([_safe(cell) for cell in cells])
    return text.getvalue()


def _or_empty(number: float | None) -> object:
    return "" if number is None else number


def _safe(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would compute."""
    if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA):
        return f"'{cell}"
    return cell
