"""A session counts the time in which the submission works, and no other."""

import time
from contextlib import closing

import pytest

from mha_judge.grading.calling.session import Session
from mha_judge.grading.failures import TimedOut
from mha_judge.sandbox import SandboxOptions
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

SOURCE = """
import time

def answer(): return "right"

def work(seconds): time.sleep(seconds)
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
    meanwhile = {"meanwhile": lambda: time.sleep(1.2 * TOTAL_S)}

    assert call(session, "answer", **meanwhile) == "right"
    assert call(session, "answer") == "right"


@pytest.mark.slow
def test_what_the_submission_works_adds_up(session):
    call(session, "work", 0.6 * TOTAL_S)

    with pytest.raises(TimedOut):
        call(session, "work", 0.6 * TOTAL_S)
    with pytest.raises(TimedOut, match="the time of the whole submission, 1 s, is used up"):
        call(session, "answer")


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
