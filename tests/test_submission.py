"""A candidate's file is read once, whole or not at all, and refused with a reason and a remedy."""

import hashlib
import os
from pathlib import Path

import pytest

from mha_judge.errors import SubmissionUnreadable
from mha_judge.submission import MAX_BYTES, Submission


def written(folder: Path, data: bytes, name: str = "sdpa.py") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_the_bytes_are_hashed_and_the_text_is_exact(tmp_path):
    data = "x = 'é漢'\r\n".encode()

    submission = Submission.read(written(tmp_path, data))

    assert submission.source == "x = 'é漢'\r\n"
    assert submission.sha256 == hashlib.sha256(data).hexdigest()


def test_a_byte_order_mark_is_no_part_of_the_source(tmp_path):
    submission = Submission.read(written(tmp_path, b"\xef\xbb\xbfx = 1\n"))

    assert submission.source == "x = 1\n"


@pytest.mark.parametrize(
    "line",
    [
        b"# coding: utf-8",
        b"# vim: fileencoding=utf-8",
        b"# -*- coding: UTF8 -*-",
    ],
)
def test_a_line_that_declares_utf_8_is_welcome(tmp_path, line):
    assert Submission.read(written(tmp_path, line + b"\nx = 1\n")).source.endswith("x = 1\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty; write an answer first"),
        (b" \n\t\r\n", "is empty"),
        (b"x = 1\n" + b"#" * MAX_BYTES, "larger than 256 KiB"),
        (b"\x80\x03pickle", r"not UTF-8 text \(byte 0\); save it as UTF-8"),
        (b"x = '\xe9'\n", r"not UTF-8 text \(byte 5\)"),
        ("x = 1\n".encode("utf-16"), "not UTF-8"),
        (b"x = '\xed\xa0\x80'\n", "not UTF-8"),
        (b"x = 1\0\n", "holds NUL bytes"),
        (b"# coding: latin-1\nx = 1\n", "declares the encoding iso-8859-1"),
        (b"\n# coding: utf-7\nx = 1\n", "declares the encoding utf-7"),
        (b"# coding: klingon\nx = 1\n", "remove the coding line"),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "remove the coding line"),
    ],
)
def test_what_is_not_utf_8_source_of_a_decent_size_is_refused(tmp_path, data, message):
    path = written(tmp_path, data)

    with pytest.raises(SubmissionUnreadable, match=message) as raised:
        Submission.read(path)

    assert str(path) in str(raised.value)
    assert raised.value.exit_code == 2


def test_a_file_of_exactly_the_bound_is_read(tmp_path):
    assert len(Submission.read(written(tmp_path, b"#" * MAX_BYTES)).source) == MAX_BYTES


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(SubmissionUnreadable, match="no such file; check the path"):
        Submission.read(tmp_path / "missing.py")


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(SubmissionUnreadable, match="is a directory; name the Python file in it"):
        Submission.read(tmp_path)


@pytest.mark.parametrize("target", ["there.py", "nowhere.py"])
def test_a_symbolic_link_is_refused_wherever_it_leads(tmp_path, target):
    written(tmp_path, b"x = 1\n", "there.py")
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / target)

    with pytest.raises(SubmissionUnreadable, match="is a symbolic link; name the file itself"):
        Submission.read(link)


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path):
    path = tmp_path / "fifo.py"
    os.mkfifo(path)

    with pytest.raises(SubmissionUnreadable, match="not a regular file"):
        Submission.read(path)


def test_an_endless_device_is_refused():
    with pytest.raises(SubmissionUnreadable, match="not a regular file"):
        Submission.read(Path("/dev/zero"))


def test_a_path_through_a_file_is_refused(tmp_path):
    path = written(tmp_path, b"x = 1\n")

    with pytest.raises(SubmissionUnreadable, match="cannot be opened"):
        Submission.read(path / "inner.py")
