"""Whatever a worker sends, the judge has a value or a typed failure, soon and in little memory."""

import contextlib
import json
import math
import resource
import struct
import time

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save
from sandboxes import Prompt
from wire.test_values import JSON, NODES, TENSORS

from mha_judge.bank import Bank
from mha_judge.errors import SandboxBroken
from mha_judge.grading.calling.session import LoadFailed, Session
from mha_judge.grading.failures import CheckFailure
from mha_judge.judge import grade
from mha_judge.sandbox.base import Ended, Reply, Tier
from mha_judge.sandbox.channel import SupervisorChannel
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission
from mha_judge.wire import PREFIX, FrameReader, encode_frame, pack, unpack
from mha_judge.wire.bounds import MAX_KEPT_BYTES, MAX_TENSOR_BYTES

BANK = Bank.builtin()
SUBMISSION = Submission.of("x = 1\n", "answer.py")
READY = encode_frame({"event": "ready", "pid": 1, "surroundings": {
    "uid": 1, "capabilities": None, "no_new_privs": None, "seccomp": None, "read_only_root": None,
    "interfaces": None, "instruction_set": "AVX2", "memory_bytes": None, "swap_bytes": None,
    "tasks": None, "cpus": None,
}})  # fmt: skip


class Stream:
    """A transport whose supervisor says what it was given, then nothing more or the end."""

    holds = 0

    def __init__(self, data: bytes, ends: bool, step: int) -> None:
        self._pieces = [data[start : start + step] for start in range(0, len(data), step)]
        self._ends = ends

    def send(self, data, deadline):
        pass

    def receive(self, deadline):
        if self._pieces:
            return self._pieces.pop(0)
        if self._ends:
            raise SandboxBroken("the supervisor is gone")
        raise TimeoutError

    def last_words(self):
        return ""

    def close(self):
        pass


def events(number: int) -> st.SearchStrategy[bytes]:
    """Frames as a supervisor sends them, and as none does."""
    names = st.sampled_from(["started", "reply", "ended", "refused", "ready", "", 3])
    fields = st.fixed_dictionaries(
        {"event": names},
        optional={"id": st.integers(0, number) | st.none(), "reason": st.text(max_size=9),
                  "confinement": st.just({}), "output": st.text(max_size=9), "what": JSON},
    )  # fmt: skip
    inner = st.binary(max_size=40) | st.builds(
        lambda header, payload: PREFIX.pack(b"MHJ1", len(header), len(payload)) + header + payload,
        (JSON | st.fixed_dictionaries({"id": st.integers(0, 4), "ok": JSON})).map(
            lambda value: json.dumps(value).encode()
        ),
        st.binary(max_size=20),
    )
    return st.builds(encode_frame, fields, inner)


def spoiled(data: bytes, cut: int, place: int, byte: int) -> bytes:
    """Return a stream with its end cut off and one byte replaced."""
    data = data[: len(data) - cut] if cut else data
    at = place % len(data) if data else 0
    return data[:at] + bytes([byte]) + data[at + 1 :] if place % 3 == 0 and data else data


@settings(max_examples=300, deadline=None)
@given(
    st.lists(events(4) | st.binary(max_size=30), max_size=5),
    st.booleans(), st.integers(1, 4096), st.integers(0, 9), st.integers(0, 10**4),
    st.integers(0, 255),
)  # fmt: skip
def test_a_channel_answers_any_stream_with_a_value_or_a_broken_sandbox(
    frames, ends, step, cut, place, byte
):
    ordinary = encode_frame({"id": 1, "event": "started", "confinement": {}})
    stream = READY + ordinary + spoiled(b"".join(frames), cut, place, byte)
    channel = SupervisorChannel(Stream(stream, ends, step), lambda details, seen: Tier("x", "x"))
    channel.start(Limits())

    for _ in range(3):
        try:
            channel.ask(b"", 1.0)
            found = channel.answer()
        except SandboxBroken:
            return
        assert isinstance(found, (Reply, Ended))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.integers(1, 50))
def test_a_session_survives_a_supervisor_that_starts_with_anything(data, step):
    channel = SupervisorChannel(Stream(READY + data, True, step), lambda *_: Tier("x", "x"))

    with pytest.raises(SandboxBroken):
        Session(channel, SUBMISSION, Limits()).load()


class Liar(Prompt):
    """A channel whose worker answers from a list, in the right frame and with the right number."""

    def __init__(self, answers) -> None:
        self._answers = list(answers)
        self._tensors = TENSORS

    def start(self, limits):
        return Tier("liar", "none")

    def reply(self, frame):
        reader = FrameReader(1 << 30)
        reader.feed(frame)
        asked = reader.next_frame()
        assert asked is not None
        self._answers.append(self._answers.pop(0))
        answer = self._answers[-1]
        header = answer(asked[0]) if callable(answer) else answer
        return Reply({"id": asked[0]["id"], **header}, self._tensors)

    def stop(self):
        return Ended("stopped")

    def close(self):
        pass


PARAMETERS = st.lists(
    st.fixed_dictionaries({
        "name": st.sampled_from(["q", "k", "v", "mask", "", "x" * 200, "self", "\x1b["]),
        "kind": st.sampled_from(["positional_only", "positional_or_keyword", "keyword_only",
                                 "var_positional", "var_keyword", "other"]),
        "required": st.booleans(),
    }), max_size=5,
)  # fmt: skip
DEFINITIONS = st.dictionaries(
    st.sampled_from(
        "scaled_dot_product_attention attention Attention sdpa x \x1b[2J ANSWERS".split()
    ),
    st.fixed_dictionaries({
        "kind": st.sampled_from(["class", "function", "value", "", "module"]),
        "own": st.booleans(),
        "call": st.none() | PARAMETERS,
        "constructor": st.none() | PARAMETERS,
        "module": st.booleans(),
    }), max_size=4,
)  # fmt: skip
NAMED = st.dictionaries(
    st.sampled_from(["value", "inputs", "gradients", "x"]).map(lambda name: json.dumps(name)),
    NODES | st.just(["tensor", "0"]) | st.just(["none"])
    | st.just(["tuple", [["list", [["list", [["none"], ["none"]]]]], ["dict", []]]])
    | st.just(["dict", [[["str", "inputs"], ["dict", [[["str", "q"], ["none"]]]]],
                        [["str", "parameters"], ["dict", []]]]]),
    max_size=4,
).map(lambda found: ["dict", [[["str", json.loads(k)], v] for k, v in found.items()]])  # fmt: skip
ANSWERS = st.one_of(
    st.fixed_dictionaries({"ok": JSON}),
    st.fixed_dictionaries({"raised": JSON}),
    st.fixed_dictionaries(
        {"ok": st.fixed_dictionaries({"answer": NODES | NAMED}, optional={"observed": JSON})}
    ),
    st.fixed_dictionaries({"ok": st.fixed_dictionaries({"value": NODES})}),
    st.fixed_dictionaries(
        {"ok": st.fixed_dictionaries({"handle": st.integers(-1, 3), "parameters": JSON})}
    ),
)


def claims(definitions, answers):
    """Answer `load` with definitions and everything else from a list."""
    turn = iter(range(10**9))

    def answer(header):
        if header["op"] == "load":
            return {"ok": {"definitions": definitions}}
        return answers[next(turn) % len(answers)]

    return answer


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(DEFINITIONS, st.lists(ANSWERS, min_size=1, max_size=6))
def test_a_whole_grade_of_lies_is_a_verdict_and_never_accepted(definitions, answers):
    liar = Liar([claims(definitions, answers)])

    report = grade(SUBMISSION, BANK, BANK.problem("sdpa"), liar)

    assert report.verdict in ("rejected", "error", "crashed")
    report.model_dump_json()


RIGHT_NAME = {"scaled_dot_product_attention": {
    "kind": "function", "own": True, "call": [
        {"name": name, "kind": "positional_or_keyword", "required": name != "mask"}
        for name in ("q", "k", "v", "mask")
    ]}}  # fmt: skip


class HalfTrue(Liar):
    """Computes right values, and lies about everything beside them."""

    def __init__(self, spoil) -> None:
        super().__init__([None])
        self._spoil = spoil

    def reply(self, frame):
        reader = FrameReader(1 << 30)
        reader.feed(frame)
        header, payload = reader.next_frame()
        if header["op"] == "load":
            return Reply({"id": header["id"], "ok": {"definitions": RIGHT_NAME}}, b"")
        args, kwargs, _ = unpack(header["value"], payload, strides=True)
        q, k, v = args[:3]
        mask = args[3] if len(args) > 3 else kwargs.get("mask")
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            return Reply({"id": header["id"], "raised": {"type": "E", "message": "m"}}, b"")
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        weights = scores.softmax(-1)
        tree, tensors = pack({"value": (weights @ v, weights), **self._spoil(args, kwargs)})
        return Reply({"id": header["id"], "ok": {"answer": tree}}, tensors)


@pytest.mark.parametrize(
    "inputs",
    [
        ([[torch.zeros(1)] * 5, None, "x"], {}), ([], {}), (None, None), ({}, []), 3,
        ([torch.zeros(2)] * 3, {}), ([[], [], []], {"mask": [[]]}), ([None] * 4, {"q": 1}),
        ([{"a": torch.zeros(1)}, ((),), [[torch.zeros(1)] * 2] * 2], {}),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("gradients", [None, {}, {"inputs": {"0": None}}], ids=str)
def test_lies_about_inputs_and_gradients_are_never_a_fault_of_the_grader(inputs, gradients):
    liar = HalfTrue(lambda args, kwargs: {"inputs": inputs, "gradients": gradients})

    report = grade(SUBMISSION, BANK, BANK.problem("sdpa"), liar)

    assert report.verdict == "rejected"


class Large(Liar):
    """Answers with as much as one answer may hold."""

    def reply(self, frame):
        return Reply(super().reply(frame).header, self._tensors)


def ask_often(session, times):
    for _ in range(times):
        session._alive = True
        session.request("read", name="x")


@pytest.fixture
def of_large_answers():
    liar = Large([{"ok": {"value": ["none"]}}])
    liar._tensors = save({"0": torch.zeros(MAX_TENSOR_BYTES // 4)})
    session = Session(liar, SUBMISSION, Limits())
    session._deadline, session._alive = time.monotonic() + 60, True
    return session


def test_answers_that_are_too_much_together_are_a_crash(of_large_answers):
    with pytest.raises(CheckFailure, match="its answers together are over 256 MiB"):
        ask_often(of_large_answers, 9)


def test_answers_that_are_dropped_may_be_more_but_not_endless(of_large_answers):
    with of_large_answers.passing():
        ask_often(of_large_answers, 2 * MAX_KEPT_BYTES // MAX_TENSOR_BYTES)
    ask_often(of_large_answers, 1)  # what is kept counts for itself

    with (
        of_large_answers.passing(),
        pytest.raises(CheckFailure, match="its answers together are over 4096 MiB"),
    ):
        ask_often(of_large_answers, 99)


@pytest.mark.parametrize("shape", [[2**60], [2**30, 2**30], [0, 2**60], [2**64], [-1], [1] * 5000])
def test_claims_of_many_elements_cost_nothing(shape):
    header = json.dumps({"0": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}}).encode()
    payload = struct.pack("<Q", len(header)) + header + bytes(4)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(Exception, match="tensor"):
        unpack(["tensor", "0"], payload)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@settings(max_examples=100, deadline=None)
@given(JSON | NODES, st.sampled_from(["load", "new", "parameters", "call", "read", "mode"]))
def test_a_session_opens_any_answer_or_says_crashed_or_raised(tree, op):
    session = Session(Liar([{"ok": tree}, {"raised": tree}]), SUBMISSION, Limits())
    session._deadline = time.monotonic() + 60
    for _ in range(2):
        session._alive = True
        with contextlib.suppress(CheckFailure, LoadFailed):
            session.load() if op == "load" else session.request(op, name="x", target="x")
