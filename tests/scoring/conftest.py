"""Folders of answers to score, and the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mha_judge.bank import Bank

SUBMISSIONS = Path(__file__).parents[1] / "submissions"


@pytest.fixture(scope="session")
def bank():
    return Bank.builtin()


@pytest.fixture
def answer(tmp_path):
    """Return a function that puts a known submission under a path in `answers/`."""

    def put(place: str, submission: str) -> Path:
        path = tmp_path / "answers" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (SUBMISSIONS / submission).read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        return path

    return put


@pytest.fixture
def score(tmp_path):
    """Return a function that runs `mha-judge score` in the jail and returns process and table."""

    def run(*args, bank=None, expect=0, paths=("answers",)):
        result = subprocess.run(
            command(*paths, "--json", "board.json", *args, bank=bank, jobs=1),
            capture_output=True,
            text=True,
            timeout=200,
            cwd=tmp_path,
            check=False,
        )
        assert result.returncode == expect, result.stderr
        board = tmp_path / "board.json"
        return result, json.loads(board.read_text("utf-8")) if board.exists() else None

    return run


def command(*args, bank=None, jobs=2):
    """Return the command; each job is a process and a sandbox that import torch."""
    chosen = ["--bank", str(bank)] if bank is not None else []
    return [
        sys.executable, "-m", "mha_judge", *chosen,
        "score", "--sandbox", "jail", "-j", str(jobs), *map(str, args),
    ]  # fmt: skip
