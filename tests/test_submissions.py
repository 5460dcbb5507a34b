"""Judge the judge: every submission under tests/submissions gets the verdict that it declares."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.outcomes import Outcome
from mha_judge.report.models import Report
from mha_judge.sandbox import Channel, SandboxOptions
from mha_judge.submission import Submission

FOLDER = Path(__file__).parent / "submissions"
FILES = sorted(FOLDER.glob("*/*.py"))
BANK = Bank.builtin()


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


def grade_file(path: Path, channel: Channel, **options) -> Report:
    submission = Submission.read(path)
    return grade(submission, BANK, BANK.problem(submission.problem_id()), channel, **options)


def declared(path: Path, name: str) -> str:
    found = re.search(rf"^# {name}: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{path} declares no {name}"
    return found.group(1).strip()


@pytest.mark.parametrize("path", FILES, ids=[f"{p.parent.name}/{p.stem}" for p in FILES])
def test_submission_gets_its_declared_verdict(path, channel):
    report = grade_file(path, channel)

    why = [(c.id, c.message, c.detail) for c in report.checks if c.outcome is not Outcome.PASSED]
    assert report.verdict == declared(path, "expect"), (report.load_problem, why)
    assert (report.score == 100.0) is (report.verdict == "accepted"), why


@pytest.mark.parametrize("problem_id", BANK.ids)
def test_reference_scores_100_under_several_seeds(problem_id, channel):
    for seed in (1, 2, 3):
        submission = Submission.read(BANK.reference(problem_id))
        report = grade(submission, BANK, BANK.problem(problem_id), channel, seed=seed)

        failed = [(c.id, c.message, c.detail) for c in report.checks if c.outcome != "passed"]
        assert (report.verdict, report.score) == ("accepted", 100.0), failed


@pytest.mark.parametrize("problem_id", BANK.ids)
def test_starter_scores_below_20(problem_id, channel, tmp_path):
    path = tmp_path / "starter.py"
    path.write_text(BANK.starter(problem_id), encoding="utf-8")

    report = grade_file(path, channel)

    assert report.verdict == "rejected"
    assert report.score < 20


@pytest.mark.parametrize("problem_id", BANK.ids)
def test_problem_has_enough_wrong_and_right_answers(problem_id):
    names = [path.name for path in (FOLDER / problem_id).glob("*.py")]

    assert len(BANK.mistakes(problem_id)) >= 8
    assert sum(name.startswith("wrong_") for name in names) >= 4  # in other styles than those
    assert sum(name.startswith("right_") for name in names) >= 4


def test_same_seed_gives_the_same_report(channel):
    path = FOLDER / "sdpa" / "wrong_no_scale.py"

    reports = [grade_file(path, channel, seed=7) for _ in range(2)]

    assert reports[0].checks == reports[1].checks
