"""Bytes to and from a supervisor, wherever it runs."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from typing import Any, Protocol

from mha_judge.errors import SandboxBroken
from mha_judge.wire import widen

GRACE_S = 10.0
"""How long a supervisor may take to read, to stop a worker, or to end."""
_LOOK_UP_EVERY_S = 1.0
"""An interrupt that comes just before a wait begins is noticed when it ends."""


class Transport(Protocol):
    """The judge's end of a supervisor's standard input and output."""

    holds: int
    """How many bytes can be sent that the supervisor does not read yet."""

    def send(self, data: bytes, deadline: float) -> None:
        """Send all of `data` before the monotonic clock reaches `deadline`.

        Raises:
            SandboxUnavailable: The supervisor was never started.
            SandboxBroken: The supervisor does not read, or is gone.
        """

    def receive(self, deadline: float) -> bytes:
        """Return some bytes that the supervisor sent.

        Raises:
            TimeoutError: None arrived in time.
            SandboxUnavailable: The supervisor was never started.
            SandboxBroken: The supervisor is gone.
        """

    def last_words(self) -> str:
        """Return how a supervisor ended, and the last line of its standard error."""

    def close(self) -> None:
        """End the supervisor and everything below it."""


class PipeTransport:
    """A supervisor that is a child of the judge."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        for pipe in (self._stdin.fileno(), self._stdout.fileno()):
            os.set_blocking(pipe, False)
        widen(self._stdout.fileno())
        self.holds = widen(self._stdin.fileno()) // 2  # small writes take whole pages

    def send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        descriptor = self._stdin.fileno()
        while view:
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                wait_to_send(descriptor, deadline)
            except BrokenPipeError as error:
                raise SandboxBroken(f"the supervisor is gone: {self.last_words()}") from error

    def receive(self, deadline: float) -> bytes:
        wait_to_receive(self._stdout, deadline)
        data = os.read(self._stdout.fileno(), 1 << 20)
        if not data:
            raise SandboxBroken(f"the supervisor is gone: {self.last_words()}")
        return data

    def last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        text = b""
        if self._process.stderr is not None:
            os.set_blocking(self._process.stderr.fileno(), False)
            text = self._process.stderr.read() or b""
        return f"exit status {self._process.poll()}, {last_line(text)}"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def wait_to_receive(source: Any, deadline: float) -> None:
    """Wait until something can be read from a pipe or socket.

    Raises:
        TimeoutError: Nothing came before the monotonic clock reached `deadline`.
    """
    if not _wait([source], [], deadline):
        raise TimeoutError


def wait_to_send(sink: Any, deadline: float) -> None:
    """Wait until something can be written to a pipe or socket.

    Raises:
        SandboxBroken: Nothing could before the monotonic clock reached `deadline`.
    """
    if not _wait([], [sink], deadline):
        raise SandboxBroken("the supervisor stopped reading")


def _wait(sources: list[Any], sinks: list[Any], deadline: float) -> bool:
    while True:
        left = max(0.0, deadline - time.monotonic())  # what is there already came in time
        if any(select.select(sources, sinks, [], min(left, _LOOK_UP_EVERY_S))):
            return True
        if left <= _LOOK_UP_EVERY_S:
            return False


def last_line(text: bytes) -> str:
    """Return the last line of a process's standard error, at most 300 characters."""
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"
