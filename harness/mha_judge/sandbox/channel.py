"""The judge's end of a supervisor's standard input and output."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mha_judge.errors import SandboxBroken, SandboxUnavailable
from mha_judge.sandbox.base import Ended, Reply, Tier
from mha_judge.wire import FrameReader, WireError, encode_frame

if TYPE_CHECKING:
    from mha_judge.sandbox.events import Ended as EndedEvent
    from mha_judge.sandbox.events import Event
    from mha_judge.sandbox.limits import Limits

MAX_ENVELOPE_BYTES = 320 * 1024**2
START_TIMEOUT_S = 60.0
GRACE_S = 10.0


class SupervisorChannel:
    """Speaks to a supervisor that `process` runs; see `Channel` for the contract."""

    def __init__(
        self, process: subprocess.Popen[bytes], describe: Callable[[dict[str, Any]], Tier]
    ) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._describe = describe
        self._in = process.stdin.fileno()
        self._out = process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._reader = FrameReader(MAX_ENVELOPE_BYTES)
        self._number = 0
        self._ready = False
        self.peak_memory_bytes = 0

    def wait_until_ready(self) -> None:
        """Wait for the supervisor's first word.

        Raises:
            SandboxUnavailable: It ended before it could speak.
        """
        if self._ready:
            return
        try:
            event, _ = self._receive(time.monotonic() + START_TIMEOUT_S)
        except SandboxBroken as error:
            raise SandboxUnavailable(
                f"the supervisor did not start: {self._last_words()}"
            ) from error
        if event.event != "ready":
            raise SandboxUnavailable("the supervisor did not start: it spoke out of turn")
        self._ready = True

    def start(self, limits: Limits) -> Tier:
        self.wait_until_ready()
        number = self._send({"op": "start", "bounds": limits.bounds()})
        event = self._await(number, time.monotonic() + GRACE_S)
        if event.event == "refused":
            raise SandboxUnavailable(f"{event.what}; {event.remedy}")
        if event.event != "started":
            raise SandboxUnavailable("the worker could not be confined: it ended while it tried")
        return self._describe(event.confinement)

    def request(self, frame: bytes, timeout_s: float) -> Reply | Ended:
        deadline = time.monotonic() + timeout_s
        number = self._send({"op": "send"}, frame, deadline)
        try:
            event, payload = self._await_with_payload(number, deadline)
        except TimeoutError:
            ended = self._stop(overtaking=number)
            return Ended(**{**ended.__dict__, "reason": "timeout"})
        if event.event == "ended":
            return _as_ended(event)
        reader = FrameReader(MAX_ENVELOPE_BYTES)
        reader.feed(payload)
        try:
            inner = reader.next_frame()
        except WireError as error:
            ended = self._stop()
            return Ended(**{**ended.__dict__, "reason": f"broke the protocol: {error}"})
        assert inner is not None  # the supervisor cut it to its own lengths
        return Reply(*inner)

    def stop(self) -> Ended:
        return self._stop()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]  # asserted in __init__
        try:
            self._process.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _stop(self, overtaking: int | None = None) -> Ended:
        number = self._send({"op": "stop"})
        event = self._await(number, time.monotonic() + GRACE_S, skip=overtaking)
        if event.event != "ended":
            raise SandboxBroken("the supervisor did not end a worker that it was asked to end")
        return _as_ended(event)

    def _send(self, header: dict[str, Any], payload: bytes = b"", deadline: float = 0.0) -> int:
        self._number += 1
        view = memoryview(encode_frame({"id": self._number, **header}, payload))
        until = max(deadline, time.monotonic() + GRACE_S)
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                if not select.select([], [self._in], [], max(0.0, until - time.monotonic()))[1]:
                    raise SandboxBroken("the supervisor stopped reading") from None
            except BrokenPipeError as error:
                raise SandboxBroken(f"the supervisor is gone: {self._last_words()}") from error
        return self._number

    def _await(self, number: int, deadline: float, skip: int | None = None) -> Event:
        try:
            return self._await_with_payload(number, deadline, skip)[0]
        except TimeoutError as error:
            raise SandboxBroken("the supervisor does not answer") from error

    def _await_with_payload(
        self, number: int, deadline: float, skip: int | None = None
    ) -> tuple[Event, bytes]:
        while True:
            event, payload = self._receive(deadline)
            if getattr(event, "id", None) == number:
                return event, payload
            if getattr(event, "id", None) != skip or skip is None:
                raise SandboxBroken("the supervisor answered out of turn")

    def _receive(self, deadline: float) -> tuple[Event, bytes]:
        while True:
            try:
                frame = self._reader.next_frame()
            except WireError as error:
                raise SandboxBroken(f"the supervisor sent {error}") from error
            if frame is not None:
                from mha_judge.sandbox.events import parse_event  # imports pydantic

                return parse_event(frame[0]), frame[1]
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._out], [], [], left)[0]:
                raise TimeoutError
            data = os.read(self._out, 1 << 20)
            if not data:
                raise SandboxBroken(f"the supervisor is gone: {self._last_words()}")
            self._reader.feed(data)

    def _last_words(self) -> str:
        """Return the end of what the process wrote to standard error, and its exit status."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        text = ""
        if self._process.stderr is not None:
            os.set_blocking(self._process.stderr.fileno(), False)
            text = (self._process.stderr.read() or b"").decode("utf-8", "replace").strip()
        last = text.splitlines()[-1][:300] if text else "it said nothing"
        return f"exit status {self._process.poll()}, {last}"


def _as_ended(event: EndedEvent) -> Ended:
    return Ended(**event.model_dump(exclude={"id", "event"}))
