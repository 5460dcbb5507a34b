"""Opens a file in the learner's editor: in a window, in a pane beside the app, or in its place."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from mha_judge.errors import UsageError

WINDOWED = frozenset(
    "atom charm code code-insiders codium cursor fleet geany gedit gnome-text-editor gvim idea "
    "kate kwrite lapce mousepad notepadqq open pluma pycharm subl vscodium windsurf xdg-open xed "
    "zed zeditor".split()
)
"""Editors that have a window of their own: nobody waits for them, nor lends them the terminal."""
MULTIPLEXERS = frozenset({"tmux", "zellij", "screen", "wezterm", "kitty", "kitten"})
"""Programs that open a pane or a window elsewhere, and return at once."""
_USUAL = ("nano", "vim", "vi")
_LEAST = (60, 16)
_SOON_S = 10.0

_WORDS = {
    "en": {
        "none": "no editor is known; set EDITOR in your shell, or pass --edit-cmd",
        "missing": "there is no program `{name}`; set EDITOR to another one, or pass --edit-cmd",
        "failed": "`{name}` ended with status {status}{said}; "
        "set EDITOR to another one, or pass --edit-cmd",
        "broken": "`{name}` cannot be started ({why}); set EDITOR to another one, or pass "
        "--edit-cmd",
        "quotes": "--edit-cmd is not a command: {why}; close its quotation marks",
        "empty": "--edit-cmd is empty; name a program, such as 'code -g {file}'",
    },
    "zh": {
        "none": "不知道用哪个编辑器；请设置环境变量 EDITOR，或使用 --edit-cmd",
        "missing": "没有程序 `{name}`；请把 EDITOR 设为别的编辑器，或使用 --edit-cmd",
        "failed": "`{name}` 以状态 {status} 结束{said}；"
        "请把 EDITOR 设为别的编辑器，或使用 --edit-cmd",
        "broken": "无法启动 `{name}`（{why}）；请把 EDITOR 设为别的编辑器，或使用 --edit-cmd",
        "quotes": "--edit-cmd 不是合法的命令：{why}；请补全引号",
        "empty": "--edit-cmd 为空；请给出一个程序，例如 'code -g {file}'",
    },
}


class Manner(Enum):
    """Where an editor runs."""

    WINDOW = "window"
    """In a window of its own: it is started, and not waited for."""
    PANE = "pane"
    """Elsewhere in the terminal: the command returns as soon as the pane is there."""
    HERE = "here"
    """In the place of the app, which waits."""


@dataclass(frozen=True)
class Plan:
    """A command, and how it is run."""

    command: tuple[str, ...]
    manner: Manner
    pane: str = ""
    """What opened the pane: `tmux` or `zellij`; empty for a command of the learner's own."""


def words_of(command: str, language: str = "en") -> list[str]:
    """Return the words of an `--edit-cmd`.

    Raises:
        UsageError: If it has none, or cannot be read.
    """
    words = _WORDS[language]
    try:
        found = shlex.split(command)
    except ValueError as error:
        raise UsageError(words["quotes"].format(why=error)) from error
    if not found:
        raise UsageError(words["empty"])
    return found


def plan(
    path: Path,
    edit_cmd: str | None,
    size: tuple[int, int],
    language: str,
    environment: Mapping[str, str] = os.environ,
) -> Plan:
    """Return how a file is opened.

    Args:
        path: The file.
        edit_cmd: What the learner passed; `{file}` in it is the file, which else comes last.
        size: Columns and rows that the app has now.
        language: Of what is said if there is no editor.
        environment: Says which editor is meant, and what the app runs in.

    Raises:
        UsageError: If there is no editor.
    """
    if edit_cmd is not None:
        words = words_of(edit_cmd, language)
        named = any("{file}" in word for word in words)
        command = [word.replace("{file}", str(path)) for word in words]
        command += [] if named else [str(path)]
    else:
        command = [*_editor(environment, language), str(path)]
    _require(command[0], environment, language)
    name = Path(command[0]).name
    if name in WINDOWED:
        return Plan(tuple(command), Manner.WINDOW)
    if edit_cmd is not None:
        return Plan(tuple(command), Manner.PANE if name in MULTIPLEXERS else Manner.HERE)
    if environment.get("TMUX") and shutil.which("tmux", path=environment.get("PATH")):
        pane = _beside(path, command, size, environment.get("TMUX_PANE", ""))
        return Plan(tuple(pane), Manner.PANE, "tmux")
    if environment.get("ZELLIJ") is not None and shutil.which(
        "zellij", path=environment.get("PATH")
    ):
        pane = ["zellij", "run", "--close-on-exit", "--name", path.name, "--", *command]
        return Plan(tuple(pane), Manner.PANE, "zellij")
    return Plan(tuple(command), Manner.HERE)


def run(made: Plan, language: str) -> str:
    """Run an editor in the place of the app, or open a pane; return what the command printed.

    Raises:
        UsageError: If it cannot be started, or fails.
    """
    here = made.manner is Manner.HERE
    try:
        if here:
            with _interrupted_alone():
                done = subprocess.run(made.command, check=False)
        else:
            done = subprocess.run(
                made.command, check=False, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_SOON_S,
            )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _broken(made, error, language) from error
    if done.returncode:
        raise _failed(made, done.returncode, b"" if here else done.stderr, language)
    return "" if here else done.stdout.decode(errors="replace").strip()


@contextmanager
def _interrupted_alone() -> Iterator[None]:
    """Let Ctrl-C reach an editor that has the terminal, and not end the app with it."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # one that is ignored it would inherit
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start(made: Plan, language: str, failed: Callable[[str], None]) -> None:
    """Start an editor that has a window, and go on.

    Args:
        made: Its command.
        language: Of what is said if it fails.
        failed: Told a sentence, in another thread, if it does not end well.

    Raises:
        UsageError: If it cannot be started.
    """
    try:
        process = subprocess.Popen(
            made.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it stays open when the app ends
        )
    except OSError as error:
        raise _broken(made, error, language) from error

    def wait() -> None:
        if status := process.wait():
            failed(str(_failed(made, status, b"", language)))

    threading.Thread(target=wait, daemon=True).start()


def show_again(pane: str) -> bool:
    """Go to a pane of tmux that an editor was opened in; return whether it is still there."""
    command = ["tmux", "select-window", "-t", pane, ";", "select-pane", "-t", pane]
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=_SOON_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _editor(environment: Mapping[str, str], language: str) -> list[str]:
    """Return the learner's editor, with its options."""
    for variable in ("VISUAL", "EDITOR"):
        if named := environment.get(variable, "").strip():
            try:
                return shlex.split(named)
            except ValueError:
                return [named]
    for name in _USUAL:
        if shutil.which(name, path=environment.get("PATH")):
            return [name]
    raise UsageError(_WORDS[language]["none"])


def _require(name: str, environment: Mapping[str, str], language: str) -> None:
    """Check that there is a program: a pane that lacks it closes without a word."""
    if shutil.which(name, path=environment.get("PATH")) is None:
        raise UsageError(_WORDS[language]["missing"].format(name=name))


def _beside(path: Path, command: list[str], size: tuple[int, int], pane: str) -> list[str]:
    """Return how tmux opens an editor where both have room: beside, below, or in another window."""
    columns, rows = size
    if columns > 2 * _LEAST[0]:
        where = ["split-window", "-h"]
    elif rows > 2 * _LEAST[1]:
        where = ["split-window", "-v"]
    else:
        where = ["new-window", "-n", _plain(path.name)]
    target = ["-t", pane] if pane and where[0] == "split-window" else []
    opened = ["-P", "-F", "#{pane_id}", "-c", _plain(str(path.parent))]
    return ["tmux", *where, *target, *opened, shlex.join(command)]


def _plain(text: str) -> str:
    """Return a text in which tmux finds no format: `#(…)` in a name would be run."""
    return text.replace("#", "##")


def _failed(made: Plan, status: int, said: bytes, language: str) -> UsageError:
    text = said.decode(errors="replace").strip()
    return UsageError(
        _WORDS[language]["failed"].format(
            name=made.command[0], status=status, said=f" ({text})" if text else ""
        )
    )


def _broken(made: Plan, error: Exception, language: str) -> UsageError:
    why = getattr(error, "strerror", None) or type(error).__name__
    return UsageError(_WORDS[language]["broken"].format(name=made.command[0], why=why))
