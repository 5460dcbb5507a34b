"""`--dask`: the same table from a cluster as from one machine, whoever dies on the way."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import pytest
from serving import HANGS, INTERVIEWER, Server

from mha_judge import Judge, JudgeError, UsageError, Verdict
from mha_judge.bank import Bank
from mha_judge.cluster import cluster as cluster_of
from mha_judge.cluster.messages import Answer, Asked, Terms, state_of
from mha_judge.errors import BankError, SandboxUnavailable
from mha_judge.pool import Job
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

from .conftest import SUBMISSIONS, wait_until

pytestmark = pytest.mark.slow
BANK = Bank.builtin()
PROBLEM = "sinusoidal-positions"
RIGHT = SUBMISSIONS / PROBLEM / "right_complex_exponentials.py"
OLDER = "import mha_judge.version\nmha_judge.version.__version__ = '0.0.9'\n"


def put_down(folder, count=10):
    """Put down answers that are graded in less than a second, one of them right; return how many.

    Ten leave time to end a process when the first results have come.
    """
    of = SUBMISSIONS / PROBLEM
    files = [min(of.glob("right_*.py")), *sorted(of.glob("wrong_*.py"))[: count - 1]]
    for file in files:
        place = folder / "answers" / file.stem / f"{PROBLEM}.py"
        place.parent.mkdir(parents=True)
        shutil.copy(file, place)
    return len(files)


@pytest.fixture
def answers(tmp_path):
    return put_down(tmp_path)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The table of one machine."""
    folder = tmp_path_factory.mktemp("here")
    put_down(folder)
    return score(folder)[1]


def command(*words, bank=None):
    chosen = ["--bank", str(bank)] if bank is not None else []
    return [
        sys.executable, "-m", "mha_judge", *chosen, "score", "answers", "--sandbox", "jail",
        "--seed", "11", "--json", "board.json", *map(str, words),
    ]  # fmt: skip


def score(folder, *words, expect=0, environment=None, **options):
    """Run `score` and return its process and its table."""
    result = subprocess.run(
        command(*words, **options), cwd=folder, env=environment, capture_output=True, text=True,
        timeout=250, check=False,
    )  # fmt: skip
    assert result.returncode == expect, result.stderr
    board = folder / "board.json"
    return result, json.loads(board.read_text("utf-8")) if board.exists() else None


def on(grid, folder, *words, **options):
    return score(folder, "--dask", grid.file, *words, environment=grid.environment, **options)


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture
def started(tmp_path):
    """Return a function that starts `score` on a grid and waits for its first results."""

    def start(grid, count):
        process = subprocess.Popen(
            command("--dask", grid.file), cwd=tmp_path, env=grid.environment, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        wait_until(lambda: lines_of(tmp_path / "results.jsonl") > count)
        assert process.poll() is None, "the run ended before it could be disturbed"
        return process

    return start


def test_a_cluster_gives_the_table_of_one_machine(answers, here, grid, tmp_path):
    said, there = on(grid, tmp_path)

    assert there == here
    assert lines_of(tmp_path / "results.jsonl") == answers + 1
    assert "not used" not in said.stderr


def test_a_worker_that_is_killed_changes_nothing(answers, here, grid_of, started, tmp_path):
    with grid_of() as grid:
        first = grid.start_worker()
        grid.start_worker()
        process = started(grid, 2)
        first.send_signal(signal.SIGKILL)
        _, said = process.communicate(timeout=200)

    assert process.returncode == 0, said
    assert json.loads((tmp_path / "board.json").read_text("utf-8")) == here


def test_a_scheduler_that_is_killed_leaves_what_there_is_to_resume(
    answers, here, grid_of, started, tmp_path
):
    with grid_of() as grid:
        grid.start_worker()
        process = started(grid, 2)
        grid.scheduler.send_signal(signal.SIGKILL)
        _, said = process.communicate(timeout=100)
        assert process.returncode == 7, said
        assert "is gone; continue results.jsonl with --resume" in said
        assert "Traceback" not in said
        known = lines_of(tmp_path / "results.jsonl")
        assert 3 <= known < answers + 1

        grid.start_scheduler()
        later = threading.Timer(5, grid.start_worker)  # the answers wait for it
        later.start()
        resumed, board = on(grid, tmp_path, "--resume")
        later.join()

    assert "no worker has joined" in resumed.stderr
    assert board == here


def test_a_worker_with_another_version_is_refused_by_name(grid_of, tmp_path):
    put_down(tmp_path, 1)
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "sitecustomize.py").write_text(OLDER, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "older"), os.environ.get("PYTHONPATH", "")])
    with grid_of() as grid:
        grid.start_worker(PYTHONPATH=path)
        grid.await_workers(1)
        refused, _ = on(grid, tmp_path, expect=2)
        assert "no worker of the cluster can grade" in refused.stderr
        assert "it has mha-judge 0.0.9 and not " in refused.stderr

        grid.start_worker()
        grid.await_workers(2)
        said, board = on(grid, tmp_path)

    assert "a worker is not used: tls://" in said.stderr
    assert "0.0.9" in said.stderr
    assert not board["failures"]


def test_an_answer_that_ends_its_machines_stops_no_other(grid_of, tmp_path):
    answers = put_down(tmp_path, 4)
    bank = tmp_path / "bank"
    for name in ("problems", "graders", "reference"):
        shutil.copytree(BANK.root / name, bank / name)
    grader = bank / "graders" / "test_gqa.py"
    ends = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"
    grader.write_text(ends + grader.read_text("utf-8"), encoding="utf-8")
    poisoned = tmp_path / "answers" / "poisoner" / "gqa.py"
    poisoned.parent.mkdir()
    shutil.copy(SUBMISSIONS / "gqa" / "right_repeat_interleave.py", poisoned)
    with grid_of() as grid:
        for _ in range(2):
            grid.start_worker(nanny=True)
        said, board = on(grid, tmp_path, bank=bank, expect=3)

    (failure,) = board["failures"]
    assert failure["candidate"] == "poisoner"
    assert "the machines that graded it ended" in failure["fault"]["message"]
    assert lines_of(tmp_path / "results.jsonl") == answers + 2
    assert "Traceback" not in said.stderr


@pytest.fixture
def judge(grid):
    with (
        dask.config.set(grid.settings),
        Judge(dask=str(grid.file), sandbox="jail") as opened,
    ):
        yield opened


def test_the_library_grades_on_a_cluster(judge):
    told = []

    report = judge.grade(RIGHT, PROBLEM, seed=7, on_check=told.append)

    assert judge.workers == 2
    assert report.verdict is Verdict.ACCEPTED
    assert [check.id for check in told] == [check.id for check in report.checks]
    with Judge(sandbox="jail", workers=1) as here:
        assert here.grade(RIGHT, PROBLEM, seed=7).checks == report.checks


def test_a_grade_that_is_cancelled_ends_on_its_worker(judge):
    hanging = [judge.submit(f"# problem: softmax\n# {i}\n{HANGS}") for i in range(2)]
    wait_until(lambda: all(one.started_at is not None for one in hanging))

    started = time.monotonic()
    for one in hanging:
        one.cancel()
    with pytest.raises(JudgeError, match="cancelled"):
        hanging[0].result()

    assert judge.grade(RIGHT, PROBLEM, verdict_only=True).verdict is Verdict.ACCEPTED
    assert time.monotonic() - started < 12  # a file that hangs while it loads has 20 s


def test_the_service_grades_on_a_cluster(grid, tmp_path, monkeypatch):
    for name, value in grid.environment.items():
        monkeypatch.setenv(name, value)
    tokens = tmp_path / "tokens"
    tokens.write_text(f"interviewer {INTERVIEWER}\n", encoding="utf-8")
    tokens.chmod(0o600)
    server = Server(tmp_path, "--dask", str(grid.file), "--token-file", str(tokens))
    try:
        with server.client(INTERVIEWER) as client:
            source = (SUBMISSIONS / "softmax" / "wrong_no_maximum.py").read_text("utf-8")
            asked = {"source": source, "problem": "softmax"}
            reply = client.post("/v1/grades", params={"wait": 60}, json=asked).json()
        assert reply["reason"] == "verdict", reply
        assert reply["report"]["verdict"] == "rejected"
        assert server.graders() == []
    finally:
        server.stop()


def test_no_scheduler_is_an_error_that_says_what_to_do(monkeypatch):
    monkeypatch.setattr(cluster_of, "CONNECT_S", 1.0)
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127.0.0.1:1 .*1 s"):
        Judge(dask="tcp://127.0.0.1:1")
    with pytest.raises(UsageError, match="no Dask scheduler answers at nonsense"):
        Judge(dask="nonsense")
    with pytest.raises(UsageError, match="pass workers or dask"):
        Judge(dask="tcp://127.0.0.1:1", workers=2)


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(UsageError, match=r"needs distributed, which .*: pip install 'mha-judge\[d"):
        Judge(dask="tcp://127.0.0.1:1")


def test_what_travels_is_what_was_asked_and_answered(tmp_path):
    path = tmp_path / "answer.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    job = Job("softmax", Submission.read(path), seed=2**53 - 1, verdict_only=True)

    again = Asked.model_validate_json(Asked.of(job, without_gpu=True).model_dump_json()).job()

    assert again.submission == job.submission
    assert (again.problem, again.seed, again.verdict_only) == ("softmax", 2**53 - 1, True)
    assert again.without_gpu
    for error in (BankError("a"), SandboxUnavailable("b"), JudgeError("c")):
        told = Answer.model_validate_json(Answer.of(error).model_dump_json()).result()
        assert (type(told), str(told)) == (type(error), str(error))
    assert type(Answer(kind="ClassVar", message="x").result()) is JudgeError


def test_terms_have_the_name_of_what_they_say(tmp_path):
    terms = Terms.of(BANK, SandboxOptions("jail"))
    other = terms.model_copy(update={"has": {**state_of(BANK), "bank": "0" * 16}})

    assert Terms.model_validate_json(terms.model_dump_json()) == terms
    assert terms.bank is None
    assert terms.name != other.name
    assert terms.name != Terms.of(BANK, SandboxOptions("container")).name
    assert terms.opened().ids == BANK.ids
    with pytest.raises(JudgeError, match=r"it has bank [0-9a-f]{16} and not 0000000000000000"):
        other.opened()
    with pytest.raises(JudgeError):
        terms.model_copy(update={"bank": Path(tmp_path)}).opened()
