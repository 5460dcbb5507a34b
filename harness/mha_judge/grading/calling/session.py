"""One submission and its worker: requests in, values or typed failures out."""

from __future__ import annotations

import re
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from mha_judge.errors import SandboxUnavailable
from mha_judge.grading.binding.described import Definition
from mha_judge.grading.calling.replies import (
    Facts,
    Note,
    RaisedThere,
    parse_notes,
    parse_raised,
    parse_reached,
    parse_reply,
)
from mha_judge.grading.draw import one_way
from mha_judge.grading.failures import (
    CheckFailure,
    Crashed,
    NotAssessed,
    OutOfTime,
    Raised,
    TimedOut,
)
from mha_judge.outcomes import Verdict
from mha_judge.report.models import LoadProblem
from mha_judge.sandbox.base import Channel, Ended, Reply, Tier
from mha_judge.sandbox.limits import Limits
from mha_judge.sanitising import clean, clean_line
from mha_judge.submission import Submission
from mha_judge.wire import WireError, encode_frame, pack, unpack
from mha_judge.wire.bounds import (
    MAX_ANSWERS_BYTES,
    MAX_KEPT_BYTES,
    MAX_NOTES,
    MAX_OUTPUT_BYTES,
    MIB,
)
from mha_judge.wire.operations import Operation

DEVICE_START_S = 120.0
"""Time for a worker to take a GPU: CUDA's libraries are gigabytes, read from a cold disk."""
_GPU_IS_LOST = frozenset({"AcceleratorError"})
_GPU_ERROR = re.compile(r"CUDA error|device-side assert")


class LoadFailed(Exception):
    """The file did not load; the verdict is not `accepted` whatever else is true."""

    def __init__(self, verdict: Verdict, problem: LoadProblem) -> None:
        super().__init__(problem.message)
        self.verdict = verdict
        self.problem = problem


class NeverAsked(Exception):
    """The worker ended before it had read a request."""


class Pending:
    """A request that the worker may not have answered yet."""

    def __init__(
        self, session: Session, op: Operation, number: int, timeout_s: float, is_kept: bool
    ) -> None:
        self.op = op
        self.is_kept = is_kept
        """Whether the answer stays until the submission is diagnosed."""
        self.number = number
        """Under which the worker keeps what it returns."""
        self.timeout_s = timeout_s
        self._answer: Future[Any] = Future()
        self._session = session

    def take(self, answered: Callable[[Pending], Any]) -> None:
        """Take what the worker answers, or how it fails."""
        try:
            self._answer.set_result(answered(self))
        except (CheckFailure, NeverAsked) as failure:
            # without its frames, which hold what has come, and the request itself
            self._answer.set_exception(failure.with_traceback(None))

    def wait(self) -> Any:
        """Return the worker's answer, validated: a model of `replies`.

        Raises:
            Raised, TimedOut, Crashed: What the submission did instead of answering.
            NeverAsked: It ended at an earlier request.
        """
        try:
            while not self._answer.done():
                self._session.read_answer()
            return self._answer.result()
        finally:
            del self  # else an exception, through its frames, would keep itself


class Session:
    """Keeps a worker with the submission loaded, and replaces it when it has ended."""

    def __init__(
        self,
        channel: Channel,
        submission: Submission,
        limits: Limits,
        device: str = "",
        device_bytes: int = 0,
        dropout: bool = True,
        fused_attention: bool = True,
        seed: int = 0,
    ) -> None:
        """Take the sandbox, the file and its limits; nothing runs before `load`.

        Args:
            channel: The sandbox.
            submission: The file.
            limits: What it may use.
            device: What each worker takes before it loads the file, by torch's name; the CPU if
                empty. Only with one may a worker reach a GPU.
            device_bytes: What may be allocated there.
            dropout: Whether torch's dropout does anything.
            fused_attention: Whether torch's ready-made attention is there.
            seed: The grade's seed. It fixes the submission's draws, which do not reveal it.
        """
        self._dropout = dropout
        self._fused_attention = fused_attention
        self._seed = seed
        self._device = device
        self._device_bytes = device_bytes
        self.facts: Facts | None = None
        """The device, once a worker has taken it."""
        self._channel = channel
        self._submission = submission
        self._limits = limits.with_gpu() if device else limits
        self._left_s = self._limits.total_s
        self._call_s = self._limits.call_s
        self._alive = False
        self._number = 0
        self._pending: deque[Pending] = deque()
        """Requests whose answers nobody has read."""
        self._first: list[tuple[dict[str, Any], object]] = []
        """What the worker does first at the next request, each with its value."""
        self._raised = RaisedThere(type="", message="")
        self.generation = 0
        """Counts workers that have ended: a handle belongs to the one that was there then."""
        self.tier: Tier | None = None
        self.definitions: dict[str, Definition] = {}
        self.computed_s = 0.0
        """The processor time of all answers; a busy machine does not add to it."""
        self.cpu_s = 0.0
        self.peak_memory_bytes = 0
        self.output = ""
        self.output_bytes = 0
        self._are_kept = True
        self._kept_bytes = 0
        self._answers_bytes = 0
        self._notes: dict[str, Note] = {}
        self.reached: set[int] = set()
        """Blocks of the file that were reached, by number, as the workers tell it."""

    def another(self, submission: Submission, *, dropout: bool = True) -> Session:
        """Return a session for another file in the same sandbox, once this one is closed."""
        return Session(
            self._channel,
            submission,
            self._limits,
            dropout=dropout,
            fused_attention=self._fused_attention,
            seed=self._seed,
        )

    def load(self) -> None:
        """Start a worker and load the file into it.

        Raises:
            LoadFailed: If the file raises, never ends or ends its process.
            SandboxUnavailable: If nothing could run.
        """
        self.tier = self._channel.start(self._limits)
        self._alive = True
        self._first = []  # it was for the worker before
        if self._device:
            self._take_device()
        fields: dict[str, Any] = {
            "source": self._submission.source,
            "filename": self._submission.path.name,
            "draws": one_way(f"{self._seed}:draws of the submission"),
        }
        if not self._dropout:
            fields["dropout"] = False
        if not self._fused_attention:
            fields["fused_attention"] = False
        try:
            loaded = self._ask(Operation.LOAD, None, self._limits.load_s, fields).wait()
        except Raised as raised:
            self._end()
            raise LoadFailed(Verdict.ERROR, _load_problem(self._raised)) from raised
        except TimedOut as late:
            message = f"the file did not load within {self._limits.load_s:g} s"
            raise LoadFailed(Verdict.TIMEOUT, LoadProblem(message=message)) from late
        except Crashed as crashed:
            message = f"the process ended while the file loaded: {crashed.message}"
            raise LoadFailed(Verdict.CRASHED, LoadProblem(message=message)) from crashed
        self.definitions = loaded.definitions

    def _take_device(self) -> None:
        """Let the worker take its device while it still runs only our own code.

        Raises:
            SandboxUnavailable: The device cannot be taken.
        """
        fields = {"name": self._device, "memory_bytes": self._device_bytes}
        try:
            self.facts = self._ask(Operation.DEVICE, None, DEVICE_START_S, fields).wait()
        except (Raised, Crashed, TimedOut) as error:
            if self._alive:
                self._end()
            raise SandboxUnavailable(error.message) from error

    def request(self, op: Operation, value: object = None, **fields: Any) -> Any:
        """Return the worker's answer, validated: a model of `replies`.

        Args:
            op: What the worker is asked for.
            value: What the worker is given.
            fields: The rest of the request's header.

        Raises:
            Raised, TimedOut, Crashed, NotAssessed: What the submission did instead of answering.
        """
        self.settle()
        return self.begin(op, value, **fields).wait()

    def begin(self, op: Operation, value: object = None, **fields: Any) -> Pending:
        """Ask the worker, which may not have answered all earlier requests yet.

        Args:
            op: What the worker is asked for.
            value: What the worker is given, copied at once.
            fields: The rest of the request's header.

        Raises:
            TimedOut, NotAssessed: The submission can be asked nothing more.
        """
        if not self._alive:
            self._revive()
        self._require_time()
        return self._ask(op, value, self._call_s, fields)

    def settle(self) -> None:
        """Read the answers to all requests so far; whoever waits for one still gets it."""
        while self._pending:
            self.read_answer()

    def put_off(self, op: Operation, value: object, **fields: Any) -> None:
        """Let the worker do something along with the next request, which says how that went.

        Args:
            op: What the worker does; it answers nothing.
            value: What it is given, which must not change until then.
            fields: The rest of its header.
        """
        self._first.append(({"op": op, **fields}, value))

    @contextmanager
    def allowing(self, more_s: float) -> Iterator[None]:
        """Add `more_s` to the time limit of a call, and to that of the whole submission."""
        call_s = self._call_s
        self._call_s += more_s
        self._left_s += more_s
        try:
            yield
        finally:
            self._call_s = call_s

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Count the answers to what is asked within as those that nobody keeps."""
        before, self._are_kept = self._are_kept, False
        try:
            yield
        finally:
            self._are_kept = before

    @property
    def notes(self) -> list[Note]:
        """What the submission was noted to use, in all requests so far."""
        return list(self._notes.values())

    @property
    def last_number(self) -> int:
        """Number of the last request, under which the worker keeps what it returned."""
        return self._number

    def close(self) -> None:
        """End the worker and note what it used."""
        if self._alive:
            self._end()

    def _revive(self) -> None:
        self._require_time()
        try:
            self.load()
        except LoadFailed as error:
            raise NotAssessed(f"the file did not load again: {error}") from error

    def _require_time(self) -> None:
        """Check that the submission has not used up its time.

        Only the worker's time counts: a judge that is slow, or on a busy machine, must not fail a
        right answer.
        """
        if self._left_s <= 0:
            raise OutOfTime(
                f"the time of the whole submission, {self._limits.total_s:g} s, is used up"
            )

    def _ask(
        self, op: Operation, value: object, timeout_s: float, fields: dict[str, Any]
    ) -> Pending:
        self._number += 1
        first, self._first = self._first, []
        (_, (tree, *trees)), payload = pack([value, *(one for _, one in first)], strides=True)
        header = {"id": self._number, "op": op, "value": tree, **fields}
        if first:
            told = zip(first, trees, strict=True)
            header["first"] = [{**asked, "value": its_tree} for (asked, _), its_tree in told]
        timeout_s = max(0.1, min(timeout_s, self._left_s))
        try:
            self._channel.ask(encode_frame(header, payload), timeout_s)
        except BaseException:
            self._lose()
            raise
        pending = Pending(self, op, self._number, timeout_s, self._are_kept)
        self._pending.append(pending)
        return pending

    def read_answer(self) -> None:
        """Read the worker's next answer; a worker that breaks the protocol is ended."""
        self._pending.popleft().take(self._answered)

    def _answered(self, pending: Pending) -> Any:
        try:
            answer = self._channel.answer()
        except BaseException:
            self._lose()  # nobody waits for its answer any more
            raise
        self._left_s -= answer.worked_s
        if isinstance(answer, Reply):
            self.computed_s += answer.computed_s or answer.worked_s
        if isinstance(answer, Ended):
            self._lose()
            self._note(answer)
            if _used_up_its_time(answer, self._limits):
                raise TimedOut(f"its process used up {self._limits.cpu_s} s of a processor")
            if answer.reason == "timeout":
                raise TimedOut(f"no answer within {pending.timeout_s:.3g} s")
            raise Crashed(_how_it_ended(answer))
        try:
            return self._open(pending, answer)
        except Crashed:
            self._end()
            raise
        except Raised as raised:
            lost = raised.kind in _GPU_IS_LOST or _GPU_ERROR.search(raised.message)
            if self._device and lost:
                self._end()  # nothing works on this device any more in this process
            raise

    def _open(self, pending: Pending, reply: Reply) -> Any:
        header = reply.header
        if header.get("id") != pending.number:
            raise Crashed("the worker answered out of turn")
        self._answers_bytes += len(reply.payload)
        self._kept_bytes += len(reply.payload) * pending.is_kept
        counts = (self._kept_bytes, MAX_KEPT_BYTES), (self._answers_bytes, MAX_ANSWERS_BYTES)
        for count, most in counts:
            if count > most:
                raise Crashed(f"its answers together are over {most // MIB} MiB")
        for note in parse_notes(header["notes"]) if "notes" in header else ():
            if len(self._notes) < MAX_NOTES:  # a worker may say anything
                self._notes.setdefault(note.name, note)
        if "reached" in header:
            self.reached.update(parse_reached(header["reached"]))
        if "raised" in header:
            self._raised = parse_raised(header["raised"])
            raise Raised(*_sentence(self._raised), kind=self._raised.type)
        answer = header.get("ok")
        if not isinstance(answer, dict):
            raise Crashed("the worker's answer cannot be read")
        try:
            if "value" in answer:
                answer = {**answer, "value": unpack(answer["value"], reply.payload)}
            if "answer" in answer:
                opened = unpack(answer.pop("answer"), reply.payload)
                answer = {**opened, **answer} if isinstance(opened, dict) else {}
        except WireError as error:
            raise Crashed(f"the worker sent {error}") from error
        return parse_reply(pending.op, answer)

    def _lose(self) -> None:
        self._alive = False
        self.generation += 1
        for pending in self._pending:
            pending.take(_never_asked)
        self._pending.clear()

    def _end(self) -> None:
        self._lose()
        self._note(self._channel.stop())

    def _note(self, ended: Ended) -> None:
        self.cpu_s += ended.cpu_s
        self.peak_memory_bytes = max(self.peak_memory_bytes, ended.peak_memory_bytes)
        self.output = (self.output + ended.output)[:MAX_OUTPUT_BYTES]
        self.output_bytes += ended.output_bytes


def _never_asked(pending: Pending) -> Any:
    raise NeverAsked


_PACKAGES = "torch, numpy and einops"
"""What a submission may import beside the standard library."""
_SIGNALS: dict[int, str] = {
    6: "aborted",
    7: "bus error",
    8: "arithmetic error in native code",
    9: "killed, as when its CPU time is used up",
    11: "crashed in native code (segmentation fault)",
    24: "its CPU time is used up",
    25: "it wrote a file",
    31: "made a system call that the sandbox forbids",
}


def _used_up_its_time(ended: Ended, limits: Limits) -> bool:
    """Return whether the kernel has ended a process for its processor time."""
    killed = ended.signal == signal.SIGKILL and ended.cpu_s >= limits.cpu_s
    return ended.signal == signal.SIGXCPU or killed


def _how_it_ended(ended: Ended) -> str:
    if ended.signal is not None and ended.reason == "exited":
        return f"signal {ended.signal}: {_SIGNALS.get(ended.signal, 'killed')}"
    if ended.exit_code is not None:
        return f"it ended its own process with status {ended.exit_code}"
    return clean(ended.reason)


def _sentence(raised: RaisedThere) -> tuple[str, str]:
    message = clean(raised.message.strip(), 600)
    text = f"raises {clean_line(raised.type, 80)}" + (f": {message}" if message else "")
    where = ""
    if raised.line is not None:
        where = f"line {raised.line}"
        if raised.source:
            where += f": {clean_line(raised.source.strip(), 200)}"
    return text, where


def _load_problem(raised: RaisedThere) -> LoadProblem:
    message, _ = _sentence(raised)
    message = message.removeprefix("raises ")
    if raised.column is None:
        message = (
            f"the file raises {message}"
            if raised.type != "SystemExit"
            else (
                "the file ends the program while it is imported (SystemExit); "
                'keep such calls under `if __name__ == "__main__":`'
            )
        )
        if raised.type == "ModuleNotFoundError":
            message += f"; beside the standard library there are {_PACKAGES}"
        elif raised.called_from is not None and raised.called_from != raised.line:
            message += (
                f"; line {raised.called_from} calls it while the file is imported: keep such calls "
                'under `if __name__ == "__main__":`'
            )
    return LoadProblem(
        message=message,
        line=raised.line,
        column=raised.column,
        source=clean_line(raised.source, 300) if raised.source else None,
    )
