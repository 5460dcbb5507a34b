"""Evidence bundles: what is packed is read again, and anything else is refused in one sentence."""

import hashlib
import io
import json
import struct
import zipfile
from dataclasses import replace

import pytest

from mha_judge.errors import UsageError
from mha_judge.packet import bundle
from mha_judge.packet.regrade import compared
from mha_judge.submission import Submission

from .conftest import ENVIRONMENT


@pytest.fixture
def packed(make_answer):
    return bundle.pack("alice", [make_answer(failed=["scale"], mistakes=["no-scale"])])


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a bundle of some bytes."""

    def of(data):
        path = tmp_path / "alice.zip"
        path.write_bytes(data)
        return bundle.read(path)

    return of


def members(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(contents, names=None):
    """Return a zip; `names` puts names in place of others, of the same length, unchecked."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    data = file.getvalue()
    for old, new in (names or {}).items():
        assert len(old) == len(new)
        data = data.replace(old.encode(), new.encode())
    return data


def with_manifest(packed, **fields):
    contents = members(packed)
    manifest = json.loads(contents["manifest.json"]) | fields
    return zipped({**contents, "manifest.json": json.dumps(manifest)})


def vouched(packed, name, data):
    """Return a bundle whose manifest vouches for other bytes of a member."""
    contents = members(packed)
    manifest = json.loads(contents["manifest.json"])
    manifest["sha256"][name] = hashlib.sha256(data).hexdigest()
    return zipped({**contents, name: data, "manifest.json": json.dumps(manifest)})


def in_headers(packed, offset_local, offset_central, value):
    """Return a zip with a field of two bytes changed in every header."""
    data = bytearray(packed)
    for signature, offset in ((b"PK\x03\x04", offset_local), (b"PK\x01\x02", offset_central)):
        place = data.find(signature)
        while place >= 0:
            struct.pack_into("<H", data, place + offset, value)
            place = data.find(signature, place + 4)
    return bytes(data)


def declaring(packed, name, size):
    """Return a zip that declares another size of a member, in the list at its end."""
    data = bytearray(packed)
    place = data.rfind(name.encode()) - 46
    assert data[place : place + 4] == b"PK\x01\x02"
    struct.pack_into("<L", data, place + 24, size)
    return bytes(data)


def test_a_bundle_holds_what_was_packed(make_answer, read):
    answer = make_answer()

    found = read(bundle.pack("张伟 <b>", [answer]))

    [one] = found.answers
    assert found.candidate == "张伟 <b>"
    assert one.submission.source == answer.submission.source
    assert one.report == answer.report
    assert one.entry.graded_with == ENVIRONMENT


def test_a_file_that_begins_with_a_mark_is_packed_byte_for_byte(make_answer, read, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    answer = make_answer()
    submission = Submission.read(path)
    about = answer.report.submission.model_copy(update={"sha256": submission.sha256})
    report = answer.report.model_copy(update={"submission": about})

    packed = bundle.pack("a", [replace(answer, submission=submission, report=report)])

    assert members(packed)["sdpa/answer.py"] == path.read_bytes()
    assert read(packed).answers[0].submission.source == "x = 1\r\n"


def test_the_same_answers_make_the_same_bytes(make_answer):
    assert bundle.pack("a", [make_answer()]) == bundle.pack("a", [make_answer()])


def test_without_a_source_there_is_no_bundle(make_answer):
    assert bundle.pack("a", [replace(make_answer(), submission=None)]) is None


BAD = {
    "no zip": (lambda p: b"hello", "is not a zip file"),
    "empty": (lambda p: b"", "is not a zip file"),
    "cut short": (lambda p: p[:-100], "is cut short or damaged"),
    "bytes damaged": (
        lambda p: p[:60] + bytes(b ^ 0xFF for b in p[60:90]) + p[90:],
        "is cut short or damaged",
    ),
    "too large": (lambda p: p + bytes(bundle.MAX_BYTES), "it is larger than 16 MiB"),
    "another hash": (
        lambda p: zipped({**members(p), "sdpa/answer.py": b"x = 2\n"}),
        "sdpa/answer.py does not have the hash",
    ),
    "a member too many": (
        lambda p: zipped({**members(p), "sdpa/more.py": b""}),
        "does not name sdpa/more.py",
    ),
    "a member too few": (
        lambda p: zipped({k: v for k, v in members(p).items() if k != "sdpa/answer.py"}),
        "'sdpa/answer.py' is not in it",
    ),
    "a member twice": (
        lambda p: zipped({**members(p), "sdpa/answer.pz": b""}, {"answer.pz": "answer.py"}),
        "is there twice",
    ),
    "above": (
        lambda p: zipped({**members(p), "../evil.py": b""}),
        "'../evil.py' is not a place inside it",
    ),
    "absolute": (
        lambda p: zipped({**members(p), "Xetc/evil.py": b""}, {"Xetc/evil": "/etc/evil"}),
        "'/etc/evil.py' is not a place inside it",
    ),
    "above, further down": (
        lambda p: zipped({**members(p), "a/../../b": b""}),
        "is not a place inside it",
    ),
    "a backslash": (
        lambda p: zipped({**members(p), "aXb.py": b""}, {"aXb.py": "a\\b.py"}),
        "is not a place inside it",
    ),
    "no manifest": (
        lambda p: zipped({"sdpa/answer.py": b"x = 1\n"}),
        "it has no manifest.json",
    ),
    "a manifest that is no JSON": (
        lambda p: zipped({**members(p), "manifest.json": b"\xff{"}),
        "manifest.json is not a manifest",
    ),
    "a manifest of another version": (
        lambda p: with_manifest(p, schema_version=2),
        "is not a manifest (schema_version",
    ),
    "a manifest with another key": (
        lambda p: with_manifest(p, more=1),
        "is not a manifest (more",
    ),
    "a manifest of nothing": (
        lambda p: with_manifest(p, answers=[]),
        "is not a manifest (answers",
    ),
    "a manifest that names another seed": (
        lambda p: with_manifest(
            p, answers=[json.loads(members(p)["manifest.json"])["answers"][0] | {"seed": 8}]
        ),
        "sdpa/report.json is not about sdpa/answer.py",
    ),
    "an answer twice": (
        lambda p: with_manifest(p, answers=json.loads(members(p)["manifest.json"])["answers"] * 2),
        "has two answers to sdpa",
    ),
    "a report that is none": (
        lambda p: vouched(p, "sdpa/report.json", b"{}"),
        "sdpa/report.json is no report of this version",
    ),
    "a report of another source": (
        lambda p: vouched(p, "sdpa/answer.py", b"x = 2\n"),
        "sdpa/report.json is not about sdpa/answer.py",
    ),
    "encrypted": (lambda p: in_headers(p, 6, 8, 1), "is encrypted"),
    "another compression": (lambda p: in_headers(p, 8, 10, 14), "is packed in a way"),
    "a member that is a bomb": (
        lambda p: zipped({**members(p), "zeros": bytes(bundle.MAX_MEMBER_BYTES + 1)}),
        "'zeros' would be larger than 8 MiB",
    ),
    "a whole that is a bomb": (
        lambda p: zipped({f"zeros{n}": bytes(bundle.MAX_MEMBER_BYTES) for n in range(9)}),
        "unpacked it would be larger than 64 MiB",
    ),
    "a bomb that lies about its size": (
        lambda p: declaring(
            zipped({**members(p), "zeros": bytes(bundle.MAX_MEMBER_BYTES + 1)}), "zeros", 10
        ),
        "'zeros' is cut short or damaged",
    ),
    "a member that says it is larger": (
        lambda p: declaring(p, "sdpa/answer.py", 5_000),
        "'sdpa/answer.py' is ",
    ),
    "too many members": (
        lambda p: zipped({f"m{n}": b"" for n in range(bundle.MAX_MEMBERS + 1)}),
        "it has more than 500 members",
    ),
}


@pytest.mark.parametrize(("spoil", "why"), BAD.values(), ids=BAD.keys())
def test_a_bad_bundle_is_refused_with_the_reason(packed, read, spoil, why):
    with pytest.raises(UsageError) as caught:
        read(spoil(packed))

    message = str(caught.value)
    assert why in message
    assert "alice.zip is refused: " in message
    assert message.endswith("; ask for the bundle again")
    assert "\n" not in message


def test_every_cut_of_a_bundle_is_refused(packed, read):
    for end in range(0, len(packed), 97):
        with pytest.raises(UsageError, match="is refused"):
            read(packed[:end])


def test_every_bundle_with_a_byte_changed_is_refused_or_the_same(packed, read):
    """What is accepted must say what the bundle said; only fields that nobody reads may differ."""
    original = read(packed)
    for place in range(0, len(packed), 13):
        data = bytearray(packed)
        data[place] ^= 0x41
        try:
            found = read(bytes(data))
        except UsageError:
            continue
        assert found == original, place


class TestCompared:
    def one(self, read, packed):
        return read(packed).answers[0]

    def test_the_same_grade_agrees_and_nothing_has_changed(self, packed, read):
        one = self.one(read, packed)

        found = compared(one, one.report, ENVIRONMENT)

        assert (found.agrees, found.differences, found.changes) == (True, [], [])

    def test_what_differs_is_told(self, packed, read, make_answer):
        one = self.one(read, packed)

        found = compared(one, make_answer().report, ENVIRONMENT)

        told = {d.what: (d.then, d.now) for d in found.differences}
        assert not found.agrees
        assert told == {
            "verdict": ("rejected", "accepted"),
            "score": ("80", "100"),
            "strict score": ("60.5", "100"),
            "check scale": ("failed", "passed"),
            "diagnoses": ("no-scale", "none"),
        }

    @pytest.mark.parametrize(
        ("field", "why"),
        [
            ("problem_files", "the problem's files are others"),
            ("judge_version", "the judge's version was 0.1.0, and is other"),
            ("judge_files", "the judge's code is other code"),
            ("python", "the version of python was 3, and is other"),
            ("torch", "the version of torch was 2, and is other"),
            ("numpy", "the version of numpy was 1, and is other"),
        ],
    )
    def test_what_changed_around_it_is_told(self, packed, read, field, why):
        one = self.one(read, packed)

        found = compared(one, one.report, ENVIRONMENT.model_copy(update={field: "other"}))

        [change] = found.changes
        assert found.agrees
        assert why in change

    @pytest.mark.parametrize("field", ["device", "instruction_set"])
    def test_another_machine_is_told(self, packed, read, field):
        one = self.one(read, packed)

        found = compared(one, one.report.model_copy(update={field: "other"}), ENVIRONMENT)

        assert len(found.changes) == 1
        assert "and is other" in found.changes[0]

    def test_a_report_of_an_earlier_run_does_not_say_what_it_depends_on(self, make_answer, read):
        one = self.one(read, bundle.pack("a", [replace(make_answer(), graded_with=None)]))

        [change] = compared(one, one.report, ENVIRONMENT).changes

        assert "does not say which judge" in change
