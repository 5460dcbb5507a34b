"""Evidence bundles: a zip of answers and reports, and a manifest that vouches for each of them.

A bundle may come from anyone. It is read in memory and never unpacked to disk; what it declares is
checked before it is believed, and no more is unpacked than is allowed.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mha_judge.bank.problem import Identifier
from mha_judge.errors import SubmissionUnreadable, UsageError
from mha_judge.packet.answers import Answer, Environment
from mha_judge.report.models import Report
from mha_judge.submission import Submission
from mha_judge.version import __version__

MAX_BYTES = 16 * 1024**2
"""Of the bundle itself."""
MAX_MEMBER_BYTES = 8 * 1024**2
"""Of one member, unpacked."""
MAX_UNPACKED_BYTES = 64 * 1024**2
"""Of all members, unpacked."""
MAX_MEMBERS = 500
MANIFEST = "manifest.json"
_WRITTEN_AT = (1980, 1, 1, 0, 0, 0)
_PLACE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")
_LISTED = b"PK\x01\x02"  # stands before each member in the list at the end
_ENCRYPTED = 0x1 | 0x40 | 0x2000  # flags of a member
_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Entry(_Model):
    """One answer in a bundle."""

    problem: Identifier
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    sandbox: str
    """The tier that was in force."""
    source: str
    """The member with the answer, byte for byte."""
    report: str
    """The member with the report, as JSON."""
    graded_with: Environment | None
    """Null for a report of an earlier run, which does not say it."""


class Manifest(_Model):
    """What is in a bundle."""

    kind: Literal["mha-judge evidence"] = "mha-judge evidence"
    schema_version: Literal[1] = 1
    version: str = __version__
    """Of the judge that wrote it."""
    candidate: Annotated[str, Field(max_length=1_000)]
    answers: Annotated[list[Entry], Field(min_length=1)]
    sha256: dict[str, Hash]
    """Of every other member, by its name."""


@dataclass(frozen=True)
class Bundled:
    """One answer as it was graded."""

    entry: Entry
    submission: Submission
    report: Report


@dataclass(frozen=True)
class Bundle:
    """A bundle whose members are what its manifest says."""

    candidate: str
    answers: list[Bundled]


def pack(candidate: str, answers: Sequence[Answer]) -> bytes | None:
    """Return the bundle of one candidate; None if no answer has both a source and a report.

    The same answers and reports give the same bytes.
    """
    members: dict[str, bytes] = {}
    entries = []
    for answer in answers:
        submission, report = answer.submission, answer.report
        if submission is None or report is None:
            continue
        entry = Entry(
            problem=answer.problem,
            seed=report.seed,
            sandbox=report.sandbox.tier,
            source=f"{answer.problem}/answer.py",
            report=f"{answer.problem}/report.json",
            graded_with=answer.graded_with,
        )
        entries.append(entry)
        members[entry.source] = submission.data
        members[entry.report] = report.model_dump_json(indent=2).encode() + b"\n"
    if not entries:
        return None
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    manifest = Manifest(candidate=candidate, answers=entries, sha256=hashes)
    return _zip({MANIFEST: manifest.model_dump_json(indent=2).encode() + b"\n", **members})


def read(path: Path) -> Bundle:
    """Return what is in a bundle.

    Raises:
        UsageError: If it is not a bundle, or not as it was written; one sentence says why.
    """
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file; check the path")
    try:
        members = _members(_opened(path))
        manifest = _manifest(members.pop(MANIFEST, None))
        _require_as_written(members, manifest)
        return Bundle(manifest.candidate, [_bundled(one, members) for one in manifest.answers])
    except _Refused as refused:
        raise UsageError(f"{path} is refused: {refused}; ask for the bundle again") from refused


class _Refused(Exception):
    """Why a bundle is not believed."""


_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError,
    RuntimeError, ValueError,
)  # fmt: skip
"""What zipfile raises when it meets nonsense."""


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _Refused(f"it cannot be read ({error.strerror})") from error
    if len(data) > MAX_BYTES:
        raise _Refused(f"it is larger than {_size(MAX_BYTES)}")
    if not data.startswith(b"PK\x03\x04"):
        raise _Refused("it is not a zip file")
    if data.count(_LISTED) > MAX_MEMBERS:  # before the list, which may be long, is taken apart
        raise _Refused(f"it has more than {MAX_MEMBERS} members")
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise _Refused("it is cut short or damaged") from error


def _members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return every member's bytes by its name."""
    infos = archive.infolist()
    _require_modest(infos)
    members: dict[str, bytes] = {}
    for info in infos:
        _require_plain(info)
        if info.orig_filename in members:
            raise _Refused(f"{info.orig_filename} is there twice")
        members[info.orig_filename] = _unpacked(archive, info)
    return members


def _require_modest(infos: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse what declares to be too much, before anything is unpacked."""
    for info in infos:
        if info.file_size > MAX_MEMBER_BYTES:
            raise _Refused(f"{_named(info)} would be larger than {_size(MAX_MEMBER_BYTES)}")
    if sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
        raise _Refused(f"unpacked it would be larger than {_size(MAX_UNPACKED_BYTES)}")


def _require_plain(info: zipfile.ZipInfo) -> None:
    """Refuse a member that is encrypted, packed in a way of its own, or outside the bundle."""
    if not _PLACE.fullmatch(info.orig_filename):
        raise _Refused(f"{_named(info)} is not a place inside it")
    if info.flag_bits & _ENCRYPTED:
        raise _Refused(f"{_named(info)} is encrypted")
    if info.compress_type not in _KINDS:
        raise _Refused(f"{_named(info)} is packed in a way that bundles are not")


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes, and no more of them than it declared."""
    try:
        with archive.open(info) as member:
            data = member.read(info.file_size + 1)
    except _BROKEN as error:
        raise _Refused(f"{_named(info)} is cut short or damaged") from error
    if len(data) != info.file_size:
        raise _Refused(f"{_named(info)} is not as large as it says")
    return data


def _manifest(data: bytes | None) -> Manifest:
    if data is None:
        raise _Refused(f"it has no {MANIFEST}")
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the whole file"
        raise _Refused(f"{MANIFEST} is not a manifest ({key}: {first['msg']})") from error


def _require_as_written(members: dict[str, bytes], manifest: Manifest) -> None:
    """Refuse members that the manifest does not name, or that are not what it vouches for."""
    for name in members:
        if name not in manifest.sha256:
            raise _Refused(f"{MANIFEST} does not name {name}")
    for name, expected in manifest.sha256.items():
        if name not in members:
            raise _Refused(f"{name!r} is not in it")
        if hashlib.sha256(members[name]).hexdigest() != expected:
            raise _Refused(f"{name} does not have the hash that {MANIFEST} gives it")
    problems = [entry.problem for entry in manifest.answers]
    for entry in manifest.answers:
        if problems.count(entry.problem) > 1:
            raise _Refused(f"{MANIFEST} has two answers to {entry.problem}")


def _bundled(entry: Entry, members: dict[str, bytes]) -> Bundled:
    for name in (entry.source, entry.report):
        if name not in members:
            raise _Refused(f"{name!r} is not in it")
    try:
        report = Report.model_validate_json(members[entry.report])
    except ValidationError as error:
        raise _Refused(f"{entry.report} is no report of this version") from error
    name = Path(report.submission.path).name or Path(entry.source).name
    try:
        submission = Submission.of_bytes(Path(name[-200:]), members[entry.source])
    except SubmissionUnreadable as error:
        raise _Refused(f"{entry.source} is no source ({error})") from error
    said = (report.problem, report.seed, report.sandbox.tier, report.submission.sha256)
    if said != (entry.problem, entry.seed, entry.sandbox, submission.sha256):
        raise _Refused(f"{entry.report} is not about {entry.source} as {MANIFEST} says")
    return Bundled(entry, submission, report)


def _zip(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, _WRITTEN_AT)
            info.create_system = 3  # the same bytes wherever it is written
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, compresslevel=9)
    return file.getvalue()


def _named(info: zipfile.ZipInfo) -> str:
    return repr(info.orig_filename[:200])


def _size(count: int) -> str:
    return f"{count // 1024**2} MiB"
