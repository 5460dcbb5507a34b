"""The store: nothing that was shown is lost, and nothing that is there is overwritten."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime

import pytest

from mha_judge.errors import ProgressUnavailable, UsageError
from mha_judge.practice import progress as module
from mha_judge.practice.progress import End, Progress

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def filled(path):
    with Progress(path) as progress:
        round_ = progress.begin("sdpa", "/a/sdpa.py", NOW, review=False)
        progress.add_hint(round_.id, "argmax", 0, 2.0, NOW)
        progress.put_note("sdpa", "divide by √D", NOW)
        progress.add_interview({"step": 1}, NOW)
        return progress.export()


def test_a_problem_has_one_open_round(tmp_path):
    with Progress(tmp_path / "p") as progress:
        first = progress.begin("sdpa", "/a.py", NOW, review=False)
        again = progress.begin("sdpa", "/b.py", NOW, review=False)
        assert (again.id, again.path) == (first.id, "/b.py")
        progress.end(first.id, End.SOLVED, NOW)
        progress.end(first.id, End.GIVEN_UP, NOW)
        assert [one.end for one in progress.rounds()] == [End.SOLVED]
        assert progress.begin("sdpa", "/b.py", NOW, review=True).id != first.id


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 99, b"SQLite format 3\0" + b"x" * 9000]
)
def test_a_damaged_file_is_set_aside(tmp_path, content):
    path = tmp_path / "p.sqlite3"
    path.write_bytes(content)
    with Progress(path) as progress:
        assert "damaged" in progress.notice
        assert progress.rounds() == []
    (aside,) = tmp_path.glob("p.sqlite3.aside-*")
    assert aside.read_bytes() == content
    assert str(aside) in progress.notice


def test_damage_in_the_middle_is_noticed(tmp_path):
    path = tmp_path / "p.sqlite3"
    filled(path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    data = bytearray(path.read_bytes())
    data[5000:9000] = b"\xff" * 4000
    path.write_bytes(data)
    with Progress(path) as progress:
        assert "damaged" in progress.notice


def test_the_file_of_a_later_version_is_set_aside(tmp_path):
    path = tmp_path / "p.sqlite3"
    filled(path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with Progress(path) as progress:
        assert "later version" in progress.notice
    (aside,) = tmp_path.glob("p.sqlite3.aside-*[0-9]Z")
    with sqlite3.connect(aside) as database:
        assert database.execute("SELECT problem FROM round").fetchall() == [("sdpa",)]
    database.close()


def test_an_older_file_is_brought_up_to_date(tmp_path, monkeypatch):
    path = tmp_path / "p.sqlite3"
    filled(path)
    more = ("ALTER TABLE note ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'",)
    monkeypatch.setattr(module, "_MIGRATIONS", module._MIGRATIONS + more)
    with Progress(path) as progress:
        assert not progress.notice
        assert json.loads(progress.export())["note"][0]["colour"] == "blue"


def test_nobody_else_may_read_it(tmp_path):
    with Progress(tmp_path / "p") as progress:
        progress.put_note("sdpa", "mine", NOW)
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_what_is_exported_can_be_imported(tmp_path):
    text = filled(tmp_path / "a")
    with Progress(tmp_path / "b") as other:
        assert other.import_(text) == 1
        assert other.export() == text
        with pytest.raises(UsageError, match="would be lost"):
            other.import_(text)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.pop("hint"),
        lambda content: content["round"][0].pop("path"),
        lambda content: content["round"][0].update(began="yesterday"),
        lambda content: content["hint"][0].update(round=77),
        lambda content: content["interview"][0].update(state="{"),
        lambda content: content.update(mha_judge_progress=9),
    ],
)
def test_a_broken_export_changes_nothing(tmp_path, spoil):
    content = json.loads(filled(tmp_path / "a"))
    spoil(content)
    with Progress(tmp_path / "b") as other:
        with pytest.raises(UsageError):
            other.import_(json.dumps(content))
        assert other.rounds() == []
        assert other.note("sdpa") == ""


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ProgressUnavailable, match="--no-progress"):
        Progress(tmp_path / "file" / "p.sqlite3")


def test_a_full_disk_is_told_and_loses_nothing(tmp_path):
    path = tmp_path / "p.sqlite3"
    with Progress(path) as progress:
        progress.put_note("sdpa", "kept", NOW)
        pages = progress._database.execute("PRAGMA page_count").fetchone()[0]
        progress._database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(ProgressUnavailable, match="full"):
            progress.put_note("softmax", "x" * 100_000, NOW)
        assert progress.note("sdpa") == "kept"


def test_two_programs_write_at_once(tmp_path):
    path = tmp_path / "p.sqlite3"
    stores = [Progress(path), Progress(path)]

    def write(number):
        for count in range(40):
            stores[number].put_note(f"{number}-{count}", "text", NOW)

    threads = [threading.Thread(target=write, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(json.loads(stores[0].export())["note"]) == 80
    for store in stores:
        store.close()


def test_programs_begin_the_file_at_once(tmp_path):
    failed = []

    def begin(path):
        try:
            Progress(path).close()
        except Exception as error:
            failed.append(error)

    for number in range(60):  # they meet in one of thirty
        path = tmp_path / f"{number}.sqlite3"
        threads = [threading.Thread(target=begin, args=(path,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []


def test_what_was_shown_survives_a_kill(tmp_path):
    path = tmp_path / "p.sqlite3"
    code = f"""
from datetime import UTC, datetime
from pathlib import Path
from mha_judge.practice.progress import Progress
progress = Progress(Path({str(path)!r}))
number = 0
while True:
    progress.put_note(str(number), "text", datetime.now(UTC))
    print(number, flush=True)
    number += 1
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            if int(line) == 25:
                break
        os.kill(process.pid, signal.SIGKILL)
    with Progress(path) as progress:
        assert not progress.notice
        assert all(progress.note(str(number)) == "text" for number in range(26))
