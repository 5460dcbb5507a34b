"""The candidate's file: read once, bounded, hashed; those bytes are what is graded."""

from __future__ import annotations

import codecs
import errno
import hashlib
import io
import os
import re
import stat
import tokenize
from dataclasses import dataclass
from pathlib import Path

from mha_judge.errors import SubmissionUnreadable

MAX_BYTES = 256 * 1024
TEXT = Path("answer.py")
"""What the file of an answer is called that is no file."""
_PROBLEM_LINE = re.compile(r"^#[ \t]*problem:[ \t]*([A-Za-z0-9_-]{1,60})[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True)
class Submission:
    """The text of one file, and where it came from."""

    path: Path
    source: str
    sha256: str

    @classmethod
    def read(cls, path: Path) -> Submission:
        """Read a file.

        Raises:
            SubmissionUnreadable: If it is missing, not a regular file, empty, too large, or not
                UTF-8 text.
        """
        return cls.of_bytes(path, _read_regular(path))

    @classmethod
    def of_bytes(cls, path: Path, data: bytes) -> Submission:
        """Return the submission of a file's bytes; the file itself is not opened.

        Raises:
            SubmissionUnreadable: If they are too many or none, or not UTF-8 text.
        """
        if len(data) > MAX_BYTES:
            raise SubmissionUnreadable(
                f"{_named(path)} is larger than {MAX_BYTES // 1024} KiB; hand in only the answer"
            )
        if not data.strip():
            raise SubmissionUnreadable(
                f"{_named(path)} is empty; write an answer first; "
                "`mha-judge start ID` makes a starter"
            )
        return cls(path, _decode(path, data), hashlib.sha256(data).hexdigest())

    @classmethod
    def of_text(cls, text: str) -> Submission:
        """Return the submission of a text that somebody handed in as such.

        Raises:
            SubmissionUnreadable: If it is too long or empty, or cannot be encoded.
        """
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise SubmissionUnreadable(f"the text is not Unicode: {error.reason}") from error
        return cls.of_bytes(TEXT, data)

    @classmethod
    def of(cls, source: str, name: str) -> Submission:
        """Return the submission of a text that was never a file of its own."""
        return cls(Path(name), source, hashlib.sha256(source.encode()).hexdigest())

    @property
    def data(self) -> bytes:
        """The file's bytes: its text, after the mark that some editors put first."""
        data = self.source.encode()
        same = hashlib.sha256(data).hexdigest() == self.sha256
        return data if same else codecs.BOM_UTF8 + data

    @property
    def stated_problem(self) -> str | None:
        """What stands on the `# problem:` line, if there is one."""
        stated = _PROBLEM_LINE.search(self.source)
        return stated.group(1) if stated else None


def _named(path: Path) -> str:
    """Return what a message begins with: whoever handed in a text knows of no file."""
    return "the text" if path is TEXT else f"{path}:"


def _read_regular(path: Path) -> bytes:
    def refuse(what: str, remedy: str) -> SubmissionUnreadable:
        return SubmissionUnreadable(f"{path}: {what}; {remedy}")

    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO must not block
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError as error:
        raise refuse("there is no such file", "check the path") from error
    except ValueError as error:  # NUL, or what is no Unicode
        raise refuse(
            "is no path", "check it; a text of one line must end with a line break"
        ) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise refuse("is a symbolic link", "name the file itself") from error
        raise refuse(
            f"cannot be opened ({error.strerror})", "check the path and its permissions"
        ) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise refuse("is a directory", "name the Python file in it")
        raise refuse("is not a regular file", "name a Python file")
    try:
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:  # files of /proc are regular, and some cannot be read
        raise refuse(f"cannot be read ({error.strerror})", "name a Python file") from error


def _decode(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SubmissionUnreadable(
            f"{_named(path)} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from error
    if "\0" in text:
        raise SubmissionUnreadable(f"{_named(path)} holds NUL bytes; hand in Python source")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise SubmissionUnreadable(
            f"{_named(path)} cannot be decoded: {error}; remove the coding line"
        ) from error
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
        raise SubmissionUnreadable(
            f"{_named(path)} declares the encoding {encoding}; save it as UTF-8"
        )
    return text
