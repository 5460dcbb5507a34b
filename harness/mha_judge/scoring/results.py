"""The results file: a line of JSON for each answer, on disk before the next one counts."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from mha_judge.errors import UsageError
from mha_judge.scoring.models import Result
from mha_judge.version import __version__


class Head(BaseModel):
    """The first line: what all results of the file share."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["run"] = "run"
    schema_version: Literal[1] = 1
    version: str = __version__
    seed: int


class Results:
    """The file, open for this run alone."""

    def __init__(self, path: Path, descriptor: int, head: Head, known: list[Result]) -> None:
        self._path = path
        self._descriptor = descriptor
        self.seed = head.seed
        self.known = {(r.candidate, r.problem): r for r in known}
        """The last result of each candidate and problem."""

    @classmethod
    def open(cls, path: Path, *, resume: bool, seed: int | None, fresh_seed: int) -> Self:
        """Start a file, or go on with one.

        Args:
            path: The file.
            resume: Go on with what is there; without it a file that holds something is refused.
            seed: The seed asked for; None takes that of the file, else `fresh_seed`.
            fresh_seed: The seed of a new file.

        Raises:
            UsageError: If the file cannot be used so.
        """
        descriptor = _locked(path)
        try:
            head, known, end = _read(path, descriptor)
            if not known and not resume:  # as an attempt leaves it that could not begin
                head, end = None, 0
            if head is not None and not resume:
                raise UsageError(f"{path} holds results; pass --resume to go on, or --results PATH")
            if head is not None and seed not in (None, head.seed):
                raise UsageError(f"{path} has the seed {head.seed}; leave out --seed to go on")
            os.ftruncate(descriptor, end)  # a line that was cut short was never a result
            os.lseek(descriptor, end, os.SEEK_SET)
            if head is None:
                head = Head(seed=fresh_seed if seed is None else seed)
                _append(descriptor, head)
                _sync_folder(path)
        except OSError as error:
            os.close(descriptor)
            raise UsageError(
                f"{path} cannot be written: {error.strerror}; pass --results PATH"
            ) from error
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor, head, known)

    def add(self, result: Result) -> None:
        """Keep a result; it is on disk when this returns.

        Raises:
            UsageError: If it cannot be written.
        """
        try:
            _append(self._descriptor, result)
        except OSError as error:
            raise UsageError(
                f"{self._path} cannot be written ({error.strerror}); correct that, then --resume"
            ) from error
        self.known[result.candidate, result.problem] = result

    def close(self) -> None:
        os.close(self._descriptor)


def _locked(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not block
    try:
        descriptor = os.open(path, flags, 0o644)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be opened: {error.strerror}; pass --results PATH"
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{path} is not a regular file; pass --results PATH")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise UsageError(f"{path} is in use by another run; wait for it, or kill it") from error
    return descriptor


def _read(path: Path, descriptor: int) -> tuple[Head | None, list[Result], int]:
    """Return head and results, and where the last whole line ends."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        data = file.read()
    end = data.rfind(b"\n") + 1
    head: Head | None = None
    known: list[Result] = []
    for number, line in enumerate(data[:end].splitlines(), 1):
        try:
            if head is None:
                head = Head.model_validate_json(line)
            else:
                known.append(Result.model_validate_json(line))
        except ValidationError as error:
            raise UsageError(
                f"{path}, line {number} is not a result; remove the line, or pass --results PATH"
            ) from error
    if head is None and end == 0 and not b'{"kind":"run"'.startswith(data[:13]):
        raise UsageError(f"{path} is not a results file; pass --results PATH")
    return head, known, end


def _append(descriptor: int, line: BaseModel) -> None:
    left = memoryview(line.model_dump_json().encode() + b"\n")
    while left:
        left = left[os.write(descriptor, left) :]
    os.fsync(descriptor)


def _sync_folder(path: Path) -> None:
    """Make the file's name durable too."""
    folder = os.open(path.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
