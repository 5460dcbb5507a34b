"""The app in a terminal, with a judge, an editor, and what is left of them."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mha_judge.practice.progress import PATH_VARIABLE, Progress

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]

SUBMISSIONS = Path(__file__).parents[1] / "submissions" / "softmax"
WRONG, RIGHT = SUBMISSIONS / "wrong_no_maximum.py", SUBMISSIONS / "right_textbook.py"
WAIT_S = 60.0


class Terminal:
    """A server of tmux with one window, in which the app runs."""

    def __init__(self, folder, columns=80, rows=24, knows_tmux=True, **environment):
        self._tmux = ["tmux", "-S", str(folder / "socket"), "-f", "/dev/null"]
        self.folder = folder
        (folder / "work").mkdir()
        command = [] if knows_tmux else ["env", "-u", "TMUX"]
        command += [sys.executable, "-m", "mha_judge", "practice", "--sandbox", "jail"]
        command += ["--folder", str(folder / "work"), "--device", "cpu"]
        variables = {PATH_VARIABLE: str(folder / "p.sqlite3"), "LANG": "C.UTF-8", **environment}
        self._run(
            "new-session", "-d", "-x", str(columns), "-y", str(rows),
            *(word for name, value in variables.items() for word in ("-e", f"{name}={value}")),
            "--", *command,
        )  # fmt: skip
        self._run("set-option", "remain-on-exit", "on")

    def _run(self, *words):
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True)
        return done.stdout

    @property
    def text(self):
        return self._run("capture-pane", "-p", "-t", ":0.0")

    def press(self, *keys):
        self._run("send-keys", "-t", ":0.0", *keys)

    def panes(self):
        return self._run("list-panes", "-a", "-F", "#{pane_id}").split()

    def resize(self, columns, rows):
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def processes(self):
        """Return the app's process and all below it."""
        found = [int(self._run("display-message", "-p", "-t", ":0.0", "#{pane_pid}"))]
        for parent in found:
            for path in Path("/proc").glob("[0-9]*/stat"):
                try:
                    fields = path.read_text("utf-8", "replace").rsplit(")", 1)[1].split()
                except OSError:
                    continue
                if int(fields[1]) == parent:
                    found.append(int(path.parent.name))
        return found

    def close(self):
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    def until(self, condition, what):
        deadline = time.monotonic() + WAIT_S
        while not condition():
            assert time.monotonic() < deadline, f"{what} did not happen:\n{self.text}"
            time.sleep(0.1)

    def see(self, *words):
        for one in words:
            self.until(lambda one=one: one in self.text, f"seeing {one!r}")

    def begin(self):
        """Begin what is proposed; return its file."""
        self.see("Next: A stable softmax", "b Begin")
        self.press("b")
        path = self.folder / "work" / "softmax.py"
        self.until(path.exists, "writing the starter")
        self.see("softmax.py · 0 min")
        return path

    def hand_in(self, path, source, *words):
        """Save a file as an editor does, and again if watching it had not begun; see what comes."""
        text = source.read_text("utf-8")
        deadline = time.monotonic() + WAIT_S
        while not any(word in self.text for word in ("grading", *words)):
            assert time.monotonic() < deadline, self.text
            aside = path.with_suffix(".tmp")
            aside.write_text(text, "utf-8")
            aside.replace(path)
            wait = time.monotonic() + 5.0
            while "grading" not in self.text and time.monotonic() < wait:
                time.sleep(0.05)
        self.see(*words)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def make(**options):
        opened.append(Terminal(tmp_path, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def is_alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("end", ["q", "hangup", "SIGTERM"])
def test_a_learner_hands_in_and_leaves_and_no_process_is_left(terminal, tmp_path, end):
    one = terminal()
    path = one.begin()
    one.hand_in(path, WRONG, "REJECTED", "h offers a hint", "attempt 1", "85 points")
    one.resize(50, 12)
    one.see("the app needs 60×16")
    one.resize(80, 24)
    one.see("REJECTED")
    started = one.processes()
    assert len(started) >= 3  # the app, its judge, the judge's sandbox

    if end == "q":
        one.press("q")
    elif end == "hangup":
        one.close()
    else:
        os.kill(started[0], signal.SIGTERM)
    deadline = time.monotonic() + WAIT_S
    while left := [process for process in started if is_alive(process)]:
        assert time.monotonic() < deadline, f"{left} are left of {started}"
        time.sleep(0.1)
    with Progress(tmp_path / "p.sqlite3") as progress:
        assert [attempt.score for attempt in progress.attempts()] == [85.0]


def editor(folder):
    """Return a program that writes the right answer into the file it is given."""
    path = folder / "my-editor"
    path.write_text(f'#!/bin/sh\ncp "{RIGHT}" "$1.new" && mv "$1.new" "$1"\n{{}}\n', "utf-8")
    path.chmod(0o755)
    return path


def test_the_editor_opens_in_a_pane_beside_the_app(terminal, tmp_path):
    path = editor(tmp_path)
    path.write_text(path.read_text("utf-8").format("sleep 60"), "utf-8")
    one = terminal(columns=140, rows=30, EDITOR=str(path), VISUAL="")
    one.begin()
    time.sleep(1)  # watching begins
    one.press("e")

    one.until(lambda: len(one.panes()) == 2, "opening a pane")
    one.see("ACCEPTED")
    one.press("e")
    time.sleep(0.5)
    assert len(one.panes()) == 2  # it goes to the pane that is there


@pytest.mark.parametrize(("status", "words"), [(0, "ACCEPTED"), (3, "ended with status 3")])
def test_without_a_multiplexer_the_editor_has_the_terminal_to_itself(
    terminal, tmp_path, status, words
):
    path = editor(tmp_path)
    asks = f'test -t 0 -a -t 1 || exit 9\necho "type a line"\nread line\nexit {status}'
    path.write_text(path.read_text("utf-8").format(asks), "utf-8")
    one = terminal(EDITOR=str(path), VISUAL="", knows_tmux=False)
    one.begin()
    one.press("e")
    one.see("type a line")
    assert not re.search("q Quit", one.text)
    one.press("x", "Enter")

    one.see(words, "q Quit", "ACCEPTED")


def test_what_it_imports_before_its_first_picture():
    code = """
        import sys
        import mha_judge.cli.practice, mha_judge.app.app
        print(sorted({"torch", "numpy", "pytest", "pydantic.main", "fsrs"} & sys.modules.keys()))
        import mha_judge.library, mha_judge.practice.learner
        print(sorted({"torch", "numpy", "pytest"} & sys.modules.keys()))
    """
    program = "\n".join(line.strip() for line in code.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )

    assert done.stdout.split("\n")[:2] == ["[]", "[]"]
