"""A slip that stops a program costs a slip, and what the file would compute is graded."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.judge.repair import ID, Stop, repairs
from mha_judge.sandbox import Channel, SandboxOptions
from mha_judge.submission import Submission

BANK = Bank.builtin()


@pytest.mark.parametrize(
    ("source", "stop", "repaired"),
    [
        (
            "def f(x)\n    return x\n",
            Stop("SyntaxError: expected ':'", 1, 9),
            "def f(x):\n    return x\n",
        ),
        (
            "if x  # so\n    y = 1\n",
            Stop("SyntaxError: expected ':'", 1, 5),
            "if x:  # so\n    y = 1\n",
        ),
        ("y = f(x\n", Stop("SyntaxError: '(' was never closed", 1, 6), "y = f(x)\n"),
        (
            "if f(x:\n    y = 1\n",
            Stop("SyntaxError: '(' was never closed", 1, 5),
            "if f(x):\n    y = 1\n",
        ),
        ("y = f(x))\n", Stop("SyntaxError: unmatched ')'", 1, 9), "y = f(x)\n"),
        (
            "import torch\ny = math.pi\n",
            Stop("the file raises NameError: name 'math' is not defined", 2),
            "import math; import torch\ny = math.pi\n",
        ),
        (
            "scores = 1\ny = scroes + 1\n",
            Stop("raises NameError: name 'scroes' is not defined", 2),
            "scores = 1\ny = scores + 1\n",
        ),
        (
            "w = torch.sofmax(s, -1)\n",
            Stop("raises AttributeError: module 'torch' has no attribute 'sofmax'", 1),
            "w = torch.softmax(s, -1)\n",
        ),
        (
            "w = s.transpos(1, 2)\n",
            Stop("raises AttributeError: 'Tensor' object has no attribute 'transpos'", 1),
            "w = s.transpose(1, 2)\n",
        ),
        (
            "self.out_proj = 1\ny = self.out_prj\n",
            Stop("raises AttributeError: 'MHA' object has no attribute 'out_prj'", 2),
            "self.out_proj = 1\ny = self.out_proj\n",
        ),
        (
            "a = x.view(1)\nb = x.mT.view(2, 3)\n",
            Stop("raises RuntimeError: view size is not compatible with input tensor's size", 2),
            "a = x.view(1)\nb = x.mT.reshape(2, 3)\n",
        ),
        ("y = 1 / 0\n", Stop("raises ZeroDivisionError: division by zero", 1), None),
        (
            "y = os.getcwd()\n",
            Stop("raises AttributeError: module 'os' has no attribute 'x'", 1),
            None,
        ),
    ],
)
def test_one_place_is_repaired(source, stop, repaired):
    found = next(repairs(source, stop), None)

    assert (found.source if found else None) == repaired
    assert found is None or found.title.startswith(f"Line {stop.line}: ")


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


def graded(channel, source, problem="sdpa", **options):
    submission = Submission.of(source, "answer.py")
    return grade(submission, BANK, BANK.problem(problem), channel, seed=3, **options)


RIGHT = """
import torch


def attention(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, -1)
    return weights @ v, weights
"""


@pytest.mark.slow
def test_a_right_answer_with_a_typo_loses_a_slip(channel):
    report = graded(channel, RIGHT.replace("softmax", "sofmax"))

    assert (report.verdict, report.score) == ("rejected", 85)
    [slip] = report.diagnoses
    assert (slip.id, slip.title, slip.cost) == (ID, "Line 9: `sofmax` is misspelt: `softmax`", 15)
    assert report.strict_score < 10


@pytest.mark.slow
def test_what_else_is_wrong_is_named_beside_it(channel):
    source = RIGHT.replace("mask=None):", "mask=None)").replace(" / q.shape[-1] ** 0.5", "")

    report = graded(channel, source)

    assert (report.verdict, report.load_problem.line) == ("error", 5)
    assert [d.id for d in report.diagnoses] == [ID, "no-scale"]
    assert report.score == 100 - sum(d.cost for d in report.diagnoses)


@pytest.mark.slow
def test_two_slips_are_not_repaired(channel):
    source = RIGHT.replace("mask=None):", "mask=None)").replace("softmax", "sofmax")

    report = graded(channel, source)

    assert (report.verdict, report.score, report.diagnoses) == ("error", 0, [])


@pytest.mark.slow
def test_the_verdict_alone_is_without_repairs(channel):
    report = graded(channel, RIGHT.replace("softmax", "sofmax"), verdict_only=True)

    assert (report.verdict, report.score) == ("rejected", 0)
