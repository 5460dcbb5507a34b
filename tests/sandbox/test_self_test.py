"""What `doctor` says of a sandbox: held only what was refused, and would have worked without it."""

import socket
from contextlib import closing

import pytest
from click.testing import CliRunner

from mha_judge.cli import main
from mha_judge.grading.calling.session import Session
from mha_judge.sandbox import attempts
from mha_judge.sandbox import self_test as module
from mha_judge.sandbox.attempts import SOURCE, Attempt, Listener, Ruling, Trial
from mha_judge.sandbox.jail import Jail
from mha_judge.sandbox.limits import Limits
from mha_judge.sandbox.self_test import Finding, self_test
from mha_judge.sandbox.unconfined import Unconfined
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

ENDINGS = """
def leave():
    os._exit(0)

def hang():
    while True:
        pass

def other_error():
    raise OSError(30, "Read-only file system")

def not_there():
    raise NotTried("it is not there")

def lie(port):
    connect(port)
    raise PermissionError("nothing was done")
"""


@pytest.fixture(scope="module")
def session():
    """Give a worker that nothing confines, with the functions of the self-test and a few more."""
    source = Submission.of(SOURCE.source + ENDINGS, "probe.py")
    limits = Limits(call_s=1.0, total_s=100.0)
    with closing(Unconfined().open()) as channel, closing(
        Session(channel, source, limits)
    ) as opened:  # fmt: skip
        opened.load()
        yield opened


@pytest.fixture
def listener():
    with closing(Listener()) as opened:
        yield opened


def test_nothing_is_held_where_nothing_confines():
    finding = self_test(Unconfined())

    assert [(a.title, a.ruling) for a in finding.attempts if a.ruling is not Ruling.OPEN] == []
    assert len(finding.attempts) == 8
    assert not finding.holds


def test_everything_is_held_in_a_sandbox(backend):
    finding = self_test(backend.make())

    assert [(a.title, a.answer) for a in finding.attempts if a.ruling is not Ruling.HELD] == []
    assert len(finding.attempts) == 8
    assert finding.holds


def test_a_port_at_which_nobody_listens_shows_no_refusal(session):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    attempt = Trial("connect", "connect", (port,)).run(session)

    assert attempt.ruling is Ruling.UNCLEAR
    assert attempt.answer.startswith("it raises ConnectionRefusedError: ")
    assert attempt.answer.endswith("; only PermissionError is a refusal")


def test_a_program_that_takes_the_workers_place_shows_no_refusal(session):
    attempt = Trial("run", "execute", ("word",)).run(session)

    assert attempt.ruling is Ruling.UNCLEAR
    assert "it ended its own process with status 0" in attempt.answer


@pytest.mark.parametrize("make", [Unconfined, lambda: Jail(False)], ids=["none", "jail"])
def test_memory_that_the_machine_does_not_have_is_not_tried(monkeypatch, make):
    monkeypatch.setattr(attempts, "MEMORY_BYTES", 2**50)

    finding = self_test(make())

    assert finding.attempts[-1].ruling is Ruling.UNCLEAR
    assert finding.attempts[-1].answer.startswith("not tried: even a worker with a higher limit")
    assert not finding.holds


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        ("leave", "it ended its own process with status 0; only PermissionError is a refusal"),
        ("hang", "no answer within 1 s; only PermissionError is a refusal"),
        (
            "other_error",
            "it raises OSError: [Errno 30] Read-only file system; "
            "only PermissionError is a refusal",
        ),
        ("not_there", "not tried: it is not there"),
    ],
)
def test_an_attempt_that_ends_in_another_way_is_unclear(session, function, answer):
    attempt = Trial("try", function).run(session)

    assert attempt == Attempt("try", Ruling.UNCLEAR, answer)


def test_an_error_that_another_attempt_would_end_with_is_no_refusal(session, tmp_path):
    missing = str(tmp_path / "missing")

    hidden = Trial("read", "read_file", (missing,), "FileNotFoundError").run(session)
    shut = Trial("read", "read_file", (missing,), "PermissionError").run(session)

    assert (hidden.ruling, shut.ruling) == (Ruling.HELD, Ruling.UNCLEAR)


def test_a_trace_counts_for_more_than_the_workers_word(session, listener):
    attempt = Trial("lie", "lie", (listener.port,), trace=listener.arrived).run(session)

    assert attempt.ruling is Ruling.OPEN
    assert attempt.answer == f"a connection arrived at port {listener.port}"


def test_a_listener_to_whom_nobody_came_says_nothing(session, listener):
    attempt = Trial("leave", "leave", trace=listener.arrived).run(session)

    assert attempt.ruling is Ruling.UNCLEAR


def test_a_connection_is_not_tried_where_the_judge_cannot_listen(monkeypatch):
    def refuse():
        raise OSError("no loopback")

    monkeypatch.setattr(attempts, "Listener", refuse)

    finding = self_test(Jail(False))
    others = [attempt for attempt in finding.attempts if attempt.ruling is not Ruling.HELD]

    assert [attempt.answer for attempt in others] == [
        "not tried: no port can be opened here (no loopback)"
    ]
    assert not finding.holds


HELD = Attempt("a thing", Ruling.HELD, "PermissionError")
UNCLEAR = Attempt("a thing", Ruling.UNCLEAR, "not tried: no time")
OPEN = Attempt("a thing", Ruling.OPEN, "it worked")
SOUND = Finding("jail", "landlock", "", [HELD])


def doctor(monkeypatch, *findings):
    monkeypatch.setattr(module, "self_tests", lambda: iter(findings))
    return CliRunner().invoke(main, ["doctor"])


def test_doctor_names_the_sandbox_that_is_taken(monkeypatch):
    done = doctor(monkeypatch, Finding("container", None, "start Docker"), SOUND)

    assert done.exit_code == 0
    assert "container cannot be used\n  start Docker" in done.output
    assert "jail holds: landlock" in done.output
    assert done.output.endswith("`--sandbox auto` takes jail\n")


@pytest.mark.parametrize("attempt", [UNCLEAR, OPEN], ids=["unclear", "open"])
def test_doctor_fails_where_the_sandbox_that_is_taken_was_not_seen_to_hold(monkeypatch, attempt):
    done = doctor(monkeypatch, Finding("container", "docker", "", [HELD, attempt]), SOUND)

    assert done.exit_code == 3
    assert "container does not hold: docker" in done.output
    assert f"{attempt.ruling} {attempt.title} {attempt.answer}" in done.output
    assert "takes container, which was not seen to hold (see above); pass --sandbox jail" in (
        done.output
    )


def test_doctor_fails_where_no_sandbox_can_be_used(monkeypatch):
    done = doctor(monkeypatch, Finding("container", None, "start Docker"))

    assert done.exit_code == 3
    assert "no sandbox can be used on this machine" in done.output
