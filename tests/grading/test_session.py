"""A session counts the time in which the submission works, and no other."""

import time
from contextlib import closing

import pytest
import torch

from mha_judge.grading.calling.session import NeverAsked, Session
from mha_judge.grading.failures import Crashed, Raised, TimedOut
from mha_judge.sandbox import SandboxOptions
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

SOURCE = """
import time

def answer(): return "right"

def work(seconds): time.sleep(seconds)
def end(): __import__("os")._exit(0)
"""
TOTAL_S = 1.0


@pytest.fixture
def session():
    submission = Submission.of(SOURCE, "answer.py")
    with (
        closing(SandboxOptions("jail").open()) as channel,
        closing(Session(channel, submission, Limits(total_s=TOTAL_S))) as opened,
    ):
        opened.load()
        yield opened


def call(session, function, *args, **options):
    return session.request("call", (list(args), {}, None), target=function, **options).value


@pytest.mark.slow
def test_a_judge_that_is_slow_between_calls_fails_no_answer(session):
    time.sleep(1.2 * TOTAL_S)

    assert call(session, "answer") == "right"


@pytest.mark.slow
def test_a_judge_that_is_slow_while_an_answer_waits_fails_no_answer(session):
    pending = session.begin("call", ([], {}, None), target="answer")
    time.sleep(1.2 * TOTAL_S)

    assert pending.wait().value == "right"
    assert call(session, "answer") == "right"


@pytest.mark.slow
def test_requests_that_are_begun_are_answered_in_turn_whoever_waits_first(session):
    pending = [session.begin("call", ([], {}, None), target=one) for one in ("answer", "missing")]

    assert call(session, "answer") == "right"
    with pytest.raises(Raised):
        pending[1].wait()
    assert pending[0].wait().value == "right"


@pytest.mark.slow
def test_what_waits_when_the_process_ends_was_never_asked(session):
    pending = [session.begin("call", ([], {}, None), target=one) for one in ("end", "answer")]

    with pytest.raises(NeverAsked):
        pending[1].wait()
    with pytest.raises(Crashed):
        pending[0].wait()
    assert call(session, "answer") == "right"


@pytest.mark.slow
def test_what_the_submission_works_adds_up(session):
    call(session, "work", 0.6 * TOTAL_S)

    with pytest.raises(TimedOut):
        call(session, "work", 0.6 * TOTAL_S)
    with pytest.raises(TimedOut, match="the time of the whole submission, 1 s, is used up"):
        call(session, "answer")


@pytest.mark.slow
def test_a_process_that_ends_because_it_used_up_its_processor_time_is_late():
    source = "def work():\n    while True: pass\n"
    limits = Limits(cpu_s=1, call_s=20)
    with (
        closing(SandboxOptions("jail").open()) as channel,
        closing(Session(channel, Submission.of(source, "answer.py"), limits)) as opened,
    ):
        opened.load()
        with pytest.raises(TimedOut, match="used up 1 s of a processor"):
            call(opened, "work")


def drawn(seed):
    source = "import random, numpy, torch\n"
    source += (
        "def draw(): return torch.rand(()).item(), random.random(), float(numpy.random.rand())"
    )
    with (
        closing(SandboxOptions("jail").open()) as channel,
        closing(Session(channel, Submission.of(source, "draws.py"), Limits(), seed=seed)) as one,
    ):
        one.load()
        return call(one, "draw")


@pytest.mark.slow
def test_a_seed_repeats_what_the_submission_draws():
    first, again, other = drawn(1), drawn(1), drawn(2)

    assert first == again
    assert all(one != two for one, two in zip(first, other, strict=True))


LAYER = """
import os
import torch

class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
    def forward(self): return self.weight.item()
    def train(self, training=True):
        if training: raise ValueError("it never trains")
        return super().train(training)

def answer(): return "right"

def end(): os._exit(1)
"""


@pytest.fixture
def layered():
    submission = Submission.of(LAYER, "scale.py")
    with (
        closing(SandboxOptions("jail").open()) as channel,
        closing(Session(channel, submission, Limits())) as opened,
    ):
        opened.load()
        yield opened


def put_off_weight(session, handle, weight):
    values = {"weight": torch.tensor([weight])}
    session.put_off(
        "set_parameters",
        values,
        handle=handle,
        dtype=None,
        aliases={},
        in_place=False,
        elsewhere=False,
    )


@pytest.mark.slow
def test_what_was_put_off_is_done_once_in_order_before_the_next_request(layered):
    one, other = (layered.request("new", ([], {}), name="Scale").handle for _ in range(2))

    put_off_weight(layered, one, 2.0)
    put_off_weight(layered, other, 5.0)
    put_off_weight(layered, one, 3.0)
    assert call(layered, one) == 3.0
    layered.request(
        "set_parameters",
        {"weight": torch.ones(1)},
        handle=one,
        dtype=None,
        aliases={},
        in_place=False,
        elsewhere=False,
    )

    assert [call(layered, one), call(layered, other)] == [1.0, 5.0]


@pytest.mark.slow
def test_the_next_request_says_what_was_put_off_has_raised_and_a_later_one_does_not(layered):
    layer = layered.request("new", ([], {}), name="Scale").handle
    layered.put_off("mode", None, handle=layer, training=True)
    put_off_weight(layered, layer, 2.0)

    with pytest.raises(Raised, match="it never trains"):
        call(layered, layer)
    assert call(layered, layer) == 0.0


@pytest.mark.slow
def test_what_was_put_off_for_a_worker_is_forgotten_with_it(layered):
    layer = layered.request("new", ([], {}), name="Scale").handle
    with pytest.raises(Crashed):
        call(layered, "end")
    put_off_weight(layered, layer, 2.0)

    assert call(layered, "answer") == "right"
