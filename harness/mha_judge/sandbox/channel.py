"""The judge's conversation with a supervisor, over whatever transport leads to it."""

from __future__ import annotations

import re
import signal
import time
from collections import deque
from collections.abc import Callable, Container
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mha_judge.errors import SandboxBroken, SandboxUnavailable
from mha_judge.sandbox.base import Ended, Reply, Tier
from mha_judge.sandbox.transport import GRACE_S, Transport
from mha_judge.wire import FrameReader, WireError, encode_frame, read_frame
from mha_judge.wire.bounds import MAX_ENVELOPE_BYTES

if TYPE_CHECKING:
    from mha_judge.sandbox.events import Ended as EndedEvent
    from mha_judge.sandbox.events import Event, Surroundings
    from mha_judge.sandbox.limits import Limits

START_TIMEOUT_S = 60.0
_BUSY = 6
"""The judge waits at most this many times a request's limit, as other processes may compute."""
_VMSTAT = Path("/proc/vmstat")

Describe = Callable[["dict[str, Any]", "Surroundings"], Tier]
"""Makes a tier from a worker's confinement and the supervisor's surroundings.

Raises `SandboxUnavailable` if they are less than was asked for; nothing has run by then.
"""


class _Asked(NamedTuple):
    """A frame that was sent."""

    number: int
    timeout_s: float
    size: int


class SupervisorChannel:
    """Speaks to the supervisor at the other end of `transport`; see `Channel` for the contract."""

    def __init__(self, transport: Transport, describe: Describe) -> None:
        self._transport = transport
        self._describe = describe
        self._reader = FrameReader(MAX_ENVELOPE_BYTES)
        self._number = 0
        self._surroundings: Surroundings | None = None
        self._killed_before = 0
        self._asked: deque[_Asked] = deque()
        """Frames without an answer."""
        self._come: deque[Reply | Ended] = deque()
        """Answers to frames before those, which nobody has read."""

    def wait_until_ready(self) -> None:
        """Wait for the supervisor's first event.

        Raises:
            SandboxUnavailable: The supervisor did not start.
        """
        if self._surroundings is not None:
            return
        try:
            event, _ = self._receive(time.monotonic() + START_TIMEOUT_S)
        except SandboxBroken as error:
            raise SandboxUnavailable(f"the supervisor did not start: {error}") from error
        except TimeoutError as error:
            raise SandboxUnavailable(
                f"the supervisor did not start within {START_TIMEOUT_S:.0f} s; is the machine busy?"
            ) from error
        if event.event != "ready":
            raise SandboxUnavailable("the supervisor did not start: it spoke out of turn")
        self._surroundings = event.surroundings

    def start(self, limits: Limits) -> Tier:
        self.wait_until_ready()
        assert self._surroundings is not None
        self._killed_before = _killed_for_memory()
        number = self._send({"op": "start", "bounds": limits.bounds()})
        event = self._await(number, time.monotonic() + GRACE_S)
        if event.event == "refused":
            raise SandboxUnavailable(f"{event.what}; {event.remedy}")
        if event.event != "started":
            raise SandboxUnavailable("the worker could not be confined: it ended while it tried")
        tier = self._describe(event.confinement, self._surroundings)
        return replace(tier, instruction_set=self._surroundings.instruction_set)

    def ask(self, frame: bytes, timeout_s: float) -> None:
        ahead = len(frame) + sum(one.size for one in [*self._asked][1:])
        if self._asked and ahead > self._transport.holds:
            # the supervisor, which may be writing an answer that nobody reads, would not read it
            answer: Reply | Ended | None = None
            while self._asked and not isinstance(answer, Ended):
                answer = self._next_answer()
                self._come.append(answer)
        header = {"op": "send", "timeout_s": timeout_s}
        number = self._send(header, frame, time.monotonic() + timeout_s)
        self._asked.append(_Asked(number, timeout_s, len(frame)))

    def answer(self) -> Reply | Ended:
        answer = self._come.popleft() if self._come else self._next_answer()
        if isinstance(answer, Ended):
            self._come.clear()
            while self._asked:  # no worker is there for them
                self._await(self._asked.popleft().number, time.monotonic() + GRACE_S)
        return answer

    def _next_answer(self) -> Reply | Ended:
        """Return the supervisor's answer to the oldest frame without one."""
        number, timeout_s, _ = self._asked[0]
        deadline = time.monotonic() + _BUSY * timeout_s + GRACE_S
        try:
            event, payload = self._await_with_payload(number, deadline)
        except TimeoutError:
            ended = self._stop()
            return Ended(**{**ended.__dict__, "reason": "timeout"})
        self._asked.popleft()
        if event.event == "ended":
            if event.signal == signal.SIGKILL and _killed_for_memory() > self._killed_before:
                raise SandboxBroken(
                    "memory ran out and the kernel killed the worker, within its limits; give the "
                    "machine, or the container around the judge, more, or grade fewer at a time"
                )
            return _as_ended(event)
        if event.event != "reply":
            raise SandboxBroken("the supervisor answered with an event of another request")
        try:
            inner = read_frame(payload, MAX_ENVELOPE_BYTES)
        except WireError as error:
            ended = self._stop()
            return Ended(**{**ended.__dict__, "reason": f"broke the protocol: {error}"})
        assert inner is not None  # the supervisor sends whole frames only
        return Reply(*inner[:2], worked_s=event.worked_s, computed_s=event.computed_s)

    def stop(self) -> Ended:
        self._come.clear()
        return self._stop()

    def close(self) -> None:
        self._transport.close()

    def _stop(self) -> Ended:
        overtaken = {one.number for one in self._asked}
        self._asked.clear()
        number = self._send({"op": "stop"})
        event = self._await(number, time.monotonic() + GRACE_S, overtaken)
        if event.event != "ended":
            raise SandboxBroken("the supervisor did not end a worker that it was asked to end")
        return _as_ended(event)

    def _send(self, header: dict[str, Any], payload: bytes = b"", deadline: float = 0.0) -> int:
        self._number += 1
        frame = encode_frame({"id": self._number, **header}, payload)
        self._transport.send(frame, max(deadline, time.monotonic() + GRACE_S))
        return self._number

    def _await(self, number: int, deadline: float, skip: Container[int] = ()) -> Event:
        try:
            return self._await_with_payload(number, deadline, skip)[0]
        except TimeoutError as error:
            raise SandboxBroken("the supervisor does not answer") from error

    def _await_with_payload(
        self, number: int, deadline: float, skip: Container[int] = ()
    ) -> tuple[Event, bytes]:
        while True:
            event, payload = self._receive(deadline)
            if getattr(event, "id", None) == number:
                return event, payload
            if getattr(event, "id", None) not in skip:
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
            self._reader.feed(self._transport.receive(deadline))


def _as_ended(event: EndedEvent) -> Ended:
    return Ended(**event.model_dump(exclude={"id", "event"}))


def _killed_for_memory() -> int:
    """Return how many processes this machine's kernel has killed for memory; 0 if not known.

    The kernel counts before it kills. A worker's own limit raises MemoryError and kills nothing.
    """
    try:
        found = re.search(r"^oom_kill (\d+)$", _VMSTAT.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0
