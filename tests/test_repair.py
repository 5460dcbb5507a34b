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


LAYER = """class Layer(nn.Module):
    def __init__(self):
        self.n = 2
    def forward(self, x): {}
"""


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
        (
            "y = softmax(s)\nimport torch\n",
            Stop("raises NameError: name 'softmax' is not defined", 1),
            "y = torch.softmax(s)\nimport torch\n",
        ),
        (
            LAYER.format("return x * n + n"),
            Stop("raises NameError: name 'n' is not defined", 4),
            LAYER.format("return x * self.n + self.n"),
        ),
        (
            "w = F.softmax(s, axis=-1)\nimport torch.nn.functional as F\n",
            Stop("raises TypeError: softmax() got an unexpected keyword argument 'axis'", 1),
            "w = F.softmax(s, dim=-1)\nimport torch.nn.functional as F\n",
        ),
        (
            "from torch import nn\nq = nn.Linear(3, 3, use_bias=False)\n",
            Stop("raises TypeError: got an unexpected keyword argument 'use_bias'", 2),
            "from torch import nn\nq = nn.Linear(3, 3, bias=False)\n",
        ),
        (
            "p = torch.arange(n, dtpye=t)\n",
            Stop(
                "raises TypeError: arange() received an invalid combination of arguments - got", 1
            ),
            "p = torch.arange(n, dtype=t)\n",
        ),
        (
            "w = torch.softmax(s)\n",
            Stop('raises TypeError: softmax() missing 1 required positional arguments: "dim"', 1),
            "w = torch.softmax(s, dim=-1)\n",
        ),
        (
            "k = torch.cat(a, k, dim=2)\n",
            Stop("raises TypeError: cat(): argument 'tensors' (position 1) must be tuple", 1),
            "k = torch.cat((a, k), dim=2)\n",
        ),
        (
            "import torch\ny = s / torch.sqrt(d)\n",
            Stop("TypeError: sqrt(): argument 'input' (position 1) must be Tensor, not int", 2),
            "import math; import torch\ny = s / math.sqrt(d)\n",
        ),
        (
            "import torch\nm = s.max(-1)[0]\nw = (s - m).exp()\n",
            Stop("raises RuntimeError: The size of tensor a (7) must match the size of b (5)", 3),
            "import torch\nm = s.max(-1, keepdim=True)[0]\nw = (s - m).exp()\n",
        ),
        (
            "import numpy as np\nw = e / np.sum(e, axis=-1)\n",
            Stop("ValueError: operands could not be broadcast, with shapes (2,7) (2,)", 2),
            "import numpy as np\nw = e / np.sum(e, axis=-1, keepdims=True)\n",
        ),
        (
            "d = q.shape(-1)\n",
            Stop("raises TypeError: 'torch.Size' object is not callable", 1),
            "d = q.shape[-1]\n",
        ),
        (
            "d = q.size[-1]\n",
            Stop("TypeError: 'builtin_function_or_method' object is not subscriptable", 1),
            "d = q.shape[-1]\n",
        ),
        (
            LAYER.format("return x.view(2, self.n)").replace("n = 2", "n = 4 / 2"),
            Stop(
                'raises TypeError: view(): argument … "type must be tuple of ints,but got float"', 4
            ),
            LAYER.format("return x.view(2, self.n)").replace("n = 2", "n = 4 // 2"),
        ),
        (
            LAYER.format("return x"),
            Stop("raises AttributeError: cannot assign module before Module.__init__() call", 3),
            LAYER.format("return x").replace("self.n", "super().__init__(); self.n"),
        ),
        (
            "def f(x):\n    y = x + 1  # 加\n",
            Stop("output is None (is a `return` missing?); a torch.Tensor is wanted", 0),
            "def f(x):\n    y = x + 1; return y  # 加\n",
        ),
        ("def f(x):\n    a, b = x\n", Stop("None (is a `return` missing?)", 0), None),
        (
            "s = s.masked_fill(~causal, z)\n",
            Stop("TypeError: ~ (operator.invert) is only implemented on integer and Boolean", 1),
            "s = s.masked_fill(~causal.bool(), z)\n",
        ),
        (
            "s = s.masked_fill(mask, z)\n",
            Stop("RuntimeError: masked_fill_ only supports boolean masks, but got mask with", 1),
            "s = s.masked_fill(mask.bool(), z)\n",
        ),
        (
            "头 = w @ v.mT\n",
            Stop("RuntimeError: expected scalar type Float but found Double", 1),
            "头 = w.to(v.dtype) @ v.mT\n",
        ),
        (
            "def f(x):\n    r = torch.eye(3)\n    return g(r)\n",
            Stop("RuntimeError: expected m1 and m2 to have the same dtype, but got: float", 3),
            "def f(x):\n    r = torch.eye(3, dtype=x.dtype)\n    return g(r)\n",
        ),
        (
            "def f(x):\n    r = torch.tril(torch.ones(3, 3))\n    return x * r\n",
            Stop("RuntimeError: Expected all tensors to be on the same device, but found", 3),
            "def f(x):\n    r = torch.tril(torch.ones(3, 3, device=x.device))\n    return x * r\n",
        ),
        (
            "s = q @ k.t()\n",
            Stop("RuntimeError: t() expects a tensor with <= 2 dimensions, but self is 4D", 1),
            "s = q @ k.mT\n",
        ),
        (
            "w = s.sum(3)\n",
            Stop("raises IndexError: Dimension out of range (… in range of [-3, 2], but got 3)", 1),
            "w = s.sum(2)\n",
        ),
        (
            "w = s.sum(3)\n",
            Stop("raises AxisError: axis 3 is out of bounds for array of dimension 3", 1),
            "w = s.sum(2)\n",
        ),
        (
            "q = x.permute(0, 2, 3, 1)\n",
            Stop("RuntimeError: The size of tensor a (3) must match the size of tensor b (7)", 1),
            "q = x.permute(2, 0, 3, 1)\n",
        ),
        (f"w = s.sum(0x{'f' * 5000})\n", Stop("RuntimeError: shapes do not fit", 1), None),
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
    if found is not None:
        lines = zip(source.split("\n"), repaired.split("\n"), strict=True)
        changed = {number for number, (one, other) in enumerate(lines, 1) if one != other}
        assert int(found.title.removeprefix("Line ").partition(":")[0]) in {stop.line, *changed}


def test_of_a_long_line_what_is_repaired_is_shown():
    source = f"w = torch.cat([{', '.join('abcdefgh' * 5)}], dim=4)\n"
    stop = Stop("IndexError: Dimension out of range (in range of [-4, 3], but got 4)", 1)

    found = next(repairs(source, stop))

    assert found.explanation == (
        "With `torch.cat([a, b, c, d, e, f, g … , b, c, d, e, f, g, h], dim=3)` in line 1 it runs."
    )


def test_an_axis_is_looked_for_where_operands_were_made():
    source = (
        "def split(x):\n    return x.view(2, 3, 4, 5).transpose(1, 3)\n\n"
        "def f(q, k):\n    k = split(k)\n    n = k.sum()\n    return q @ k\n"
    )
    stop = Stop("RuntimeError: mat1 and mat2 shapes cannot be multiplied (6x4 and 3x2)", 7)

    found = [repair.source for repair in repairs(source, stop)]

    assert source.replace("(1, 3)", "(1, 2)") in found
    assert all("n = k.sum()" in one for one in found)


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


def diagnosed(report):
    return [(one.id, one.title) for one in report.diagnoses]


@pytest.mark.slow
def test_of_several_repairs_the_one_with_which_most_checks_pass_is_named(channel):
    source = RIGHT.replace("softmax(scores, -1)", "softmax(scores, 3)")

    report = graded(channel, source)

    [slip] = report.diagnoses
    assert (slip.id, slip.explanation) == (
        ID,
        "With `torch.softmax(scores, -1)` in line 9 it runs.",
    )


@pytest.mark.slow
def test_a_mistake_known_by_an_exception_gives_way_to_a_repair_that_explains_more(channel):
    report = graded(channel, RIGHT.replace("k.mT", "k.transpose(-2, -3)"))

    assert (report.verdict, report.score) == ("rejected", 85)
    assert diagnosed(report) == [
        (ID, "Line 6: the axes of `k.transpose(-2, -3)` do not fit"),
    ]


@pytest.mark.slow
def test_a_known_mistake_that_explains_all_keeps_its_name(channel):
    report = graded(channel, RIGHT.replace("mask == 0", "(1 - mask).bool()"))

    assert [one.id for one in report.diagnoses] == ["integer-mask-only"]


@pytest.mark.slow
def test_a_function_that_returns_nothing_costs_a_slip(channel):
    report = graded(channel, RIGHT.replace("return weights @ v", "result = weights @ v"))

    assert diagnosed(report) == [(ID, "Line 10: `attention` returns nothing")]
    assert report.diagnoses[0].explanation == "With `return result` in line 10 it runs."
