"""What an attack could reach, set out so that reaching it shows."""

import contextlib
import os
import re
import secrets
import socket
import stat
import tempfile
import unicodedata
import xml.etree.ElementTree as ET
from io import StringIO
from pathlib import Path

from rich.console import Console

from mha_judge.bank import Bank
from mha_judge.render.report import junit, terminal
from mha_judge.report.models import Report

BANK = Bank.builtin()
ENVIRONMENT = "MHA_JUDGE_CANARY_SECRET"
TEXTS_OF_THE_BANK = (
    "every way to compute the logits gives them exactly",  # the grader
    "arXiv:1706.03762v7, equation 1",  # the reference
)
MEMORY_GROWTH = 3 << 28
"""How much more memory the judge may hold at any moment of a grade."""


class World:
    """A canary folder, a secret in three places, and listeners."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self.canary = folder / "canary"
        self.canary.mkdir()
        self.canary.chmod(0o777)
        self.secret = "s3cret-" + secrets.token_hex(8)
        self.file = folder / "secret"
        self.file.write_text(self.secret, encoding="utf-8")
        self.file.chmod(0o666)
        (folder / "home").mkdir()
        (folder / "home" / ".netrc").write_text(self.secret, encoding="utf-8")
        self.home = folder / "home"
        self.mark = "mha" + secrets.token_hex(4)
        self.socket_name = f"mha-judge-{self.mark}"
        self._listeners = self._listen(folder)

    def _listen(self, folder: Path) -> list[socket.socket]:
        tcp = socket.create_server(("127.0.0.1", 0))
        self.port = tcp.getsockname()[1]
        listeners = [tcp]
        for address in (str(folder / self.socket_name), f"\0{self.socket_name}"):
            unix = socket.socket(socket.AF_UNIX)
            unix.bind(address)
            unix.listen()
            listeners.append(unix)
        os.chmod(folder / self.socket_name, 0o777)  # noqa: PTH101
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", self.port))
        listeners.append(udp)
        for listener in listeners:
            listener.setblocking(False)
        self._folder = folder
        return listeners

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()

    def placed(self, text: str) -> str:
        """Return an attack's text with the places of this world in it."""
        places = {
            "/tmp/mha-judge-canary": str(self.canary),
            "/tmp/mha-judge-secret": str(self.file),
            "/tmp/mha-judge-bank": str(BANK.root),
            "/tmp/mha-judge-socket": str(self._folder / self.socket_name),
            "mha-judge-socket": self.socket_name,
            "47999": str(self.port),
            "mhamark": self.mark,
        }
        for name, place in places.items():
            text = text.replace(name, place)
        return text

    def signs(self, report: Report | None) -> list[str]:
        """Return every sign that an attack worked."""
        found = [f"canary: {path.name}" for path in self.canary.iterdir()]
        if stat.S_IMODE(self.canary.stat().st_mode) != 0o777:
            found.append("canary: its mode changed")
        if not self.file.exists() or self.file.read_text(encoding="utf-8") != self.secret:
            found.append("canary: the secret file changed")
        found += [f"file: {path}" for path in self._marked_files()]
        found += [f"connection: {listener}" for listener in self._listeners if _called(listener)]
        found += [f"process: {pid}" for pid in self._marked_processes()]
        if report is not None:
            text = report.model_dump_json() + report.output.text
            texts = (self.secret, *TEXTS_OF_THE_BANK)
            found += [f"secret: {shown}" for shown in texts if shown in text]
        return found

    def _marked_files(self) -> list[Path]:
        folders = {tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run"}
        folders |= {"/", ".", os.path.expanduser("~")}  # noqa: PTH111
        return [
            path
            for folder in map(Path, folders)
            if folder.is_dir()
            for path in folder.iterdir()
            if self.mark in path.name
        ]

    def _marked_processes(self) -> list[str]:
        found = []
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):  # a process may end while it is looked at
                for task in (process / "task").iterdir():
                    if self.mark in (task / "comm").read_text(encoding="utf-8", errors="replace"):
                        found.append(process.name)
        return found

    def clean_up(self) -> None:
        """Remove what an unconfined attack has left."""
        for path in [*self.canary.iterdir(), *self._marked_files()]:
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        for pid in self._marked_processes():
            with contextlib.suppress(OSError):
                os.kill(int(pid), 9)
        self.file.write_text(self.secret, encoding="utf-8")


def _called(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(100)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


class Memory:
    """The judge's memory: how much it grew at its highest."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):  # resets the high-water mark
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._before = resident("VmRSS")

    def growth(self) -> int:
        return resident("VmHWM") - self._before


def resident(name: str = "VmRSS") -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def shown(report: Report) -> dict[str, str]:
    """Return a report in every form that people and programs read."""
    console = Console(file=StringIO(), width=100, force_terminal=False)
    terminal.show(report, console)
    return {
        "terminal": console.file.getvalue(),  # type: ignore[attr-defined]  # a StringIO
        "json": report.model_dump_json(indent=2),
        "junit": junit.render(report),
    }


def acting(report: Report) -> list[str]:
    """Return the characters of a shown report that a terminal would act on, and broken forms."""
    found = []
    for name, text in shown(report).items():
        bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")}
        found += [f"{name}: {character!r}" for character in sorted(bad)]
        text.encode("utf-8")
    ET.fromstring(shown(report)["junit"])
    assert Report.model_validate_json(shown(report)["json"]) == report
    return found
