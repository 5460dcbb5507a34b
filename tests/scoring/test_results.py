"""What is kept survives a torn line, and is never overwritten by accident."""

import errno
import os
from contextlib import closing
from pathlib import Path

import pytest

from mha_judge.errors import UsageError
from mha_judge.scoring.models import Fault, Result
from mha_judge.scoring.results import Results

RESULT = Result(
    candidate="alice",
    problem="sdpa",
    path="alice/sdpa.py",
    key="k",
    fault=Fault(kind="JudgeError", message="m", exit_code=3),
)


def opened(path, *, resume=False, seed=None, fresh_seed=7):
    return closing(Results.open(path, resume=resume, seed=seed, fresh_seed=fresh_seed))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "results.jsonl"
    with opened(path) as results:
        results.add(RESULT)
    return path


def test_results_and_seed_come_back(path):
    with opened(path, resume=True, fresh_seed=8) as results:
        assert (results.seed, results.known) == (7, {("alice", "sdpa"): RESULT})


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_torn_last_line_is_dropped_and_written_anew(path, cut):
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])

    with opened(path, resume=True) as results:
        known = dict(results.known)
        results.add(RESULT)

    assert known == {}
    assert path.read_bytes() == whole


def test_a_torn_first_line_is_a_fresh_start(path):
    path.write_bytes(path.read_bytes()[:20])

    with opened(path, resume=True, fresh_seed=9) as results:
        assert (results.seed, results.known) == (9, {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass --resume"),
        ({"resume": True, "seed": 8}, "has the seed 7"),
    ],
)
def test_results_are_never_mixed_or_lost(path, options, message):
    before = path.read_bytes()

    with pytest.raises(UsageError, match=message), opened(path, **options):
        pass

    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["my notes", "my notes\n", '{"kind":"run"}\n'])
def test_another_file_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "notes"
    path.write_text(text)

    with pytest.raises(UsageError, match="--results PATH"), opened(path, resume=True):
        pass

    assert path.read_text() == text


def test_a_broken_line_in_the_middle_is_named(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{}\n" + lines[1])

    with pytest.raises(UsageError, match="line 2 is not a result"), opened(path, resume=True):
        pass


def test_two_runs_do_not_share_a_file(path):
    with (
        opened(path, resume=True),
        pytest.raises(UsageError, match="in use by another run"),
        opened(path, resume=True),
    ):
        pass


def test_a_device_or_a_fifo_is_refused_at_once(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    for path in (fifo, Path("/dev/full"), Path("/dev/zero")):
        with pytest.raises(UsageError, match="not a regular file"), opened(path):
            pass


def test_a_full_disk_is_an_error_that_loses_nothing(path, monkeypatch):
    def full(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(path, resume=True) as results:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(UsageError, match="No space left on device"):
            results.add(RESULT.model_copy(update={"candidate": "bob"}))
        monkeypatch.undo()

    with opened(path, resume=True) as results:
        assert list(results.known) == [("alice", "sdpa")]


def test_a_full_disk_at_the_start_is_an_error_too(tmp_path, monkeypatch):
    def full(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with (
        pytest.raises(UsageError, match="No space left on device"),
        opened(tmp_path / "results.jsonl"),
    ):
        pass
