"""Folders of answers to score, and the command."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.cli import main
from mha_judge.pool import Pool

SUBMISSIONS = Path(__file__).parents[1] / "submissions"


@pytest.fixture(scope="session")
def bank():
    return Bank.builtin()


@pytest.fixture
def answer(tmp_path):
    """Return a function that puts a known submission under `answers/`, in a file of its problem."""

    def put(place: str, submission: str) -> Path:
        path = tmp_path / "answers" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (SUBMISSIONS / submission).read_text(encoding="utf-8")
        # what is bad input to any problem says that it is to sdpa
        path.write_text(text.replace("# problem: sdpa", f"# problem: {path.stem}"), "utf-8")
        return path

    return put


@pytest.fixture(scope="module")
def lend(bank):
    """Return what stands for `Pool`: who asks for the same again gets the same processes.

    A process and its sandbox import torch, which takes longer than what they are to grade here.
    Banks of a test's own, whose files it changes, get processes of their own.
    """
    lent = {}

    def pool_for(asked, open_sandbox, processes, gpus):
        if asked.root != bank.root:
            return Pool(asked, open_sandbox, processes, gpus=gpus)
        how = open_sandbox.__self__, processes, gpus.options
        if how not in lent:
            lent[how] = Pool(asked, open_sandbox, processes, gpus=gpus)
            lent[how].close = lambda: None  # the command's, which is not the last
        return lent[how]

    yield pool_for
    for opened in lent.values():
        Pool.close(opened)


@pytest.fixture
def score(tmp_path, monkeypatch, lend):
    """Return a function that runs `mha-judge score` in the jail and returns result and table."""

    def run(*args, bank=None, expect=0, paths=("answers",)):
        chosen = words(*paths, "--json", "board.json", *args, bank=bank, jobs=1)
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr("mha_judge.pool.Pool", lend)
            result = CliRunner().invoke(main, chosen)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == expect, result.stderr
        board = tmp_path / "board.json"
        return result, json.loads(board.read_text("utf-8")) if board.exists() else None

    return run


def words(*args, bank=None, jobs=2):
    """Return what follows `mha-judge`; each job is a process and a sandbox that import torch."""
    chosen = ["--bank", str(bank)] if bank is not None else []
    return [*chosen, "score", "--sandbox", "jail", "-j", str(jobs), *map(str, args)]


def command(*args):
    """Return the command as a process of its own, which a test may end."""
    return [sys.executable, "-m", "mha_judge", *words(*args)]
