"""`mha-judge score`: durable, resumable, and never stopped by one bad answer."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from mha_judge.cli import main
from mha_judge.errors import JudgeError
from mha_judge.gpu import GpuAccess
from mha_judge.pool import Job, Pool
from mha_judge.pool import pool as pool_of
from mha_judge.pool.process import Process
from mha_judge.sandbox import SandboxOptions
from mha_judge.scoring.answers import discover
from mha_judge.scoring.results import Results
from mha_judge.scoring.score import due
from mha_judge.submission import Submission

from .conftest import SUBMISSIONS, command

pytestmark = pytest.mark.slow

SEED = ("--seed", 11)
PROBLEM = "sinusoidal-positions"
RIGHT, WRONG = f"{PROBLEM}/right_complex_exponentials.py", f"{PROBLEM}/wrong_batch_axis.py"
"""A problem whose answers are graded in a second, where one of attention takes ten."""


def standings(board, problem=PROBLEM):
    return {
        row["candidate"]: (
            row["problems"][problem]["standing"],
            row["problems"][problem]["score"],
        )
        for row in board["rows"]
    }


def graded_lines(result):
    return [line for line in result.stderr.splitlines() if " s left)" in line]


def wait_for_lines(path: Path, count: int, process) -> None:
    deadline = time.monotonic() + 100
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, "the run ended before it could be disturbed"
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def ten(answer):
    """Put ten answers down, right and wrong."""
    files = sorted((SUBMISSIONS / PROBLEM).glob("*.py"))[:10]
    for file in files:
        answer(f"{file.stem}/{PROBLEM}.py", f"{PROBLEM}/{file.name}")
    return len(files)


@pytest.fixture
def broken(bank, tmp_path):
    """Return a function that makes a bank whose grader of concepts begins with a given line."""

    def make(line):
        root = tmp_path / "bank"
        for name in ("problems", "graders", "reference"):
            shutil.copytree(bank.root / name, root / name, dirs_exist_ok=True)
        grader = root / "graders" / "test_concepts.py"
        text = bank.grader("concepts").read_text("utf-8")
        grader.write_text(f"{line}\n{text}", encoding="utf-8")
        return root

    return make


def test_a_killed_run_resumes_to_the_table_of_an_undisturbed_one(ten, score, tmp_path):
    _, undisturbed = score(*SEED, "--results", "whole.jsonl")
    path = tmp_path / "results.jsonl"
    process = subprocess.Popen(
        command("answers", *SEED),
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    wait_for_lines(path, 3, process)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = path.read_bytes()
    path.write_bytes(kept + kept.splitlines()[-1][:500])  # as a write that was cut short leaves it

    resumed, board = score("--resume")

    assert board == undisturbed
    assert len(graded_lines(resumed)) == ten - (kept.count(b"\n") - 1)
    assert {standing for standing, _ in standings(board).values()} == {"accepted", "rejected"}


def test_an_interrupted_run_exits_with_130_and_keeps_what_it_has(ten, tmp_path):
    path = tmp_path / "results.jsonl"
    process = subprocess.Popen(
        command("answers", *SEED), cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    wait_for_lines(path, 3, process)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "with --resume" in said
    assert "Traceback" not in said
    assert all(json.loads(line) for line in path.read_text("utf-8").splitlines())


def results_by_candidate(path):
    lines = path.read_text("utf-8").splitlines()[1:]
    return {(line := json.loads(text))["candidate"]: line for text in lines}


def test_one_source_is_graded_once_whoever_hands_it_in(answer, score, tmp_path):
    for name in ("ada", "bob", "cyd"):
        answer(f"{name}/softmax.py", "softmax/wrong_no_maximum.py")
    commented = tmp_path / "answers" / "cyd" / "softmax.py"
    commented.write_text(commented.read_text("utf-8") + "# mine\n", encoding="utf-8")

    score(*SEED)
    found = results_by_candidate(tmp_path / "results.jsonl")

    took = {name: one["report"]["timings_s"] for name, one in found.items()}
    paths = {name: one["report"]["submission"]["path"] for name, one in found.items()}
    assert took["ada"] == took["bob"] != took["cyd"]
    assert paths == {name: f"answers/{name}/softmax.py" for name in found}


def test_a_latecomer_with_a_known_source_is_not_graded_again(answer, score, tmp_path):
    answer("ada/softmax.py", "softmax/wrong_no_maximum.py")
    score(*SEED)
    answer("bob/softmax.py", "softmax/wrong_no_maximum.py")

    score("--resume")
    found = results_by_candidate(tmp_path / "results.jsonl")

    assert found["ada"]["report"]["timings_s"] == found["bob"]["report"]["timings_s"]


def test_verdicts_alone_are_not_taken_for_whole_grades(answer, score, tmp_path):
    answer("ada/softmax.py", "softmax/wrong_no_maximum.py")

    _, brief = score(*SEED, "--verdict-only")
    alone = results_by_candidate(tmp_path / "results.jsonl")["ada"]["report"]
    _, whole = score("--resume")
    graded = results_by_candidate(tmp_path / "results.jsonl")["ada"]["report"]

    assert standings(brief, "softmax") == {"ada": ("rejected", 0)}
    assert alone["verdict_only"] and not alone["diagnoses"]
    assert not graded["verdict_only"] and graded["diagnoses"]
    assert standings(whole, "softmax")["ada"][1] > 0


def test_packets_of_verdicts_alone_are_refused(answer, score):
    answer("ada/softmax.py", "softmax/wrong_no_maximum.py")

    refused, _ = score("--verdict-only", "--packets", "packets", expect=2)

    assert "--packets needs what --verdict-only leaves out" in refused.stderr


def test_verdicts_are_those_of_run(answer, score, tmp_path):
    files = {"right": RIGHT, "wrong": WRONG, "broken": "bad_input/syntax_error.py"}
    paths = {name: answer(f"{name}/{PROBLEM}.py", file) for name, file in files.items()}

    _, board = score(*SEED)

    for name, path in paths.items():
        run = ["run", str(path), "--sandbox", "jail", "--seed", "11", "--json", "-"]
        report = json.loads(CliRunner().invoke(main, run).stdout)
        assert standings(board)[name] == (report["verdict"], report["score"])


def test_only_what_changed_is_graded_again(answer, score, bank, tmp_path):
    answer(f"alice/{PROBLEM}.py", RIGHT)
    answer(f"bob/{PROBLEM}.py", WRONG)
    _, first = score()
    shutil.copytree(bank.root / "problems", tmp_path / "moved" / "problems")
    shutil.copytree(bank.root / "graders", tmp_path / "moved" / "graders")
    shutil.copytree(bank.root / "reference", tmp_path / "moved" / "reference")

    again, same = score("--resume", bank=tmp_path / "moved")
    answer(f"bob/{PROBLEM}.py", f"{PROBLEM}/right_plain_loops.py")
    changed, better = score("--resume")

    assert (graded_lines(again), same) == ([], first)
    assert len(graded_lines(changed)) == 1
    assert standings(better)["bob"] == ("accepted", 100.0)
    assert better["seed"] == first["seed"]


def test_a_changed_grader_is_graded_again(answer, score, broken):
    answer("alice/concepts.py", "concepts/right_letters.py")
    score(bank=broken("# the first edition"))

    again, _ = score("--resume", bank=broken("# the second edition"))

    assert len(graded_lines(again)) == 1


def test_what_was_graded_without_a_gpu_is_due_again_with_one(answer, score, bank, tmp_path):
    answer("alice/sdpa.py", "sdpa/wrong_argmax.py")
    answer(f"alice/{PROBLEM}.py", WRONG)
    score("--device", "cpu")
    found = discover([tmp_path / "answers"], bank, None)
    known = Results.open(tmp_path / "results.jsonl", resume=True, seed=None, fresh_seed=1)

    with closing(known) as results:
        sandbox = GpuAccess(SandboxOptions(backend="jail")).confinement
        assert due(found, bank, results, False, sandbox) == []
        assert [one.answer.problem for one in due(found, bank, results, True, sandbox)] == ["sdpa"]


def test_bad_answers_are_results_and_stop_nobody(answer, score, tmp_path):
    answer(f"alice/{PROBLEM}.py", RIGHT)
    answer(f"bob/{PROBLEM}.py", "bad_input/sys_exit_at_import.py")
    answer(f"carol/{PROBLEM}.py", RIGHT).write_bytes(b"\xff\xfe\x00")
    answer(f"dave/{PROBLEM}.py", "bad_input/syntax_error.py")

    result, board = score()

    found = standings(board)
    assert found["alice"] == ("accepted", 100.0)
    assert {found[name][0] for name in ("bob", "carol", "dave")} <= {"error", "crashed"}
    assert board["failures"] == []
    assert len(graded_lines(result)) == 4


@pytest.mark.parametrize(
    ("line", "code"),
    [("raise RuntimeError('a broken grader')", 4), ("import os; os._exit(9)", 3)],
    ids=["grader raises", "process dies"],
)
def test_faults_of_the_judge_are_listed_apart_and_mended_by_resume(
    answer, score, broken, line, code
):
    answer(f"alice/{PROBLEM}.py", RIGHT)
    answer("alice/concepts.py", "concepts/right_letters.py")
    answer(f"bob/{PROBLEM}.py", WRONG)

    _, board = score("--csv", "t.csv", "--html", "t.html", bank=broken(line), expect=code)
    resumed, mended = score("--resume", bank=broken(""))

    assert [(f["candidate"], f["problem"]) for f in board["failures"]] == [("alice", "concepts")]
    alice = next(row for row in board["rows"] if row["candidate"] == "alice")
    assert (alice["provisional"], alice["total"]) == (True, 100.0)
    assert standings(board)["bob"][0] == "rejected"
    assert mended["failures"] == []
    assert any("concepts" in one for one in graded_lines(resumed))


def test_a_process_that_dies_is_a_fault_of_each_job(bank):
    source = (SUBMISSIONS / "sdpa" / "right_einsum.py").read_text("utf-8")
    job = Job("sdpa", Submission.of(source, "sdpa.py"), 1)

    with closing(Pool(bank, partial(os._exit, 9), 2)) as pool:
        faults = [answer for _, answer in pool.graded([job, job, job])]

    assert [type(fault) for fault in faults] == [JudgeError] * 3
    assert "exit status 9" in str(faults[0])


def test_processes_are_replaced_after_their_share(bank, monkeypatch):
    started = []
    monkeypatch.setattr(pool_of, "Process", lambda *how: started.append(1) or Process(*how))
    source = (SUBMISSIONS / "concepts" / "right_letters.py").read_text("utf-8")
    job = Job("concepts", Submission.of(source, "a.py"), 1)

    with closing(Pool(bank, SandboxOptions("jail").open, 1, recycle_after=2)) as pool:
        reports = [report for _, report in pool.graded([job] * 3)]

    assert [report.score for report in reports] == [100.0] * 3
    assert len(started) == 2


def test_a_sandbox_that_cannot_be_had_stops_the_run(answer, score):
    answer(f"alice/{PROBLEM}.py", RIGHT)

    result, board = score("--sandbox", "none", expect=2)

    assert "--unsafe" in result.stderr
    assert board is None


def test_results_of_before_are_not_lost(answer, score):
    answer(f"alice/{PROBLEM}.py", RIGHT)
    score()

    result, _ = score(expect=2)

    assert "pass --resume" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weight", "sdpa"], "write ID=N"),
        (["--weight", "sdpa=-1"], "write ID=N"),
        (["--weight", "spda=1"], "did you mean sdpa"),
        (["--problem", "spda"], "did you mean sdpa"),
        (["--csv", "-", "--html", "-"], "name the same place"),
        (["--csv", "results.jsonl"], "name the same place"),
        (["--results", "nowhere/r.jsonl"], "cannot be written"),
    ],
)
def test_what_cannot_be_is_a_usage_error(answer, score, options, message):
    answer(f"alice/{PROBLEM}.py", RIGHT)

    result, _ = score(*options, expect=2)

    assert message in result.stderr
    assert graded_lines(result) == []
