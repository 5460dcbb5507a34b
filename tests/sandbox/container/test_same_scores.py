"""A submission gets the same checks, with the same outcomes and points, whatever confines it."""

import re
from contextlib import closing
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

FOLDER = Path(__file__).resolve().parents[2] / "submissions"
FILES = sorted([*FOLDER.glob("bad_input/*.py"), *sorted(FOLDER.glob("[!b]*/*.py"))[::4]])
"""All that is not an answer at all, and every fourth of the answers, spread over all problems."""
BANK = Bank.builtin()


@pytest.fixture(scope="module")
def channels(docker):
    with (
        closing(SandboxOptions("jail").open()) as jail,
        closing(SandboxOptions("container").open()) as container,
    ):
        yield jail, container


@pytest.mark.parametrize("path", FILES, ids=[f"{p.parent.name}/{p.stem}" for p in FILES])
def test_jail_and_container_agree_on(path, channels):
    submission = Submission.read(path)
    problem = BANK.problem(submission.problem_id())

    reports = [grade(submission, BANK, problem, channel, seed=11) for channel in channels]

    jail, container = [
        (report.verdict, report.score, [(c.id, c.outcome, c.points) for c in report.checks])
        for report in reports
    ]
    assert jail == container
    declared = re.search(r"^# expect: (\w+)$", submission.source, re.MULTILINE)
    assert declared is None or container[0] == declared[1]
