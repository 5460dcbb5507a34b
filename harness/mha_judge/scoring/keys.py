"""What a verdict depends on, in one hash: where it is the same, nothing is graded again.

What may matter counts: a grade too many costs seconds, and a stale verdict is a wrong one.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path, PurePath

from mha_judge.bank import VOCABULARY, Bank
from mha_judge.scoring.answers import CandidateFile

_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = ("torch", "numpy")


class Keys:
    """Gives each answer its key, under one state of judge, bank and sandbox options."""

    def __init__(self, bank: Bank, sandbox: str) -> None:
        """Read what all answers have in common.

        Args:
            bank: The problems.
            sandbox: How answers are confined, as a text: fewer processors can mean a timeout.
        """
        self._bank = bank
        self._files = _below(bank.root, "problems", "graders", "reference")
        code = [file for file in _below(_PACKAGE, ".") if file.suffix == ".py"]
        words = repr(bank.vocabulary())  # of which the built-in bank has a part
        self.judge = _hash([words, *_contents(_PACKAGE, code)])
        """Hash of the judge's code, and of the words by which it knows names."""
        self._shared = _hash([sandbox, *versions().values(), self.judge])
        self._problems: dict[str, str] = {}

    def of(self, answer: CandidateFile) -> str:
        """Return the hash of judge, sandbox options, problem and answer.

        Raises:
            BankError: If the problem has no grader.
        """
        problem, submission = answer.problem, answer.submission
        source = submission.sha256 if submission else answer.unreadable
        return _hash([self._shared, problem, self.of_problem(problem), source])

    def of_problem(self, problem: str) -> str:
        """Return the hash of a problem's files, by content and place in the bank.

        Raises:
            BankError: If the problem has no grader.
        """
        if problem not in self._problems:
            self._problems[problem] = self._hash_of(problem)
        return self._problems[problem]

    def of_problems(self, problems: Iterable[str]) -> str:
        """Return the hash of some problems' files.

        Raises:
            BankError: If one has no grader.
        """
        return _hash(map(self.of_problem, problems))

    def _hash_of(self, problem: str) -> str:
        grader = self._bank.grader(problem).name
        files = [file for file in self._files if self._matters(file, problem, grader)]
        return _hash(_contents(self._bank.root, files))

    def _matters(self, file: PurePath, problem: str, grader: str) -> bool:
        match file.parts:
            case ("problems", name) if name == VOCABULARY:
                return True
            case ("problems", folder, *_):  # texts and starter are for people
                return folder == problem and file.suffix != ".md" and file.name != "starter.py"
            case ("graders", *_):  # what is no grader, graders may share
                return file.name == grader or not file.name.startswith("test_")
            case ("reference", "mutants" | "agreement" | "hints", *_):  # they judge nobody
                return False
            case ("reference", "mistakes", first, *_):  # a folder or a file for each problem
                owner = first.partition(".")[0]
                return owner == problem or owner not in self._bank.ids
        return True  # a grader may use other problems' references


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that compute, by name."""
    return {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in _LIBRARIES},
    }


def _below(root: Path, *folders: str) -> list[PurePath]:
    """Return the places of all files in some folders, but for caches and editors' hidden files."""
    paths = (path for name in folders for path in (root / name).rglob("*") if path.is_file())
    places = (path.relative_to(root) for path in paths)
    return sorted(place for place in places if not _is_hidden(place))


def _is_hidden(place: PurePath) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in place.parts)


def _contents(root: Path, places: Iterable[PurePath]) -> Iterator[str | bytes]:
    for place in places:
        yield place.as_posix()
        yield (root / place).read_bytes()


def _hash(parts: Iterable[str | bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))  # where a part ends must count as well
        digest.update(data)
    return digest.hexdigest()
