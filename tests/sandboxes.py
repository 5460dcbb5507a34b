"""What the tests of the sandboxes share: the backends to try, and a conversation with a worker."""

import functools
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from mha_judge.errors import SandboxUnavailable
from mha_judge.sandbox import Channel, Reply, Sandbox, jail
from mha_judge.sandbox.container import Container
from mha_judge.sandbox.container.owner import LABEL, Owner
from mha_judge.sandbox.jail import Jail
from mha_judge.sandbox.launch import spawn
from mha_judge.sandbox.limits import Limits
from mha_judge.wire import encode_frame, unpack

REQUIRE_DOCKER = os.environ.get("MHA_JUDGE_REQUIRE_DOCKER") == "1"
"""Set where an engine and the image must be there: no container is then a failure, not a skip."""

LIMITS = Limits(cpu_s=20)


@dataclass(frozen=True)
class Backend:
    """A sandbox under test, and what is left of it that can be seen from outside."""

    name: str
    make: Callable[[], Sandbox]
    why_not: Callable[[], str | None]
    traces: Callable[[], set[str]]
    """Everything of this process's that runs in such sandboxes now: pids, or ids of containers."""
    kill_supervisors: Callable[[set[str]], None]


def descendants() -> set[str]:
    """Return the pids of all processes below this one, from /proc."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(entry.name)) and fields[0] != "Z":
            parents[entry.name] = fields[1]
    found, fresh = set(), {str(os.getpid())}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def containers(owner: str | None = None) -> set[str]:
    """Return the ids of an owner's containers, this process's by default."""
    label = f"{LABEL}={owner or Owner.current()}"
    return {
        found["Id"] for found in engine().containers(all=True, filters={"label": label})
    }  # fmt: skip


@functools.cache
def engine():
    from mha_judge.sandbox.container.engine import connect

    return connect()


def _kill_processes(pids: set[str]) -> None:
    supervisors = [pid for pid in pids if " -m mha_judge.worker.supervisor" in _command(pid)]
    interpreters = [pid for pid in supervisors if not _command(pid).split()[0].endswith("bwrap")]
    os.kill(min(map(int, interpreters)), signal.SIGKILL)  # the worker, a fork of it, comes later


def _kill_containers(ids: set[str]) -> None:
    for container in ids:
        engine().kill(container)


@functools.cache
def _no_bubblewrap() -> str | None:
    if reason := Jail().unavailable():
        return reason
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    with closing(Jail(bubblewrap=True).open()) as channel:
        try:
            channel.start(LIMITS)
        except SandboxUnavailable as error:
            return f"bubblewrap does not work here: {error}"
    return None


@functools.cache
def no_container() -> str | None:
    return Container().unavailable()


@functools.cache
def without_landlock() -> tuple[str, ...]:
    """Return a command in front of another, for which this kernel then has no Landlock."""
    code = (
        "import errno, os, sys; from pyseccomp import ALLOW, ERRNO, SyscallFilter as Filter\n"
        "made = Filter(ALLOW)\n"
        "for call in ('create_ruleset', 'add_rule', 'restrict_self'):\n"
        "    made.add_rule(ERRNO(errno.ENOSYS), f'landlock_{call}')\n"
        "made.load()\n"
        "os.execvp(sys.argv[1], sys.argv[1:])"
    )
    return sys.executable, "-c", code


class Namespaces(Jail):
    """The jail in bubblewrap, on a kernel without Landlock."""

    def __init__(self) -> None:
        super().__init__(bubblewrap=True)

    def open(self) -> Channel:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                jail,
                "spawn",
                lambda prefix, *options: spawn((*without_landlock(), *prefix), *options),
            )
            return super().open()


BACKENDS = (
    Backend("jail", lambda: Jail(False), Jail().unavailable, descendants, _kill_processes),
    Backend("bubblewrap", lambda: Jail(True), _no_bubblewrap, descendants, _kill_processes),
    Backend("namespaces", Namespaces, _no_bubblewrap, descendants, _kill_processes),
    Backend("container", Container, no_container, containers, _kill_containers),
)


def miss(name: str, reason: str) -> NoReturn:
    """Skip, visibly; where Docker is required, a missing container is a failure."""
    if name == "container" and REQUIRE_DOCKER:
        pytest.fail(f"the container must be testable here: {reason}")
    pytest.skip(f"{name}: {reason}")


class Prompt:
    """A channel without a worker: what a subclass replies to a frame is its answer."""

    def ask(self, frame, timeout_s):
        self._frame = frame

    def answer(self):
        return self.reply(self._frame)


def ask(channel, op, timeout_s=10.0, number=1, **fields):
    header = {"id": number, "op": op, "value": ["none"], **fields}
    channel.ask(encode_frame(header), timeout_s)
    return channel.answer()


def load(channel, source, timeout_s=10.0, **how):
    return ask(channel, "load", timeout_s, source=source, filename="answer.py", **how)


def value_after(channel, source):
    """Return RESULT as a file that ran in a fresh worker left it."""
    channel.start(LIMITS)
    loaded = load(channel, source)
    assert isinstance(loaded, Reply), loaded
    assert "ok" in loaded.header, loaded.header
    reply = ask(channel, "read", name="RESULT", number=2)
    assert isinstance(reply, Reply), reply
    return unpack(reply.header["ok"]["value"], reply.payload)


def attempt(lines):
    """Return a source that puts what the lines come to, or their error, into RESULT."""
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    end = "except Exception as error:\n    RESULT = type(error).__name__\n"
    return f"RESULT = 'held'\ntry:\n{body}\n{end}"


def gone(find: Callable[[], Iterable[str]], traces: set[str], within_s=10.0) -> set[str]:
    """Return which traces are still found after a while; the empty set as soon as none is."""
    deadline = time.monotonic() + within_s
    while (left := traces & set(find())) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _stat(pid: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""
