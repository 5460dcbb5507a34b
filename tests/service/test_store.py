"""Grades on disk: what is there after a crash, and what a file may be."""

import sqlite3
import time
from contextlib import closing

import pytest

from mha_judge.errors import UsageError
from mha_judge.service.models import Ask, Reason
from mha_judge.service.store import KeyTaken, Store, Stored

ASK = Ask(source="x = 1", problem="softmax", seed=1)


def stored(*ids):
    return [Stored(one, ASK) for one in ids]


@pytest.fixture
def store(tmp_path):
    with closing(Store(tmp_path / "deep" / "grades.sqlite")) as opened:
        yield opened


def test_what_was_added_is_there_after_the_process_has_gone(tmp_path):
    path = tmp_path / "grades.sqlite"
    first = Store(path)
    first.add(stored("a", "b"), "candidate", None, "")
    first.finish("a", Reason.VERDICT, "", "{}")
    for name in ("grades.sqlite", "grades.sqlite-wal"):  # as a crash would leave them
        (tmp_path / f"crashed-{name}").write_bytes((tmp_path / name).read_bytes())
    first.close()

    with closing(Store(tmp_path / "crashed-grades.sqlite")) as again:
        assert again.get("a") == Stored("a", ASK, Reason.VERDICT, "", "{}")
        assert again.unfinished() == stored("b")


def test_a_key_gives_the_same_ids_to_the_same_request_of_the_same_role(store):
    assert store.add(stored("a"), "candidate", "k", "one") == ["a"]
    assert store.add(stored("b"), "candidate", "k", "one") == ["a"]
    assert store.add(stored("c"), "interviewer", "k", "two") == ["c"]
    with pytest.raises(KeyTaken):
        store.add(stored("d"), "candidate", "k", "two")

    assert store.known("candidate", "k", "one") == ["a"]
    assert [one.id for one in store.unfinished()] == ["a", "c"]


def test_what_is_old_is_forgotten_with_its_key(store):
    store.add(stored("a"), "candidate", "k", "one")
    store.add(stored("b"), "candidate", "l", "one")
    store.finish("a", Reason.CANCELLED, "it was cancelled", None)
    time.sleep(0.01)

    store.forget(0)

    assert store.get("a") is None and store.known("candidate", "k", "one") is None
    assert store.get("b") and store.known("candidate", "l", "one") == ["b"]


def test_others_cannot_read_it(store, tmp_path):
    store.add(stored("a"), "candidate", None, "")

    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "deep").iterdir()} == {0}


def test_a_file_of_another_kind_or_version_is_refused_and_left_as_it_is(tmp_path):
    names = ("text", "newer", "other", "same")
    text, newer, other, same = (tmp_path / name for name in names)
    text.write_text("no database at all, but long enough to be looked at" * 50, "utf-8")
    with closing(sqlite3.connect(newer)) as made:
        made.execute("pragma user_version = 99")
    with closing(sqlite3.connect(other)) as made:
        made.execute("create table mine (x)")
        made.commit()
    with closing(sqlite3.connect(same)) as made:
        made.execute("pragma user_version = 1")
    before = {path: path.read_bytes() for path in (text, newer, other, same)}

    for path in before:
        with pytest.raises(UsageError, match="cannot be used as a store"):
            Store(path)

    assert {path: path.read_bytes() for path in before} == before
