"""The problems of a bank at a glance, read without validating all of each file.

`mha-judge list` must answer at once, and importing the models costs more than the rest of it.
What is read here is checked here; whatever is amiss goes to the full validation for its message.
"""

from __future__ import annotations

import graphlib
from dataclasses import dataclass

from mha_judge.bank import Bank
from mha_judge.bank.tables import read_table
from mha_judge.errors import BankError


@dataclass(frozen=True)
class ProblemSummary:
    """One problem at a glance: what `list` shows of it."""

    id: str
    title: str
    title_zh: str
    track: str
    level: int
    minutes: int
    points: int
    requires: tuple[str, ...] = ()
    """Ids of problems of this bank to solve first."""

    def title_in(self, language: str) -> str:
        return (self.title_zh if language == "zh" else "") or self.title


TRACKS = {
    "basics": "基础",
    "masks": "掩码",
    "heads and groups": "头与分组",
    "positions": "位置",
    "inference": "推理",
    "questions": "问答",
    "efficient attention": "高效注意力",
    "blocks": "模块",
    "backward": "反向传播",
}
"""The built-in bank's tracks in the order in which they are learned, with their Chinese names."""

_TYPES = {
    "id": str, "title": str, "title_zh": str, "track": str, "level": int, "minutes": int,
    "points": int,
}  # fmt: skip


def tracks(bank: Bank) -> dict[str, list[ProblemSummary]]:
    """Return the problems by track, in the order of `summaries`; tracks of another bank come last.

    Raises:
        BankError: If a `problem.toml` is broken; names file, key and remedy.
    """
    found: dict[str, list[ProblemSummary]] = {}
    for line in summaries(bank):
        found.setdefault(line.track, []).append(line)
    known = [track for track in TRACKS if track in found]
    return {track: found[track] for track in [*known, *sorted(found.keys() - TRACKS.keys())]}


def summaries(bank: Bank) -> list[ProblemSummary]:
    """Return the problems, easiest first, but each after those that it requires.

    Raises:
        BankError: If a `problem.toml` is broken; names file, key and remedy.
    """
    lines = sorted((_line(bank, name) for name in bank.ids), key=lambda line: (line.level, line.id))
    by_id = {line.id: line for line in lines}
    placed: dict[str, ProblemSummary] = {}

    def place(line: ProblemSummary, above: frozenset[str]) -> None:
        for required in line.requires:
            if required not in placed and required not in above:  # a circle has no first
                place(by_id[required], above | {required})
        placed.setdefault(line.id, line)

    for line in lines:
        place(line, frozenset([line.id]))
    return [*placed.values()]


def circle(bank: Bank) -> list[str]:
    """Return ids of problems of which each requires the next, back to the first; empty if none.

    Raises:
        BankError: If a `problem.toml` is broken.
    """
    requires = {line.id: line.requires for line in summaries(bank)}
    try:
        graphlib.TopologicalSorter(requires).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))
    return []


def _line(bank: Bank, problem_id: str) -> ProblemSummary:
    path = bank.root / "problems" / problem_id / "problem.toml"
    try:
        fields = {"title_zh": "", **read_table(path)}
        values = {name: fields[name] for name in _TYPES}
        fits = all(type(values[name]) is kind for name, kind in _TYPES.items())
        requires = fields.get("requires", [])
        fits = fits and type(requires) is list and all(type(one) is str for one in requires)
    except (BankError, KeyError):
        fits = False
    if not fits or values["id"] != problem_id:
        bank.problem(problem_id)  # says what is wrong
        raise BankError(f"{path}: cannot be listed; correct it")
    first = tuple(one for one in requires if one in bank.ids)
    return ProblemSummary(**values, requires=first)
