"""`watch`, as a person uses it: in a terminal, with an editor beside it."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mha_judge.practice.progress import PATH_VARIABLE, Progress

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
RIGHT = (EXAMPLES / "right_attention.py").read_text(encoding="utf-8")
WRONG = (EXAMPLES / "forgets_to_scale.py").read_text(encoding="utf-8")
WAIT_S = 60


class Terminal:
    """A `watch` in a pseudo-terminal."""

    def __init__(self, *arguments: str, columns: int = 100) -> None:
        self._judge, other = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "LINES": "50"}
        command = [sys.executable, "-m", "mha_judge", "watch", "--sandbox", "jail", *arguments]
        self.process = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, env=environment, close_fds=True,
            start_new_session=True,
        )  # fmt: skip
        os.close(other)
        self._text = ""

    def until(self, words: str) -> str:
        """Return what was shown up to and with some words, however they wrap, and forget it."""
        wanted = re.compile(r"\s+".join(map(re.escape, words.split())))
        deadline = time.monotonic() + WAIT_S
        while (found := wanted.search(self._text)) is None:
            left = deadline - time.monotonic()
            assert left > 0, f"{words!r} is not in {self._text[-2000:]!r}"
            ready, _, _ = select.select([self._judge], [], [], left)
            if ready:
                try:
                    new = os.read(self._judge, 1 << 16)
                except OSError:  # the other end is gone
                    new = b""
                assert new, f"ended before {words!r}: {self._text[-2000:]!r}"
                self._text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", new.decode("utf-8", "replace"))
        shown, self._text = self._text[: found.end()], self._text[found.end() :]
        return shown

    def press(self, key: str) -> None:
        os.write(self._judge, key.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._judge)


@pytest.fixture
def watch():
    opened = []

    def start(*arguments, **options):
        opened.append(Terminal(*map(str, arguments), **options))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


def test_a_save_is_graded_and_what_changed_is_told(watch, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(WRONG, encoding="utf-8")
    terminal = watch(path)
    terminal.until("REJECTED")
    terminal.until("attempt 1")
    terminal.until("q quit")

    path.write_text(RIGHT, encoding="utf-8")

    terminal.until("ACCEPTED")
    told = terminal.until("attempt 2")
    assert "now passes: The scale is" in told
    assert told.count("now passes: ") == 6
    assert re.search(r"now passes: \d+ more", told)


def test_an_editor_that_renames_a_new_file_over_the_old_one_is_noticed(watch, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(WRONG, encoding="utf-8")
    terminal = watch(path)
    terminal.until("q quit")

    (tmp_path / ".sdpa.py.new").write_text(RIGHT, encoding="utf-8")
    (tmp_path / ".sdpa.py.new").rename(path)

    terminal.until("ACCEPTED")


def test_a_file_that_is_deleted_may_return(watch, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(WRONG, encoding="utf-8")
    terminal = watch(path)
    terminal.until("q quit")

    path.unlink()
    assert "no such file" not in terminal.until("sdpa.py is gone; it is graded when it is back.")
    path.write_text(RIGHT, encoding="utf-8")

    terminal.until("ACCEPTED")


@pytest.mark.parametrize("named", ["work/sdpa.py", "work"])
@pytest.mark.parametrize("leaves", ["deleted", "renamed"])
def test_a_folder_that_goes_may_return(watch, tmp_path, named, leaves):
    folder = tmp_path / "work"
    folder.mkdir()
    path = folder / "sdpa.py"
    path.write_text(WRONG, encoding="utf-8")
    terminal = watch(tmp_path / named)
    terminal.until("q quit")

    if leaves == "deleted":
        shutil.rmtree(folder)
    else:
        folder.rename(tmp_path / "other")
    terminal.until("sdpa.py is gone; it is graded when it is back.")
    folder.mkdir()
    path.write_text(RIGHT, encoding="utf-8")

    assert "is gone" not in terminal.until("ACCEPTED")  # that was said once
    terminal.until("q quit")
    path.write_text(WRONG, encoding="utf-8")
    terminal.until("REJECTED")


def test_every_check_is_shown_where_that_is_asked_for(watch, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(WRONG, encoding="utf-8")

    terminal = watch(path, "-v")

    assert "✓ Returns an output" in terminal.until("attempt 1")


def test_an_error_that_hides_the_problem_is_told(watch, tmp_path):
    path = tmp_path / "answer.py"
    path.write_text("x = 1\ny = (\n", encoding="utf-8")

    terminal = watch(path)

    terminal.until("line 2: '(' was never closed; mend this first")


def test_that_an_answer_is_not_kept_is_told(watch, tmp_path, monkeypatch):
    monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "progress.sqlite3"))
    other = tmp_path / "other" / "sdpa.py"
    with Progress(tmp_path / "progress.sqlite3") as progress:
        progress.begin("sdpa", str(other), datetime.now(UTC), review=False)
    path = tmp_path / "sdpa.py"
    path.write_text(RIGHT, encoding="utf-8")

    terminal = watch(path)

    assert "not kept: your round of sdpa is in" in terminal.until("ACCEPTED")


def test_a_file_with_an_error_is_told_and_graded_when_it_is_mended(watch, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(RIGHT + "\n(", encoding="utf-8")
    terminal = watch(path)
    terminal.until("never closed")
    terminal.until("q quit")

    path.write_text(RIGHT, encoding="utf-8")

    terminal.until("ACCEPTED")


def test_keys_tell_more_grade_again_and_quit(watch, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(WRONG, encoding="utf-8")
    terminal = watch(path, columns=60)
    assert "The scores are not" not in terminal.until("q quit")

    terminal.press("h")
    terminal.until("The scores are not")
    terminal.until("q quit")
    terminal.press("r")
    terminal.until("attempt 2")
    terminal.until("q quit")
    terminal.press("q")

    assert terminal.process.wait(timeout=WAIT_S) == 0


def test_a_folder_is_watched_for_all_its_files(watch, tmp_path):
    (tmp_path / "sdpa.py").write_text(WRONG, encoding="utf-8")
    terminal = watch(tmp_path)
    terminal.until("q quit")

    shutil.copy(EXAMPLES / "right_attention.py", tmp_path / "other.py")

    terminal.until("ACCEPTED")
    terminal.until("other.py · attempt 1")


def test_an_interrupt_leaves_nothing_running(watch, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(RIGHT, encoding="utf-8")
    terminal = watch(path)
    terminal.until("q quit")
    children = children_of(terminal.process.pid)
    assert children

    terminal.process.send_signal(signal.SIGINT)

    assert terminal.process.wait(timeout=WAIT_S) == 130
    deadline = time.monotonic() + WAIT_S
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)
