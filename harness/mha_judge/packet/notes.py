"""What an interviewer typed into packets, read back from what their pages saved."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from pydantic import ValidationError

from mha_judge.errors import UsageError
from mha_judge.packet.dimensions import NAMES
from mha_judge.packet.models import Notes
from mha_judge.sanitising import clean_line

_MOST_BYTES = 1024**2


def read_notes(paths: Iterable[Path], candidates: Collection[str]) -> dict[str, Notes]:
    """Return the notes of some files by candidate.

    Args:
        paths: The files.
        candidates: Those who have answers.

    Raises:
        UsageError: If a file cannot be read, or is none that a page saved, or if it speaks of
            nobody who has answers, or of a candidate of whom another one speaks.
    """
    notes: dict[str, Notes] = {}
    for path in paths:
        one = _read(path)
        name = clean_line(one.candidate)
        if one.candidate in notes:
            raise UsageError(
                f"{path}: there are notes on {name!r} already; name one file for each candidate"
            )
        if one.candidate not in candidates:
            raise UsageError(
                f"{path}: the notes are on {name!r}, who has no answer here; "
                f"answers have {', '.join(map(clean_line, sorted(candidates)))}"
            )
        notes[one.candidate] = one
    return notes


def _read(path: Path) -> Notes:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} is larger than 1 MiB; name what a packet's page saved")
    try:
        notes = Notes.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{path} is no notes that a packet's page saved: "
            f"{clean_line(f'{place}: ' if place else '')}{clean_line(first['msg'])}"
        ) from error
    for name in notes.marks:
        if name not in NAMES:
            raise UsageError(
                f"{path}: marks: there is no dimension {clean_line(name)!r}; "
                f"those are {', '.join(NAMES)}"
            )
    return notes
