"""The bank as a page of Markdown: what there is, in which order to take it, how it is proved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mha_judge.bank import Bank
from mha_judge.listing import TRACKS, Line, tracks
from mha_judge.problem import Problem

_HEAD = """\
# Problems

Made from the bank by `mha-judge list --markdown`. Each problem has its statement in English and
Chinese beside this page, questions for the interviewer, a hidden grader, a reference, and the known
mistakes that the grader is certified against.
"""
_COLUMNS = ("id", "title", "what is written", "level", "minutes", "points", "checks", "mistakes")


def page(bank: Bank) -> str:
    """Return the page.

    Raises:
        BankError: If the bank is broken; names file, key and remedy.
    """
    return "\n".join([_HEAD, *_sections(bank)])


def _sections(bank: Bank) -> Iterator[str]:
    for track, lines in tracks(bank).items():
        name = f"{track} · {TRACKS[track]}" if track in TRACKS else track
        yield f"## {name[0].upper()}{name[1:]}\n"
        yield f"| {' | '.join(_COLUMNS)} |"
        yield f"|{'---|' * len(_COLUMNS)}"
        for line in lines:
            yield f"| {' | '.join(_cells(bank, line))} |"
        yield ""
        for line in lines:
            yield from _order(bank.problem(line.id), bank)
        yield ""


def _cells(bank: Bank, line: Line) -> tuple[str, ...]:
    problem = bank.problem(line.id)
    return (
        f"[`{line.id}`]({line.id}/statement.md) ([中文]({line.id}/statement.zh.md))",
        f"{line.title} · {line.title_zh}",
        ", ".join(f"`{entry.name}`" for entry in problem.entry),
        str(line.level),
        str(line.minutes),
        str(line.points),
        str(_checks(bank, line.id)),
        str(len(bank.mistakes(line.id))),
    )


def _order(problem: Problem, bank: Bank) -> Iterator[str]:
    """Yield what to do before and after a problem, as an item of a list."""
    before, after = (
        ", ".join(f"`{one}`" for one in ids if one in bank.ids)
        for ids in (problem.before, problem.after)
    )
    parts = [f"after {before}"] if before else []
    parts += [f"then {after}"] if after else []
    if parts:
        yield f"- `{problem.id}`: {'; '.join(parts)}"


def _checks(bank: Bank, problem_id: str) -> int:
    """Return how many checks a grader has."""
    tree = ast.parse(bank.grader(problem_id).read_text(encoding="utf-8"))
    return sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in tree.body
    )
