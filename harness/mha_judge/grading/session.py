"""One submission and its worker: requests in, values or typed failures out."""

from __future__ import annotations

import time
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from mha_judge.grading.arguments import Parameter
from mha_judge.grading.failures import Crashed, NotAssessed, Raised, TimedOut
from mha_judge.report.models import LoadProblem, Verdict
from mha_judge.report.untrusted import clean
from mha_judge.sandbox.base import Channel, Ended, Tier
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission
from mha_judge.wire import WireError, encode_frame, pack, unpack

MAX_OUTPUT = 64 * 1024


class Definition(BaseModel):
    """Something that the candidate's file defines, as the worker describes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: str
    own: bool
    constructor: list[Parameter] | None = None
    call: list[Parameter] | None = None
    module: bool = False
    type: str = ""


class _Raised(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: str
    message: str
    line: int | None = None
    column: int | None = None
    function: str | None = None
    source: str | None = None


class LoadFailed(Exception):
    """The file did not load; the verdict is not `accepted` whatever else is true."""

    def __init__(self, verdict: Verdict, problem: LoadProblem) -> None:
        super().__init__(problem.message)
        self.verdict = verdict
        self.problem = problem


class Session:
    """Keeps a worker with the submission loaded, and replaces it when it has ended."""

    def __init__(self, channel: Channel, submission: Submission, limits: Limits) -> None:
        self._channel = channel
        self._submission = submission
        self._limits = limits
        self._deadline = 0.0
        self._alive = False
        self._number = 0
        self.generation = 0
        """Counts workers: a handle belongs to one of them."""
        self.tier: Tier | None = None
        self.definitions: dict[str, Definition] = {}
        self.cpu_s = 0.0
        self.peak_memory_bytes = 0
        self.output = ""
        self.output_bytes = 0

    def load(self) -> None:
        """Start a worker and load the file into it.

        Raises:
            LoadFailed: If the file raises, never ends or ends its process.
            SandboxUnavailable: If nothing could run.
        """
        if not self._deadline:
            self._deadline = time.monotonic() + self._limits.total_s
        self.tier = self._channel.start(self._limits)
        self.generation += 1
        fields = {"source": self._submission.source, "filename": self._submission.path.name}
        answer = self._exchange("load", None, self._limits.load_s, fields)
        if isinstance(answer, Ended):
            raise self._load_failure(answer)
        self._alive = True
        header, _ = answer
        if "raised" in header:
            raised = _parse_raised(header["raised"])
            raise LoadFailed(Verdict.ERROR, _load_problem(raised))
        try:
            self.definitions = {
                clean(str(name)): Definition.model_validate(fields)
                for name, fields in header["ok"]["definitions"].items()
            }
        except (ValidationError, KeyError, AttributeError, TypeError) as error:
            problem = LoadProblem(message="the file broke the worker's protocol while it loaded")
            raise LoadFailed(Verdict.CRASHED, problem) from error

    def request(self, op: str, value: object = None, **fields: Any) -> dict[str, Any]:
        """Return the fields of the worker's answer, with `value` or `answer` unpacked.

        Raises:
            Raised, TimedOut, Crashed, NotAssessed: What became of the submission instead.
        """
        if not self._alive:
            self._revive()
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimedOut(
                f"the time of the whole submission, {self._limits.total_s:g} s, is used up"
            )
        answer = self._exchange(op, value, min(self._limits.call_s, left), fields)
        if isinstance(answer, Ended):
            raise self._call_failure(answer)
        header, payload = answer
        if "raised" in header:
            raised = _parse_raised(header["raised"])
            raise Raised(*_sentence(raised), kind=raised.type)
        return self._open(header, payload)

    @property
    def last_number(self) -> int:
        """Number of the last request, under which the worker keeps what it returned."""
        return self._number

    def close(self) -> None:
        """End the worker and note what it used."""
        if self._alive:
            self._note(self._channel.stop())

    def _revive(self) -> None:
        if self._deadline - time.monotonic() <= 0:
            raise TimedOut(
                f"the time of the whole submission, {self._limits.total_s:g} s, is used up"
            )
        try:
            self.load()
        except LoadFailed as error:
            raise NotAssessed(f"the file did not load again: {error}") from error

    def _exchange(
        self, op: str, value: object, timeout_s: float, fields: dict[str, Any]
    ) -> tuple[dict[str, Any], bytes] | Ended:
        self._number += 1
        tree, payload = pack(value)
        header = {"id": self._number, "op": op, "value": tree, **fields}
        answer = self._channel.request(encode_frame(header, payload), timeout_s)
        if isinstance(answer, Ended):
            self._alive = False
            self._note(answer)
            return answer
        if answer.header.get("id") != self._number or not ({"ok", "raised"} & set(answer.header)):
            self._alive = False
            ended = self._channel.stop()
            self._note(ended)
            return Ended("answered out of turn")
        return answer.header, answer.payload

    def _open(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        answer = header["ok"]
        try:
            if not isinstance(answer, dict):
                raise WireError("an answer that is not an object")
            for name in ("value", "answer"):
                if name in answer:
                    answer = {**answer, name: unpack(answer[name], payload)}
        except WireError as error:
            self._alive = False
            self._note(self._channel.stop())
            raise Crashed(f"the worker sent {error}") from error
        return answer

    def _note(self, ended: Ended) -> None:
        self.cpu_s += ended.cpu_s
        self.peak_memory_bytes = max(self.peak_memory_bytes, ended.peak_memory_bytes)
        self.output = (self.output + ended.output)[:MAX_OUTPUT]
        self.output_bytes += ended.output_bytes

    def _call_failure(self, ended: Ended) -> TimedOut | Crashed:
        if ended.reason == "timeout":
            return TimedOut(f"no answer within {self._limits.call_s:g} s")
        return Crashed(_how_it_ended(ended))

    def _load_failure(self, ended: Ended) -> LoadFailed:
        if ended.reason == "timeout":
            message = f"the file did not load within {self._limits.load_s:g} s"
            return LoadFailed(Verdict.TIMEOUT, LoadProblem(message=message))
        problem = LoadProblem(
            message=f"the process ended while the file loaded: {_how_it_ended(ended)}"
        )
        return LoadFailed(Verdict.CRASHED, problem)


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


def _how_it_ended(ended: Ended) -> str:
    if ended.signal is not None and ended.reason == "exited":
        return f"signal {ended.signal}: {_SIGNALS.get(ended.signal, 'killed')}"
    if ended.exit_code is not None:
        return f"it ended its own process with status {ended.exit_code}"
    return clean(ended.reason)


def _parse_raised(fields: object) -> _Raised:
    try:
        return _Raised.model_validate(fields)
    except ValidationError:
        return _Raised(type="Exception", message="(an error that cannot be read)")


def _sentence(raised: _Raised) -> tuple[str, str]:
    message = clean(raised.message, 600)
    text = f"raises {clean(raised.type, 80)}" + (f": {message}" if message else "")
    where = ""
    if raised.line is not None:
        where = f"line {raised.line}"
        if raised.source:
            where += f": {clean(raised.source.strip(), 200)}"
    return text, where


def _load_problem(raised: _Raised) -> LoadProblem:
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
    return LoadProblem(
        message=message,
        line=raised.line,
        column=raised.column,
        source=clean(raised.source, 300) if raised.source else None,
    )
