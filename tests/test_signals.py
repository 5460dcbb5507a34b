"""Tests that interrupt something work wherever the tests are started."""

import subprocess
import sys
from pathlib import Path

import pytest

TEST = "tests/watching/test_watch.py::test_an_interrupt_leaves_nothing_running"


@pytest.mark.slow
def test_an_interrupt_arrives_although_a_shell_ignores_it():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TEST]

    tried = subprocess.run(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command],
        cwd=Path(__file__).parents[1], capture_output=True, text=True,
    )  # fmt: skip

    assert tried.returncode == 0, tried.stdout[-2_000:]
    assert "1 passed" in tried.stdout
