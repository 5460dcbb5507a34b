"""Whose mutants are tried where there is no time for all of them."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from mha_judge.bank import Bank, module_name
from mha_judge.errors import UsageError

DRAWN = 3
"""How many problems are drawn beside those that have changed."""
_SHARED = re.compile(r"^from graders\.shared import (.+)$", re.MULTILINE)
"""How a grader takes checks from modules that several graders share."""


@dataclass(frozen=True)
class Choice:
    """The problems whose mutants are tried, by why they are, and the rest."""

    since: str
    changed: list[str]
    drawn: list[str]
    left_out: list[str]

    def takes(self, problem_id: str) -> bool:
        return problem_id not in self.left_out

    def __str__(self) -> str:
        changed, drawn, left_out = (
            ", ".join(ids) or "none" for ids in (self.changed, self.drawn, self.left_out)
        )
        return (
            f"Mutants were tried of what has changed since {self.since[:10]} ({changed}), and of "
            f"some drawn by the commit ({drawn}). Left out: {left_out}; "
            "without --mutants-since all are tried."
        )


def choose(bank: Bank, revision: str, ids: Sequence[str]) -> Choice:
    """Return those that the working tree has changed since a revision, and some others.

    A change of the engine may concern every problem. So that these come round in time whatever
    has changed, some are drawn, others for every commit and for one commit always the same.

    Raises:
        UsageError: If the bank lies in no checkout, or git does not know the revision.
    """
    since = _git(bank, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")[0]
    head = _git(bank, "rev-parse", "HEAD")[0]
    folders = ("problems", "graders", "reference")
    touched = {
        *_git(bank, "diff", "--name-only", "--relative", since, "--", *folders),
        *_git(bank, "ls-files", "--others", "--exclude-standard", "--", *folders),
    }
    changed = [one for one in ids if not touched.isdisjoint(_matter(bank, one))]
    others = [one for one in ids if one not in changed]
    drawn = sorted(random.Random(head).sample(others, min(DRAWN, len(others))))
    left_out = [one for one in others if one not in drawn]
    return Choice(since, changed, drawn, left_out)


def _matter(bank: Bank, problem_id: str) -> set[str]:
    """Return the files that the verdicts on a problem's mutants follow from."""
    name = module_name(problem_id)
    grader = bank.root / "graders" / f"test_{name}.py"
    text = grader.read_text(encoding="utf-8") if grader.is_file() else ""
    shared = {module for line in _SHARED.findall(text) for module in line.split(", ")}
    return {
        *(f"graders/shared/{module}.py" for module in shared),
        f"problems/{problem_id}/problem.toml",
        f"problems/{problem_id}/questions.toml",
        f"graders/test_{name}.py",
        f"reference/{name}.py",
        f"reference/mutants/{name}.toml",
    }


def _git(bank: Bank, *arguments: str) -> list[str]:
    """Return the lines that git says of the bank's folder."""
    try:
        said = subprocess.run(
            ["git", "-C", bank.root, *arguments], check=True, capture_output=True, text=True
        )
    except FileNotFoundError as error:
        raise UsageError("--mutants-since needs git; install it, or drop the option") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().partition("\n")[0]
        raise UsageError(
            f"git finds no such change of {bank.root}: {reason}; name a commit of this clone, "
            "or drop --mutants-since"
        ) from error
    return said.stdout.splitlines()
