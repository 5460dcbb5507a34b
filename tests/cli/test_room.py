"""`mha-judge room`: what it takes, and what it refuses."""

import socket

import pytest
from click.testing import CliRunner

from mha_judge.cli import main


@pytest.fixture
def run(tmp_path):
    def invoke(*arguments):
        return CliRunner().invoke(main, ["room", *arguments, "--store", str(tmp_path / "rooms")])

    return invoke


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sdpaa"], "no problem 'sdpaa'"),
        (["sdpa", "--host", "0.0.0.0"], "--certificate and --key, or leave TLS to a proxy"),
        (["sdpa", "--certificate", "chain.pem"], "belong together"),
        (["export", "nowhere", "-o", "out"], "there are no rooms"),
        (["sdpa", "--rooms", "201"], "201 is not in the range"),
    ],
)
def test_what_cannot_be_is_said_before_anything_starts(run, arguments, said):
    result = run(*arguments)

    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_port_in_use_is_said(run):
    with socket.create_server(("127.0.0.1", 0)) as other:
        result = run("sdpa", "--port", str(other.getsockname()[1]))

    assert result.exit_code == 2
    assert "pass another --port" in result.output


def test_help_names_what_else_there_is():
    output = CliRunner().invoke(main, ["room", "--help"]).output

    assert all(name in output for name in ("open", "list", "export"))
