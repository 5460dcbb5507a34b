"""A server for each module, and one for each test that kills it."""

import signal
from pathlib import Path

import pytest
from serving import CANDIDATE, INTERVIEWER, Server

SUBMISSIONS = Path(__file__).parents[1] / "submissions"
PROBLEM = "sinusoidal-positions"
"""What most answers are to: it is graded in less than a second."""


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a server; all end with the test."""
    started = []

    def begin(*options, **others):
        started.append(Server(tmp_path, *options, **others))
        return started[-1]

    yield begin
    for server in started:
        server.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that asks for tokens."""
    folder = tmp_path_factory.mktemp("server")
    tokens = folder / "tokens"
    tokens.touch(mode=0o600)
    tokens.write_text(f"# whose\ncandidate {CANDIDATE}\n\ninterviewer {INTERVIEWER}\n", "utf-8")
    opened = Server(folder, "--token-file", str(tokens), "--queue", "60")
    yield opened
    opened.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def interviewer(server):
    with server.client(INTERVIEWER) as client:
        yield client


@pytest.fixture(scope="module")
def candidate(server):
    with server.client(CANDIDATE) as client:
        yield client


@pytest.fixture(scope="session")
def right():
    return (SUBMISSIONS / PROBLEM / "right_complex_exponentials.py").read_text("utf-8")


@pytest.fixture(scope="session")
def wrong():
    return (SUBMISSIONS / PROBLEM / "wrong_batch_axis.py").read_text("utf-8")
