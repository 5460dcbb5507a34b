"""Objects that keep a state: called in step with the reference's, diagnosed by all their calls."""

from contextlib import closing

import pytest

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

TOML = """\
id = "counter"
title = "Running sum"
title_zh = "累加"
summary = "adds"
track = "basics"
level = 1
minutes = 5
points = 5

[[entry]]
name = "Counter"
kind = "object"
constructor = ["start"]

[[entry.methods]]
name = "add"
arguments = ["x"]
returns = ["nothing"]
required_returns = 0

[[entry.methods]]
name = "total"
returns = ["output"]

[hints]
values = "add"
robustness = "refuse"
"""
REFERENCE = """\
import torch


class Counter:
    def __init__(self, start):
        self.sum = torch.full((3,), float(start))

    def add(self, x):
        if x.shape != (3,):
            raise ValueError("x is not of three numbers")
        self.sum = self.sum + x

    def total(self):
        return self.sum
"""
GRADER = """\
from mha_judge.grading import assert_close, assert_rejected, check


@check("Sums", category="values", points=3)
def test_sums(candidate, draw):
    counter = candidate.Counter(start=2)
    for _ in range(3):
        counter.add(draw.normal(3))
        assert_close(counter.total(), "output")


@check("Refuses other shapes and loses nothing", category="robustness", points=2, after="sums")
def test_refuses(candidate, draw):
    counter = candidate.Counter(start=0)
    counter.add(draw.normal(3))
    assert_rejected(counter.add, draw.normal(4), why="four numbers")
    assert_close(counter.total(), "output")
"""
FORGETS = REFERENCE.replace("self.sum + x", "x")
MISTAKE = """\
[[mistake]]
id = "forgets"
title = "Only the last is kept"
killed_by = "sums"
explanation = "It forgets."
hint = "Add twice."
edits = [{ old = "self.sum + x", new = "x" }]
"""


@pytest.fixture
def bank(tmp_path):
    for name in ("problems/counter", "graders", "reference/mistakes"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "problems/counter/problem.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "reference/counter.py").write_text(REFERENCE, encoding="utf-8")
    (tmp_path / "reference/mistakes/counter.toml").write_text(MISTAKE, encoding="utf-8")
    (tmp_path / "graders/test_counter.py").write_text(GRADER, encoding="utf-8")
    return Bank.at(tmp_path)


def graded(bank, source):
    with closing(SandboxOptions("jail").open()) as channel:
        return grade(Submission.of(source, "counter.py"), bank, bank.problem("counter"), channel)


def test_the_reference_is_accepted(bank):
    report = graded(bank, REFERENCE)

    assert (report.verdict, report.score) == ("accepted", 100.0), report.checks


def test_an_object_in_another_style_is_accepted(bank):
    report = graded(
        bank,
        "import torch\n\nclass Counter:\n    def __init__(self, begin):\n"
        "        self.all = [torch.ones(3) * begin]\n"
        "    def add(self, tensor):\n        assert len(tensor) == 3\n"
        "        self.all.append(tensor.clone())\n"
        "    def total(self):\n        return torch.stack(self.all).sum(0)\n",
    )

    assert report.score == 100.0, report.checks


def test_a_state_that_is_lost_is_seen_and_named(bank):
    report = graded(bank, FORGETS.replace("self.sum = x", "self.sum = x.clone()"))

    assert report.verdict == "rejected"
    assert [diagnosis.id for diagnosis in report.diagnoses] == ["forgets"]


def test_a_refusal_that_changes_the_object_is_seen(bank):
    swapped = REFERENCE.replace(
        "        if x.shape", "        self.sum = self.sum + x.sum()\n        if x.shape"
    ).replace("self.sum + x\n", "self.sum - x.sum() + x\n")

    report = graded(bank, swapped)

    assert [c.id for c in report.checks if c.outcome == "failed"] == ["refuses"]


def test_a_class_without_a_method_is_told_which_one(bank):
    report = graded(bank, REFERENCE.replace("def total", "def sum_up"))

    assert report.verdict == "error"
    assert report.load_problem is not None
    assert "`Counter` has no method `total`" in report.load_problem.message


def test_a_function_in_the_place_of_the_class_is_refused(bank):
    report = graded(bank, "def Counter(start):\n    return None\n")

    assert "`Counter` is a function; a class is wanted" in str(report.load_problem)
