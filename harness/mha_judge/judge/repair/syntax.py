"""Files that are no Python: a colon or a bracket."""

from __future__ import annotations

from collections.abc import Iterator

from mha_judge.judge.repair.place import Place, Repair


def missing_colon(place: Place) -> Iterator[Repair]:
    yield _inserted(place, place.stop.column - 1, ":", "a colon is missing")


def open_bracket(place: Place, opened: str) -> Iterator[Repair]:
    closing = {"(": ")", "[": "]", "{": "}"}[opened]
    code = place.line(place.stop.line).partition("#")[0].rstrip()
    for column in (len(code), len(code) - 1):  # a colon may end the line
        yield _inserted(place, column, closing, f"a bracket is not closed, {closing!r}")


def unmatched_bracket(place: Place, bracket: str) -> Iterator[Repair]:
    number, column = place.stop.line, place.stop.column - 1
    line = place.line(number)
    if line[column : column + 1] == bracket:
        yield place.repair(
            place.with_line(number, line[:column] + line[column + 1 :]),
            number,
            f"there is a bracket too many, {bracket!r}",
            "Without it the file can be read.",
            "Which bracket does it close?",
        )


def _inserted(place: Place, column: int, text: str, title: str) -> Repair:
    number = place.stop.line
    line = place.line(number)
    return place.repair(
        place.with_line(number, line[:column] + text + line[column:]),
        number,
        title,
        f"With {text!r} in its place the file can be read.",
        "Look at the end of what is written there.",
    )
