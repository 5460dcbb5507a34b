"""Which problem a file answers: its header says so, else its name, else what it defines."""

from __future__ import annotations

import ast
import re

from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.submission import Submission
from mha_judge.syntax import syntax_error, syntax_tree

_DEFINED = re.compile(r"^(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*=", re.MULTILINE)
"""What a file defines that cannot be parsed."""


class ProblemUnknown(UsageError):
    """Nothing says which problem a file answers."""

    def __init__(self, message: str, possible: list[str]) -> None:
        super().__init__(message)
        self.possible = possible
        """Ids of the problems that ask for something that the file defines."""


def problem_of(submission: Submission, bank: Bank, *, or_else: str = "pass its id") -> str:
    """Return the id of the problem that a file answers.

    Its `# problem: ID` line counts most, then a name that is an id. Otherwise the ids in its name,
    as in `alice_sdpa.py`, and the problems that ask for what it defines have to leave one.

    Args:
        submission: The file.
        bank: Where problems lie.
        or_else: What may be done instead of writing that line, as the caller's user has it.

    Raises:
        UsageError: If its header names no problem of the bank.
        ProblemUnknown: If nothing says which it is, or there are several.
    """
    if submission.stated_problem is not None:
        stated = _folded(submission.stated_problem)
        try:
            bank.require(stated)
        except UsageError as error:
            raise UsageError(f"`# problem: {submission.stated_problem}`: {error}") from error
        return stated
    name = _folded(submission.path.stem)
    if name in bank.ids:
        return name
    named = [one for one in bank.ids if f"-{one}-" in f"-{name}-"]
    possible = [one for one in bank.ids if _asks_for(bank, one, _defined(submission.source))]
    both = [one for one in named if one in possible]
    fitting = _longest(both) or (possible if len(possible) == 1 else _longest(named))
    if len(fitting) == 1:
        return fitting[0]
    broken = syntax_error(submission.source)
    mend, what = "", "it defines nothing that a problem asks for"
    if broken is not None:  # it hides what the file defines, and no report will tell of it
        place = f"line {broken.lineno}: " if broken.lineno is not None else ""
        mend, what = f"{place}{broken.msg}; mend this first. ", "what it defines cannot be read"
    if possible:
        what = f"it may answer {' or '.join(possible)}"
    which = "Which problem is this?" if mend else "which problem is this?"
    raise ProblemUnknown(
        f"{submission.path}: {mend}{which} Write a line `# problem: ID` into it, or {or_else}; "
        f"{what}",
        possible,
    )


def _folded(name: str) -> str:
    return re.sub(r"[\s_.-]+", "-", name).strip("-").lower()


def _longest(ids: list[str]) -> list[str]:
    """Return the longest id, of which others may be a part; all of that length."""
    return [one for one in ids if len(one) == max(map(len, ids))]


def _asks_for(bank: Bank, problem_id: str, defined: set[str]) -> bool:
    entries = bank.problem(problem_id).entry
    names = [name for one in entries for name in (one.name, *one.aliases, *one.classes)]
    return not defined.isdisjoint(map(_plain, names))


def _defined(source: str) -> set[str]:
    """Return what a file defines at its top, spelt alike."""
    tree = syntax_tree(source)
    if tree is None:
        return {_plain(one or other) for one, other in _DEFINED.findall(source)}
    names = {
        one.name
        for one in tree.body
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    assigned = [
        target for one in tree.body if isinstance(one, ast.Assign) for target in one.targets
    ]
    names |= {target.id for target in assigned if isinstance(target, ast.Name)}
    return set(map(_plain, names))


def _plain(name: str) -> str:
    """Return a name without what spellings differ in, as an entry is found by."""
    return name.replace("_", "").lower()
