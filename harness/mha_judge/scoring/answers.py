"""Whose answer to which problem a file is."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.bank.which_problem import ProblemUnknown, problem_of
from mha_judge.errors import SubmissionUnreadable, UsageError
from mha_judge.sanitising import clean_line
from mha_judge.scoring.models import LeftOut
from mha_judge.submission import Submission


@dataclass(frozen=True)
class CandidateFile:
    """A file that answers a problem, or the reason why it cannot be graded."""

    candidate: str
    problem: str
    path: Path
    submission: Submission | None
    unreadable: str = ""


@dataclass(frozen=True)
class HandedIn:
    """What lies under the paths that were named."""

    answers: list[CandidateFile]
    left_out: list[LeftOut]

    @property
    def candidates(self) -> list[str]:
        """Everyone who handed in something that may be an answer."""
        names = {answer.candidate for answer in self.answers}
        return sorted(names | {left.candidate for left in self.left_out if left.candidate})

    @property
    def problems(self) -> list[str]:
        return sorted({answer.problem for answer in self.answers})


def discover(paths: Sequence[Path], bank: Bank, default: str | None = None) -> HandedIn:
    """Return the answers under some files and folders.

    A folder inside a named folder is one candidate's, and so is a named folder in which a file is
    named after a problem. Any other file directly in a named folder is a candidate's of its own.

    Args:
        paths: Files and folders.
        bank: Whose problems can be answered.
        default: The problem of files that do not say which.

    Raises:
        UsageError: If a path does not exist, there is no answer, or two candidates have one name.
    """
    answers: list[CandidateFile] = []
    left_out: list[LeftOut] = []
    seen: set[Path] = set()
    for candidate, path, why_not in _files(paths, bank):
        if path.absolute() in seen:
            continue
        seen.add(path.absolute())
        found = (
            LeftOut(candidate=candidate, path=clean_line(str(path)), reason=why_not)
            if why_not
            else _answer(candidate, path, bank, default)
        )
        if isinstance(found, CandidateFile):
            answers.append(found)
        else:
            left_out.append(found)
    if not answers:
        where = ", ".join(str(path) for path in paths)
        why = "".join(f"\n  {one.path}: {one.reason}" for one in left_out)
        raise UsageError(f"no answer found in {where}; see `mha-judge score --help`{why}")
    answers.sort(key=lambda answer: (answer.candidate, answer.problem))
    return HandedIn(_one_each(answers), left_out)


def candidate_of(path: Path, bank: Bank) -> str:
    """Return whose a file is that is named by itself: its folder's, or its own name."""
    return _name(path.absolute().parent if _named(path, bank) else path)


def _files(paths: Iterable[Path], bank: Bank) -> Iterator[tuple[str, Path, str]]:
    """Yield the candidate, each of its files, and why the file cannot be an answer."""
    for path in paths:
        if not os.path.lexists(path):
            raise UsageError(f"{path}: there is no such file or folder; check the path")
        if not path.is_dir():
            yield candidate_of(path, bank), path, ""
            continue
        entries = _entries(path)
        one = any(_named(entry, bank) for entry in entries if not entry.is_dir())
        for entry in entries:
            if not entry.is_dir():
                if entry.suffix == ".py":
                    yield _name(path.resolve() if one else entry), entry, ""
            elif entry.is_symlink():  # it could lead anywhere, to the references too
                yield _name(entry), entry, "is a symbolic link to a folder; name the folder itself"
            else:
                files = [f for f in _entries(entry) if f.suffix == ".py" and not f.is_dir()]
                yield from ((_name(entry), file, "") for file in files)
                if not files:
                    yield _name(entry), entry, "holds no Python file"


def _entries(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be listed ({error.strerror}); check its permissions"
        ) from error
    return [entry for entry in entries if entry.name[0] not in "._"]


def _name(path: Path) -> str:
    return clean_line(path.stem if path.suffix == ".py" else path.name, 200)


def _named(path: Path, bank: Bank) -> str | None:
    """Return the problem that a file is named after."""
    name = path.stem.lower().replace("_", "-")
    return name if path.suffix == ".py" and name in bank.ids else None


def _answer(candidate: str, path: Path, bank: Bank, default: str | None) -> CandidateFile | LeftOut:
    def left_out(reason: str, whose: str | None = candidate) -> LeftOut:
        return LeftOut(candidate=whose, path=clean_line(str(path)), reason=clean_line(reason))

    try:
        submission = Submission.read(path)
    except SubmissionUnreadable as error:
        problem = _named(path, bank) or default
        if problem is None:
            return left_out(str(error))
        return CandidateFile(candidate, problem, path, None, clean_line(str(error)))
    try:
        problem = problem_of(submission, bank)
    except ProblemUnknown as error:
        if default is not None:
            problem = default
        elif error.possible:
            may = " or ".join(error.possible)
            return left_out(f"may answer {may}; say which with `# problem: ID` or --problem")
        else:
            return left_out("defines nothing that a problem asks for", whose=None)
    except UsageError as error:
        return left_out(str(error))
    return CandidateFile(candidate, problem, path, submission)


def _one_each(answers: list[CandidateFile]) -> list[CandidateFile]:
    """Return one answer for each candidate and problem; which of two is meant cannot be guessed."""
    groups: dict[tuple[str, str], list[CandidateFile]] = defaultdict(list)
    for answer in answers:
        groups[answer.candidate, answer.problem].append(answer)
    chosen = []
    for (candidate, problem), group in groups.items():
        files = " and ".join(clean_line(str(answer.path)) for answer in group)
        if len({answer.path.parent for answer in group}) > 1:
            raise UsageError(
                f"{files} are both {candidate}'s answer to {problem}; give them different names"
            )
        first = group[0]
        if len(group) > 1:
            message = f"{files} both answer {problem}; hand in one"
            first = CandidateFile(candidate, problem, first.path, None, message)
        chosen.append(first)
    return chosen
