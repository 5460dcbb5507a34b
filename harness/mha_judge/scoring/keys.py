"""What a verdict depends on, in one hash: where it is the same, nothing is graded again."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from mha_judge import __version__
from mha_judge.bank import Bank
from mha_judge.scoring.answers import Answer


@functools.cache
def _of_problem(bank: Bank, problem: str) -> bytes:
    """Hash the problem's files by their content and place in the bank, wherever that lies."""
    root = bank.root
    files = [root / "problems" / problem / "problem.toml", bank.grader(problem)]
    files += (root / "reference").glob("*.py")  # a grader may use other problems' references
    files += (root / "reference" / "mistakes" / problem).rglob("*.py")
    digest = hashlib.sha256()
    for file in sorted(files):
        _add(digest, file.relative_to(root).as_posix().encode())
        _add(digest, _content(file))
    return digest.digest()


def key_of(answer: Answer, bank: Bank) -> str:
    """Return the hash of source, grader, references, mistakes, `problem.toml` and version.

    Raises:
        BankError: If the problem has no grader.
    """
    digest = hashlib.sha256()
    submission = answer.submission
    _add(digest, __version__.encode())
    _add(digest, answer.problem.encode())
    _add(digest, _of_problem(bank, answer.problem))
    _add(digest, (submission.sha256 if submission else answer.unreadable).encode())
    return digest.hexdigest()


def _content(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _add(digest: hashlib._Hash, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "big"))  # where a part ends must count as well
    digest.update(part)
