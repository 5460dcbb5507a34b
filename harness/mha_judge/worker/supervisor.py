"""The supervisor: torch imported once, a confined worker forked for each submission.

It reads the judge's frames on standard input and answers on standard output; it never runs a
submission, an operation of torch or a thread, so that a fork of it is always clean. A worker's
bytes are relayed unread inside the supervisor's own envelope: a worker can speak only for itself.

    start  bounds          -> started {confinement} | refused {what, remedy}
    send   timeout_s, payload: frame
                           -> reply {worked_s, computed_s}, payload: frame | ended {...}
    stop                   -> ended {...}
    alive                  -> nothing: the judge is still there

`ended` carries what `wait4` says (exit status, signal, CPU seconds, peak memory) and the first
bytes that the worker printed. `worked_s` is how long the worker had the request, however late the
judge reads the answer, less the time in which it waited for a processor: other processes on a busy
machine cost it nothing. A worker that works longer than `timeout_s` is ended. It gets one request
at a time: what is sent meanwhile waits here, and is answered with `ended`, too, once the worker
has ended. Only `stop` overtakes, and then no overtaken request is ever answered.

`--unconfined` forks workers that do not confine themselves. `--lease-s=N` ends the supervisor when
it has heard nothing for N seconds: in a container nothing else tells it that the judge is gone, as
the engine's own process keeps the pipes open. `--may-lack-landlock` says that what is around the
supervisor shows workers no file and no process of the machine, so that they may do without Landlock
if the kernel has none.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from mha_judge.wire import PREFIX, FrameReader, WireError, encode_frame, read_frame, widen
from mha_judge.wire.bounds import (
    MAX_COMMAND_BYTES,
    MAX_HEADER_BYTES,
    MAX_OUTPUT_BYTES,
    MAX_REPLY_BYTES,
)
from mha_judge.worker.confinement import (
    Bounds,
    ConfinementError,
    confine,
    hide_supervisor,
    unavailable,
)
from mha_judge.worker.surroundings import surroundings

CHUNK = 1 << 20
DRAIN_READS = 8
JUDGE_IN = 0
_OF_THE_PROCESS = 2  # CPUCLOCK_SCHED, in a clock's id: the clock of all threads of a process


@dataclass(frozen=True)
class Options:
    """What the command line says; see the module."""

    unconfined: bool = False
    may_lack_landlock: bool = False
    lease_s: int = 0

    @classmethod
    def read(cls, arguments: Sequence[str]) -> Options:
        """Parse the arguments; only a judge passes them, so an unknown one may simply raise."""
        values: dict[str, Any] = {}
        for argument in arguments:
            name, _, value = argument.removeprefix("--").replace("-", "_").partition("=")
            values[name] = int(value) if value else True
        return cls(**values)


class Worker:
    """A forked child and the parent's ends of its three pipes."""

    def __init__(self, bounds: Bounds, options: Options) -> None:
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        self.output, output = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _become_worker(requests, answers, output, bounds, parent, options)
        for descriptor in (requests, answers, output):
            os.close(descriptor)
        for descriptor in (self.requests, self.answers, self.output):
            os.set_blocking(descriptor, False)
        for descriptor in (self.requests, self.answers):
            widen(descriptor)
        self.outgoing = memoryview(b"")
        self.reader = RawReader()
        self.printed = bytearray()
        self.printed_bytes = 0
        self.output_open = True
        self._schedule: int | None = None
        with contextlib.suppress(OSError):  # this kernel has no schedstat
            self._schedule = os.open(f"/proc/{self.pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def forget_answers(self) -> None:
        """Drop what the worker sent without a request, so that it answers no later one."""
        self.reader.buffer.clear()
        with contextlib.suppress(BlockingIOError):
            os.read(self.answers, CHUNK)

    def drain_output(self) -> None:
        """Keep the first bytes of what the worker prints and drop the rest.

        A few reads empty a pipe, unless a flood refills it: that must not keep the supervisor from
        its other duties.
        """
        for _ in range(DRAIN_READS):
            if not self.output_open:
                return
            try:
                data = os.read(self.output, CHUNK)
            except BlockingIOError:
                return
            if not data:
                self.output_open = False
                return
            self.printed_bytes += len(data)
            self.printed += data[: MAX_OUTPUT_BYTES - len(self.printed)]

    def computed_s(self) -> float:
        """Return the processor time that the worker has used so far; 0 if it is not known."""
        try:
            return time.clock_gettime((~self.pid << 3) | _OF_THE_PROCESS)
        except OSError:
            return 0.0

    def held_up_s(self) -> float:
        """Return how long the worker has waited for a processor so far; 0 if it is not known."""
        if self._schedule is None:
            return 0.0
        try:
            return int(os.pread(self._schedule, 100, 0).split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0

    def end(self) -> dict[str, Any]:
        """Kill the worker, wait for it and say how it ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        self.drain_output()
        for descriptor in (self.requests, self.answers, self.output, self._schedule):
            if descriptor is not None:
                os.close(descriptor)
        code = os.waitstatus_to_exitcode(status)
        return {
            "exit_code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "cpu_s": round(usage.ru_utime + usage.ru_stime, 6),
            "peak_memory_bytes": usage.ru_maxrss * 1024,
            "output": bytes(self.printed).decode("utf-8", "replace"),
            "output_bytes": self.printed_bytes,
        }


class RawReader:
    """Collects one frame of a worker as bytes, looking only at its lengths."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def take(self) -> bytes | None:
        """Return the bytes of a whole frame, or None.

        Raises:
            WireError: If the worker claims more than a reply may hold.
        """
        if len(self.buffer) < PREFIX.size:
            return None
        _, header_size, payload_size = PREFIX.unpack_from(self.buffer)
        end = PREFIX.size + header_size + payload_size
        if header_size > MAX_HEADER_BYTES or end > MAX_REPLY_BYTES:
            raise WireError(f"a reply of {end} bytes; at most {MAX_REPLY_BYTES}")
        if len(self.buffer) < end:
            return None
        with memoryview(self.buffer) as view:
            frame = bytes(view[:end])
        del self.buffer[:end]
        return frame


class Supervisor:
    """Answers the judge's frames until the judge closes its end."""

    def __init__(self, judge_out: int, options: Options) -> None:
        self._judge_out = judge_out
        self._options = options
        self._worker: Worker | None = None
        self._waiting: int | None = None  # id of the request that a worker is working on
        self._next: deque[tuple[dict[str, Any], bytes]] = deque()  # sent while it works
        self._starting = False
        self._asked = 0.0  # when, by the monotonic clock
        self._timeout_s = 0.0
        self._computed_before = 0.0  # the worker's processor time at that moment
        self._held_up_before = 0.0
        self._judge = FrameReader(MAX_COMMAND_BYTES)

    def run(self) -> None:
        signal.alarm(self._options.lease_s)
        self._say({"event": "ready", "pid": os.getpid(), "surroundings": surroundings()})
        try:
            while self._step():
                pass
        finally:
            if self._worker is not None:
                self._worker.end()

    def _step(self) -> bool:
        poller = select.poll()
        poller.register(JUDGE_IN, select.POLLIN)
        worker = self._worker
        if worker is not None:
            if self._waiting is not None:
                poller.register(worker.answers, select.POLLIN)
            if worker.outgoing:
                poller.register(worker.requests, select.POLLOUT)
            if worker.output_open:
                poller.register(worker.output, select.POLLIN)
        left_s = self._left_s()
        if left_s is not None and left_s <= 0:
            self._end("timeout")
            return True
        ready = {fd for fd, _ in poller.poll(None if left_s is None else 1 + left_s * 1_000)}
        if worker is not None:
            if worker.output in ready:
                worker.drain_output()
            if worker.requests in ready:
                self._pump(worker)
            if worker.answers in ready:
                self._listen(worker)
        if JUDGE_IN in ready:
            return self._obey()
        return True

    def _obey(self) -> bool:
        data = os.read(JUDGE_IN, CHUNK)
        if not data:
            return False
        signal.alarm(self._options.lease_s)  # 0 cancels it; SIGALRM ends this process
        self._judge.feed(data)
        while (frame := self._judge.next_frame()) is not None:
            header, _ = frame
            match header["op"]:
                case "start":
                    self._start(header)
                case "send":
                    self._next.append(frame)
                    self._send_next()
                case "stop":
                    self._stop(header)
                case "alive":
                    pass
        return True

    def _start(self, header: dict[str, Any]) -> None:
        self._next.clear()
        if self._worker is not None:
            self._worker.end()
        self._worker = Worker(Bounds(**header["bounds"]), self._options)
        self._waiting, self._starting = header["id"], True

    def _send_next(self) -> None:
        if self._waiting is not None or not self._next:
            return
        header, payload = self._next.popleft()
        self._waiting, self._asked = header["id"], time.monotonic()
        self._timeout_s = header["timeout_s"]
        if self._worker is None:
            self._ended({"exit_code": None, "signal": None, "reason": "no worker"})
            return
        self._computed_before = self._worker.computed_s()
        self._held_up_before = self._worker.held_up_s()
        self._worker.forget_answers()
        self._worker.outgoing = memoryview(payload)
        self._pump(self._worker)

    def _stop(self, header: dict[str, Any]) -> None:
        self._next.clear()
        self._waiting = header["id"]
        self._end("stopped")

    def _end(self, reason: str) -> None:
        worked_s = self._worked_s()
        fields = self._worker.end() if self._worker is not None else {}
        self._worker = None
        self._ended({**fields, "reason": reason}, worked_s)

    def _pump(self, worker: Worker) -> None:
        try:
            sent = os.write(worker.requests, worker.outgoing[:CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            worker.outgoing = memoryview(b"")
            return  # the other pipe shows that the worker ended
        worker.outgoing = worker.outgoing[sent:]

    def _listen(self, worker: Worker) -> None:
        try:
            data = os.read(worker.answers, CHUNK)
        except BlockingIOError:
            return
        worker.reader.buffer += data
        try:
            frame = worker.reader.take()
        except WireError as error:
            frame, data = None, b""
            reason = str(error)
        else:
            reason = "exited"
        if frame is not None:
            self._reply(frame)
        elif not data:
            self._end(reason)

    def _reply(self, frame: bytes) -> None:
        number, self._waiting = self._waiting, None
        if self._starting:  # sent before the source was read: the child is still our own code
            self._starting = False
            parsed = read_frame(frame, 0)
            assert parsed is not None
            self._say({"id": number, **parsed[0]})
        else:
            took = {"worked_s": self._worked_s(), "computed_s": self._computed_s()}
            self._asked = 0.0
            self._say({"id": number, "event": "reply", **took}, frame)
            self._send_next()

    def _ended(self, fields: dict[str, Any], worked_s: float = 0.0) -> None:
        number, self._waiting, self._starting = self._waiting, None, False
        self._asked = 0.0
        self._say({"id": number, "event": "ended", "worked_s": worked_s, **fields})
        self._send_next()

    def _left_s(self) -> float | None:
        """Return how long the worker may still work on a request; None if it has none."""
        if self._waiting is None or self._starting or self._worker is None:
            return None
        return self._timeout_s - self._worked_s()

    def _worked_s(self) -> float:
        """Return how long the worker has had the request, less the time it waited for a processor.

        At least the processor time of all its threads: they gain no time by blocking each other.
        """
        if not self._asked or self._worker is None:
            return 0.0
        had_s = time.monotonic() - self._asked
        held_up_s = self._worker.held_up_s() - self._held_up_before
        return min(had_s, max(had_s - held_up_s, self._computed_s()))

    def _computed_s(self) -> float:
        """Return the processor time that the worker has used for the last request."""
        if self._worker is None:
            return 0.0
        return max(0.0, self._worker.computed_s() - self._computed_before)

    def _say(self, header: dict[str, Any], payload: bytes = b"") -> None:
        view = memoryview(encode_frame(header, payload))
        while view:
            view = view[os.write(self._judge_out, view) :]


def _become_worker(
    requests: int, answers: int, output: int, bounds: Bounds, parent: int, options: Options
) -> NoReturn:
    """Turn the forked child into a worker: its pipes, its confinement, its loop."""
    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        if not bounds.gpu:  # in a backward pass torch would look for one, and warn
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        confinement: dict[str, str | int | bool] = {}
        if not options.unconfined:
            confinement = confine(
                bounds,
                keep_fds=(0, 1, 2, requests, answers),
                parent_pid=parent,
                may_lack_landlock=options.may_lack_landlock,
            )
        event = {"event": "started", "confinement": confinement}
        from mha_judge.worker.serve import serve

        os.write(answers, encode_frame(event))
        serve(requests, answers)
        status = 0
    except ConfinementError as error:
        refusal = {"event": "refused", "what": error.what, "remedy": error.remedy}
        os.write(answers, encode_frame(refusal))
    finally:
        os._exit(status)


def _die_with_the_judge() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _import_before_fork() -> None:
    """Import what a worker needs now: after the fork every worker would wait for each import."""
    import numpy.ctypeslib  # noqa: F401  # safetensors imports it late
    import safetensors.numpy
    import safetensors.torch  # noqa: F401
    import torch
    import torch.nn.functional

    import mha_judge.worker.serve  # noqa: F401  # with all that it imports
    from mha_judge.worker import noting

    with contextlib.suppress(ImportError):  # submissions may use it, if it is there
        import einops  # noqa: F401

    torch.set_num_threads(1)
    noting.install()


def main() -> None:
    """Serve the judge on standard input and output."""
    _die_with_the_judge()
    gc.disable()  # what is imported is never garbage
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's to handle
    options = Options.read(sys.argv[1:])
    judge_out = os.dup(1)
    os.dup2(2, 1)  # what a library prints while it is imported must not land between frames
    _import_before_fork()
    # what `unavailable` builds, the filter and the lists of paths, forks inherit
    if not options.unconfined and unavailable(options.may_lack_landlock) is None:
        hide_supervisor()
    gc.freeze()
    gc.enable()
    Supervisor(judge_out, options).run()
    os._exit(0)  # unloading torch would keep the judge waiting


if __name__ == "__main__":
    main()
