"""What is tried if there is no time for everything: a part, the next one with each commit."""

from __future__ import annotations

import re
import subprocess
import tempfile
import tomllib
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha_judge.bank import Bank, module_name
from mha_judge.certify.affected import affected_checks
from mha_judge.errors import BankError, UsageError

PARTS = 11
"""The number of parts into which everything is cut that need not be tried each time.

A change may have several commits. As eleven is prime, eleven changes with the same number of
commits see all parts, unless that number is a multiple of eleven.
"""
RARELY = 3 * PARTS
"""In how many turns each mutant has its turn that is listed as accepted: it is asked everything."""
_SHARED = re.compile(r"^from graders\.shared import (.+)$", re.MULTILINE)
"""How a grader imports checks from modules that several graders share."""
_FOR_READERS = {"title", "title_zh", "track", "level", "minutes", "points", "requires", "after"}
"""What in a contract says nothing of answers."""
_MOST_CHECKS = 0.25
"""If a change concerns more of a problem's checks, everything of it is tried."""


@dataclass(frozen=True)
class Draw:
    """All that belongs to the problems that have changed, and a part of what belongs to others."""

    turn: int
    """The number of commits before this one; it selects the part, the next commit the next part."""
    since: str
    """The revision that changes are counted from; may be empty."""
    changed: tuple[str, ...]
    """Problems for which everything is tried."""
    mistakes: frozenset[tuple[str, str]]
    """Problem and id of every mistake that has changed, or whose check has, or that is new."""
    rechecked: frozenset[str]
    """Problems some of whose checks have changed: their submissions are tried."""
    touched: frozenset[str]
    """Every file that has changed, by its path from the bank."""
    note: str = ""
    """What the history could not tell, for the report."""

    @property
    def part(self) -> int:
        return self.turn % PARTS + 1

    def takes(self, problem_id: str, name: str, parts: int = PARTS, part: int = 0) -> bool:
        """Return whether a problem's item is tried now; each is tried once in `parts` turns.

        A mistake that has changed is always tried. `part` separates items of one name: each is
        tried in another turn.
        """
        return (
            problem_id in self.changed
            or (problem_id, name) in self.mistakes
            or self.draws(f"{problem_id}/{name}", parts, part)
        )

    def draws(self, name: str, parts: int = PARTS, part: int = 0) -> bool:
        """Return whether it is this name's turn, whatever has changed."""
        return (zlib.crc32(name.encode()) + part + self.turn) % parts == 0

    def __str__(self) -> str:
        since, again = (f" since {self.since[:10]}", f"SINCE={self.since[:10]} ")
        if not self.since:
            since = again = ""
        mistakes = sum(problem_id not in self.changed for problem_id, _ in self.mistakes)
        return (
            f"{self.note}Tried: all of what has changed{since} ({_listed(self.changed)}; "
            f"mistakes of others: {mistakes}), and part {self.part} of {PARTS} of what "
            "belongs to the other problems. "
            f"The same again: make check {again}TURN={self.turn}; all of it: make prove."
        )


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids) or "none"


def draw(bank: Bank, ids: Sequence[str], since: str | None, turn: int | None) -> Draw:
    """Return what is tried of the working tree.

    A change of the engine may concern every problem. So each commit takes the part after that of
    the commit before it, and everything gets its turn; the same commit always takes the same part.

    Args:
        bank: Holds the problems.
        ids: The problems that are asked for.
        since: The revision that changes are counted from; None: nothing counts as changed.
        turn: Repeats the draw of another commit; None: this one's.

    Raises:
        UsageError: If the bank lies in no checkout, or git does not know the revision.
    """
    touched: frozenset[str] = frozenset()
    if since is not None:
        since = _git(bank, "rev-parse", "--verify", "--end-of-options", f"{since}^{{commit}}")[0]
        changes = _git(bank, "diff", "--name-only", "--relative", since, "--", ".")
        added = _git(bank, "ls-files", "--others", "--exclude-standard", "--", ".")
        touched = frozenset([*changes, *added])
    note = ""
    if turn is None:
        turn, note = _turn(bank)
    changed: tuple[str, ...] = ()
    mistakes: frozenset[tuple[str, str]] = frozenset()
    rechecked: frozenset[str] = frozenset()
    if since is not None and touched:
        with _at(bank, since) as before:
            checks = {one: _changed_checks(bank, before, one, touched) for one in ids}
            changed = tuple(one for one in ids if checks[one] is None)
            rechecked = frozenset(one for one in ids if checks[one])
            mistakes = _changed_mistakes(bank, before, ids, touched) | {
                (one, mistake.id)
                for one in rechecked
                for mistake in bank.mistakes(one)
                if mistake.killed_by in (checks[one] or ())
            }
    return Draw(turn, since or "", changed, mistakes, rechecked, touched, note)


def _turn(bank: Bank) -> tuple[int, str]:
    """Return how many commits came before this one, and what to say if that cannot be known."""
    if _git(bank, "rev-parse", "--is-shallow-repository") == ["true"]:
        head = _git(bank, "rev-parse", "HEAD")[0]
        said = "The clone is shallow, so that the commit's hash says which part comes. "
        return int(head[:6], 16), said
    return int(_git(bank, "rev-list", "--count", "--first-parent", "HEAD")[0]), ""


@contextmanager
def _at(bank: Bank, revision: str) -> Iterator[Bank]:
    """Give the bank as it was at a revision."""
    with tempfile.TemporaryDirectory() as then:
        files = subprocess.run(
            ["git", "-C", bank.root, "archive", revision], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", then], check=True, input=files.stdout)
        yield Bank.at(Path(then))


def _changed_checks(
    bank: Bank, before: Bank, problem_id: str, touched: frozenset[str]
) -> set[str] | None:
    """Return the checks of a problem that a change concerns; None if it concerns all of it."""
    name = module_name(problem_id)
    own = {
        f"problems/{problem_id}/problem.toml",
        f"problems/{problem_id}/questions.toml",
        f"reference/{name}.py",
        f"reference/mutants/{name}.toml",
    }
    if any(_asks(bank, path) != _asks(before, path) for path in own & touched):
        return None
    grader = bank.root / "graders" / f"test_{name}.py"
    text = grader.read_text(encoding="utf-8") if grader.is_file() else ""
    modules = [module for line in _SHARED.findall(text) for module in line.split(", ")]
    shared = [bank.root / "graders" / "shared" / f"{module}.py" for module in modules]
    if not {path.relative_to(bank.root).as_posix() for path in (grader, *shared)} & touched:
        return set()
    found = affected_checks(grader, shared, lambda path: before.root / path.relative_to(bank.root))
    if found is None or len(found[0]) > _MOST_CHECKS * found[1]:
        return None
    return found[0]


def _asks(bank: Bank, path: str) -> Any:
    """Return what a file asks of answers, without words for readers."""
    try:
        text = (bank.root / path).read_text(encoding="utf-8")
        if path.endswith("/problem.toml"):
            contract = tomllib.loads(text)
            return {key: value for key, value in contract.items() if key not in _FOR_READERS}
    except (OSError, tomllib.TOMLDecodeError):
        return None
    return text


def _changed_mistakes(
    bank: Bank, before: Bank, ids: Sequence[str], touched: frozenset[str]
) -> frozenset[tuple[str, str]]:
    """Return problem and id of each mistake that is not what it was before.

    It may be written in whatever file: problems share mistakes. What else belongs to a problem
    follows from its contract, grader and reference, whatever its mistakes are.
    """
    if not any(path.startswith("reference/mistakes") for path in touched):
        return frozenset()
    changed = {one: _mistakes_of(bank, one) - _mistakes_of(before, one) for one in ids}
    return frozenset((one, name) for one in ids for name, _ in changed[one])


def _mistakes_of(bank: Bank, problem_id: str) -> set[tuple[str, str]]:
    """Return id and all but the texts of a problem's mistakes; none if they cannot be read."""
    try:
        found = bank.mistakes(problem_id)
    except BankError:
        return set()
    texts = {"title", "explanation", "hint", "shared", "with_any"}
    return {(mistake.id, mistake.model_dump_json(exclude=texts)) for mistake in found}


def _git(bank: Bank, *arguments: str) -> list[str]:
    """Return the lines that git prints in the bank's folder."""
    try:
        said = subprocess.run(
            ["git", "-C", bank.root, *arguments], check=True, capture_output=True, text=True
        )
    except FileNotFoundError as error:
        raise UsageError(
            "git is needed to see what has changed; install it, or pass --turn alone"
        ) from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().partition("\n")[0]
        raise UsageError(
            f"git cannot tell what has changed in {bank.root}: {reason}; name a commit of this "
            "clone with --since, or pass --turn alone"
        ) from error
    return said.stdout.splitlines()
