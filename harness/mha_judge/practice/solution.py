"""A problem's solution: the reference, one's own mistakes as changes to it, and other styles."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass

from mha_judge.bank import Bank
from mha_judge.bank.ladder import read_ladders
from mha_judge.bank.problem import Entry


@dataclass(frozen=True)
class Slip:
    """One mistake, as what would have to be written in the reference to make it."""

    title: str
    explanation: str
    difference: str
    """A unified diff from what was meant to what is right, without its head."""


@dataclass(frozen=True)
class Solution:
    """What is shown once a problem is solved or given up."""

    source: str
    """The reference, with its comments."""
    slips: tuple[Slip, ...]
    """Of the mistakes that one's own answers showed."""
    styles: tuple[str, ...]
    """By entry, what else it may be called, and be."""


def solution_of(bank: Bank, problem_id: str, made: Collection[str], language: str) -> Solution:
    """Return the solution of a problem.

    Args:
        bank: Where it lies.
        problem_id: Which problem.
        made: Ids of the mistakes that one's own answers showed.
        language: Of titles and explanations.

    Raises:
        BankError: If the problem is broken.
    """
    source = bank.reference(problem_id).read_text(encoding="utf-8")
    ladders = read_ladders(bank, problem_id, language).mistakes
    slips = tuple(
        Slip(
            ladders[mistake.id].title,
            ladders[mistake.id].explanation,
            _difference(mistake.source, source),
        )
        for mistake in bank.mistakes(problem_id)
        if mistake.id in made
    )
    styles = tuple(filter(None, map(_styles, bank.problem(problem_id).entry)))
    return Solution(source, slips, styles)


def _difference(wrong: str, right: str) -> str:
    lines = difflib.unified_diff(wrong.splitlines(), right.splitlines(), n=1, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


def _styles(entry: Entry) -> str:
    names = [*entry.aliases, *(f"class {name}" for name in entry.classes)]
    return f"{entry.name}: {', '.join(names)}" if names else ""
