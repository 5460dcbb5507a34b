"""Attempts at what a submission must not be able to do, set up so that the outcome is a proof.

An attempt is held only if it ends with the error by which the sandbox refuses it, and if it would
have worked without a sandbox: the port listens, the folder is open to everyone, the program is
there, the memory is free. Any other end proves nothing.
"""

from __future__ import annotations

import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mha_judge.grading.calling.session import Session
from mha_judge.grading.failures import CheckFailure, Raised
from mha_judge.sandbox import Channel
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission
from mha_judge.wire.operations import Operation

SOURCE = Submission.of(
    """
import errno, os, socket

class NotTried(Exception):
    pass

def sees(path):
    return os.access(path, os.R_OK)

def read_file(path):
    return open(path).read()

def list_folder(path):
    return os.listdir(path)

def write_file(folders, name):
    for folder in folders:
        try:
            open(os.path.join(folder, name), "x").close()
            return
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno in (errno.EROFS, errno.EPERM):  # a folder's mode gives EACCES
                raise PermissionError(str(error))
            if os.access(folder, os.W_OK):
                raise
    raise NotTried("the sandbox has no folder that is open to everyone")

def connect(port):
    socket.create_connection(("127.0.0.1", port), timeout=2).close()

def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

def execute(word):
    if not os.access("/bin/echo", os.X_OK):
        raise NotTried("the sandbox has no /bin/echo")
    for descriptor in range(3, 256):  # while these are open, the worker is taken to live
        try:
            os.set_inheritable(descriptor, True)
        except OSError:
            pass
    os.execv("/bin/echo", ["echo", word])

def signal_parent():
    if os.getppid() == 0:
        raise NotTried("the worker cannot see the supervisor")
    os.kill(os.getppid(), 0)

def allocate(size):
    return len(b"x" * size)
""",
    "probe.py",
)

MEMORY_BYTES = 768 * 1024**2
"""What an attempt asks for, above its limit; little, so that nearly every machine has it."""
STRICT = Limits(memory_bytes=MEMORY_BYTES - 256 * 1024**2, call_s=10.0, total_s=60.0)
_ROOMY = Limits(memory_bytes=MEMORY_BYTES + 256 * 1024**2, call_s=10.0)


class Ruling(StrEnum):
    """What an attempt has shown."""

    HELD = "held"
    OPEN = "OPEN"
    UNCLEAR = "unclear"
    """It was not tried, or ended in a way that proves nothing."""


@dataclass(frozen=True)
class Attempt:
    """One thing that was tried inside a sandbox."""

    title: str
    ruling: Ruling
    answer: str


@dataclass(frozen=True)
class Trial:
    """One attempt to make, and how to tell whether it was refused."""

    title: str
    function: str
    arguments: tuple[object, ...] = ()
    refusal: str = "PermissionError"
    """The error by which the sandbox refuses. In every backend seccomp refuses a socket, a signal,
    a new process and another program with EPERM; Landlock, or a read-only mount or
    seccomp elsewhere, refuses a file that exists."""
    trace: Callable[[], str] = str
    """Looks for what the attempt leaves behind if it works, and says what it is; else empty."""
    unproven: str = ""
    """Why the attempt would fail without a sandbox too; unless empty, it is not made."""

    def run(self, session: Session) -> Attempt:
        """Make the attempt in the session's worker."""
        if self.unproven:
            return Attempt(self.title, Ruling.UNCLEAR, f"not tried: {self.unproven}")
        ruling, answer = self._ruling(session)
        if found := self.trace():
            ruling, answer = Ruling.OPEN, found
        return Attempt(self.title, ruling, answer)

    def _ruling(self, session: Session) -> tuple[Ruling, str]:
        try:
            session.request(Operation.CALL, (list(self.arguments), {}, None), target=self.function)
        except Raised as raised:
            if raised.kind == self.refusal:
                return Ruling.HELD, raised.kind
            if raised.kind == "NotTried":
                return Ruling.UNCLEAR, f"not tried: {raised.message.partition(': ')[2]}"
            return Ruling.UNCLEAR, f"it {raised.message}; only {self.refusal} is a refusal"
        except CheckFailure as failure:
            return Ruling.UNCLEAR, f"{failure.message}; only {self.refusal} is a refusal"
        return Ruling.OPEN, "it worked"


class Listener:
    """A port on which the judge listens."""

    def __init__(self) -> None:
        """Listen.

        Raises:
            OSError: There is no loopback, or it leads elsewhere.
        """
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        socket.create_connection(("127.0.0.1", self.port), timeout=2).close()
        if not self.arrived():
            raise OSError("the judge cannot reach its own port")

    def arrived(self) -> str:
        """Return a sentence if anyone has connected since the last call, else the empty text."""
        count = 0
        with suppress(BlockingIOError):
            while True:
                self._socket.accept()[0].close()
                count += 1
        return f"a connection arrived at port {self.port}" if count else ""

    def close(self) -> None:
        self._socket.close()


def prepared(stack: ExitStack, session: Session, no_memory: str) -> Iterator[Trial]:
    """Yield the attempts to make, prepared so that only a sandbox can refuse them."""
    # In /tmp, as a TMPDIR of the user's own would keep a worker with another uid out.
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))
    folder.chmod(0o777)
    secret, written, word = folder / "secret", folder / "written", secrets.token_hex(8)
    secret.write_text("secret", encoding="utf-8")
    secret.chmod(0o644)
    try:
        listener = stack.enter_context(closing(Listener()))
        port, arrived, no_port = listener.port, listener.arrived, ""
    except OSError as error:
        port, arrived, no_port = 0, str, f"no port can be opened here ({error})"
    # In the jail the file is visible, and Landlock refuses to open it. In bubblewrap and in a
    # container it does not exist; a PermissionError would come from its mode, not from them.
    seen = session.request(Operation.CALL, ([str(secret)], {}, None), target="sees").value
    hidden = "PermissionError" if seen is True else "FileNotFoundError"
    # The host's folder, if it is visible; else those that bubblewrap and containers have.
    folders = [str(folder), "/tmp", "/dev/shm"]

    yield Trial("read a file outside the sandbox", "read_file", (str(secret),), hidden)
    yield Trial("list the folder it lies in", "list_folder", (str(folder),), hidden)
    yield Trial(
        "write a file", "write_file", (folders, written.name),
        trace=lambda: f"{written} is there" if written.exists() else "",
    )  # fmt: skip
    # Refused before the address matters: bubblewrap and containers have a loopback of their own.
    yield Trial(
        "connect to a port that listens", "connect", (port,), trace=arrived, unproven=no_port
    )
    yield Trial("start another process", "fork")
    yield Trial(
        "run a program", "execute", (word,),
        trace=lambda: "/bin/echo printed its word" if word in session.output else "",
    )  # fmt: skip
    yield Trial("signal the supervisor", "signal_parent")
    yield Trial(
        f"take {MEMORY_BYTES // 1024**2} MiB of memory, above its limit", "allocate",
        (MEMORY_BYTES,), "MemoryError", unproven=no_memory,  # malloc's word where rlimits refuse
    )  # fmt: skip


def memory_missing(channel: Channel) -> str:
    """Return why even a worker with a higher limit cannot get the memory here; empty if it can."""
    with closing(Session(channel, SOURCE, _ROOMY)) as session:
        session.load()
        try:
            session.request(Operation.CALL, ([MEMORY_BYTES], {}, None), target="allocate")
        except CheckFailure as failure:
            return f"even a worker with a higher limit cannot get it ({failure.message})"
    return ""
