"""Trying the sandboxes: a file that attacks is graded like any other, and must fail.

A tier is what was seen to hold, not what was configured.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from mha_judge.errors import JudgeError
from mha_judge.sandbox import BACKENDS
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

_SOURCE = """
def read_secret(path):
    return open(path).read()

def list_home(path):
    import os
    return os.listdir(path)

def write_file(path):
    open(path + ".written", "w").write("x")

def open_socket(path):
    import socket
    socket.create_connection(("127.0.0.1", 9), timeout=1)

def fork(path):
    import os
    if os.fork() == 0:
        os._exit(0)

def execute(path):
    import os
    os.execv("/bin/true", ["true"])

def signal_parent(path):
    import os
    os.kill(os.getppid(), 0)

def allocate(path):
    return len(bytearray(64 * 1024**3))
"""

_ATTEMPTS = {
    "read_secret": "read a file outside the sandbox",
    "list_home": "list the folder it lies in",
    "write_file": "write a file",
    "open_socket": "open a network connection",
    "fork": "start another process",
    "execute": "run a program",
    "signal_parent": "signal the supervisor",
    "allocate": "take 64 GiB of memory",
}


@dataclass(frozen=True)
class Attempt:
    """One thing that was tried inside a sandbox."""

    title: str
    held: bool
    answer: str


@dataclass(frozen=True)
class Finding:
    """What one backend was seen to do."""

    backend: str
    tier: str | None
    remedy: str = ""
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every attempt failed."""
        return self.tier is not None and all(attempt.held for attempt in self.attempts)


def probe_all() -> Iterator[Finding]:
    """Try every backend in turn."""
    for name in BACKENDS:
        yield _probe(name)


def _probe(name: str) -> Finding:
    from mha_judge.grading.failures import CheckFailure, Raised
    from mha_judge.grading.session import LoadFailed, Session

    sandbox = BACKENDS[name]()
    reason = sandbox.unavailable()
    if reason is not None:
        return Finding(name, None, reason)
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_text("secret", encoding="utf-8")
        submission = Submission(Path("probe.py"), _SOURCE, "")
        try:
            with (
                closing(sandbox.open()) as channel,
                closing(Session(channel, submission, Limits())) as session,
            ):
                session.load()
                attempts = []
                for function, title in _ATTEMPTS.items():
                    path = folder if function == "list_home" else str(secret)
                    try:
                        session.request("call", ([path], {}, None), target=function)
                        attempts.append(Attempt(title, False, "it could"))
                    except Raised as raised:
                        attempts.append(Attempt(title, True, raised.kind))
                    except CheckFailure as failure:
                        attempts.append(Attempt(title, True, failure.message))
                tier = session.tier.tier if session.tier is not None else ""
        except (JudgeError, LoadFailed) as error:
            return Finding(name, None, str(error))
    return Finding(name, tier, "", attempts)
