"""What each candidate may see, as a file of JSON each."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from mha_judge.errors import UsageError
from mha_judge.report.models import Reveal
from mha_judge.report.reveal import revealed
from mha_judge.scoring.models import Row, Scoreboard, Standing
from mha_judge.scoring.results import Results


def write(board: Scoreboard, results: Results, folder: Path, reveal: Reveal) -> None:
    """Write a file for each candidate; it says nothing of the others, nor the rank.

    Raises:
        UsageError: If the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for row in board.rows:
            text = json.dumps(_sheet(row, board, results, reveal), indent=2, ensure_ascii=False)
            (folder / file_name(row.candidate)).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}; name another --candidate-dir"
        ) from error


def file_name(candidate: str, suffix: str = ".json") -> str:
    """Return a name of a file that no other candidate has, made of plain characters."""
    plain = re.sub(r"[^\w.-]", "_", candidate).lstrip(".-")[:60] or "candidate"
    if plain != candidate or re.search(r"-[0-9a-f]{8}$", plain):  # nobody may take another's name
        plain = f"{plain}-{hashlib.sha256(candidate.encode()).hexdigest()[:8]}"
    return f"{plain}{suffix}"


def _sheet(row: Row, board: Scoreboard, results: Results, reveal: Reveal) -> dict[str, Any]:
    problems: dict[str, Any] = {}
    for problem, cell in row.problems.items():
        known = results.known.get((row.candidate, problem))
        if cell.standing in (Standing.MISSING, Standing.NOT_GRADED):
            problems[problem] = {"problem": problem, "verdict": cell.standing, "score": cell.score}
        elif known is not None and known.report is not None:
            problems[problem] = revealed(known.report, reveal)
    return {
        "schema_version": 1,
        "candidate": row.candidate,
        "total": row.total,
        "provisional": row.provisional,
        "weights": board.weights,
        "problems": problems,
    }
