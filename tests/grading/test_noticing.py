"""What an answer's source proves that it cannot notice: only what is known to be harmless."""

import textwrap

import pytest

from mha_judge.grading.noticing.axes import may_notice

PLAIN = """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
"""


def _function(body: str, before: str = "", head: str = "def sdpa(q, k, v, mask=None):") -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"import math\nimport torch\n{textwrap.dedent(before)}\n{head}\n{lines}\n"


def _layer(forward: str, made: str = "pass", more: str = "") -> str:
    body = textwrap.indent(textwrap.dedent(forward).strip(), " " * 8)
    made = textwrap.indent(textwrap.dedent(made).strip(), " " * 8)
    more = textwrap.indent(textwrap.dedent(more).strip(), " " * 4)
    return f"""import math
import torch
from torch import nn
import torch.nn.functional as F

class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.head_dim = width // heads
        self.q_proj = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.randn(width))
{made}

    def forward(self, x):
{body}
{more}
"""


def _noticed(source: str) -> str:
    """Return what a source may notice: nothing, its layout, or anything."""
    history = may_notice(source, "before", "same")
    layout = may_notice(source, "layout", "slice")
    for axis, value in (
        ("mode", "no_grad"),
        ("leaf", "one"),
        ("frozen", "yes"),
        ("after", "calls"),
        ("instance", "loaded"),
        ("weights", "anew"),
        ("before", "other lengths"),
    ):
        assert may_notice(source, axis, value) is history
    assert layout or not history
    return "anything" if history else "layout" if layout else "nothing"


@pytest.mark.parametrize(
    "body",
    [
        PLAIN,
        "return F(q), None",
        """
        rows = []
        for row in range(q.shape[-2]):
            rows.append(torch.exp(q[..., row, :]))
        return torch.stack(rows, dim=-2)
        """,
        """
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"q is {q.shape[-1]} wide, and k {k.shape[-1]}")
        return q
        """,
        """
        scores = q @ k.mT
        with torch.no_grad():
            top = scores.max(dim=-1, keepdim=True).values
        return scores - top, torch.finfo(q.dtype).min
        """,
    ],
)
def test_what_only_computes_notices_nothing(body: str) -> None:
    assert _noticed(_function(body, "def F(x):\n    return x * 2\n")) == "nothing"


def test_a_layer_that_only_computes_notices_nothing() -> None:
    source = _layer(
        """
        x = self._split(self.q_proj(x)) * self.heads
        if self.training:
            x = F.dropout(x, 0.1, training=self.training)
        return F.linear(x.flatten(2), self.q_proj.weight, self.q_proj.bias) * self.scale
        """,
        more="""
        def _split(self, x):
            return x.reshape(*x.shape[:2], self.heads, self.head_dim)
        """,
    )
    assert _noticed(source) == "nothing"


@pytest.mark.parametrize("call", ["q.view(-1)", "q.view_as(k)", "(q.contiguous(),) == (q,)"])
def test_a_view_notices_the_layout_alone(call: str) -> None:
    assert _noticed(_function(f"return {call}")) == "layout"


def test_a_result_that_was_overwritten_may_matter_to_any_file() -> None:
    assert may_notice(_function(PLAIN), "before", "filled")
    assert may_notice(_function(PLAIN), "weights", "unbiased")
    assert may_notice(_function(PLAIN), "size", "tens")


@pytest.mark.parametrize(
    "body",
    [
        "return q.requires_grad",
        "return q.data_ptr()",
        "return torch.is_grad_enabled()",
        "return torch.empty(3)",
        "return torch.rand(3)",
        "return q.add_(1)",
        "out = torch.zeros_like(q)\nout[0] = q[0]\nreturn out",
        "total = 0\ntotal += q\ntotal += q\nreturn total",
        "def inner():\n    return q\nreturn inner()",
        "return (lambda: q)()",
        "return None is not q.contiguous() is q",
        "return len({q, k})",
        "return torch.norm(q, 2, -1, True, v)",
        "return dict([(q, 0), (k, 0)])",
        "return math.__dict__",
        "math.tau = 1\nreturn q",
        "raise [ValueError, TypeError][f'{q}'[-5:] == 'True)']",
        "raise ValueError(f\"{[0][f'{q}' == '']}\")",
        "turns = zip\nreturn turns(q)",
        "with torch.no_grad(q.mul_(2)):\n    return q",
        "return torch.nn.functional.dropout(q, 0.1)",
        "return __reached__",
        "return q * 1j",
        "return torch.view_as_complex(q)",
        "return q.to(torch.uint32)",
        "q += 1\nreturn q",
        "q[0] = 1\nreturn q",
        "w = +q\nw += 1\nreturn w",
        "*a, w = 0, 0, q\nw += 1\nreturn w",
        "w = q if mask is None else 0 * q\nw += 1\nreturn w",
        "w = torch.zeros(2)\nw = [q] * 2\nw[0] += 1\nreturn w",
        "rows = [q]\nrows[0] += 1\nreturn rows",
        "rows = q\nrows.append(1)\nreturn rows",
        "for w in [q]:\n    w += 1\nreturn q",
        "return torch.exp(q, out=k)",
        "return torch.nn.functional.relu(q, True)",
        "return torch.nn.functional.dropout(q, 0.0, True, True)",
        "return q is k",
        "return q in (k, v)",
        "return f'{q}'",
        "return '%s' % q",
        "return str(q)",
        "return id(q)",
        "return q.__dict__",
        "return getattr(q, 'requires_grad')",
        "try:\n    return q.view(-1)\nexcept RuntimeError:\n    return q",
        "sdpa.calls = 1\nreturn q",
        "global CALLS\nCALLS = 1\nreturn q",
        "import random\nreturn q",
        "def torch(x):\n    return x\nreturn torch(q)",
        "yield q",
        "return (lambda x, kept=[]: kept)(q)",
        "with torch.inference_mode():\n    return q",
        "return torch.nn.Linear(2, 2)(q)",
    ],
)
def test_a_function_with_anything_else_may_notice_anything(body: str) -> None:
    assert _noticed(_function(body)) == "anything"


@pytest.mark.parametrize(
    "before",
    [
        "KEPT = {}",
        "KEPT = []",
        "NOISE = torch.zeros(3)",
        "is_on = torch.is_grad_enabled",
        "import random",
        "import numpy as np",
        "from random import random",
        "from torch import is_grad_enabled",
        "from torch import square as __f",
        "from torch import sin as cos\nfrom torch import cos",
        "import einops",
        "I = 1j",
        "from torch import ones as float",
        "from typing import *",
        "from typing import get_type_hints",
        "from typing import final as staticmethod",
        "N: exec('KEPT = []') = 0",
        "def other(__builtins__):\n    return __builtins__",
        "if __name__ == __name__:\n    KEPT = 1",
        "print('loaded')",
        "for i in range(3):\n    pass",
        "if True:\n    X = 1",
        "def torch(x):\n    return x",
        "def other(x, kept=[]):\n    return kept",
        "@torch.compile\ndef other(x):\n    return x",
        "class Kept:\n    calls = 0",
        "class Kept(torch.autograd.Function):\n    pass",
        "def other(id):\n    return id\ndef another(x):\n    return id(x)",
        "if __name__ == '__main__':\n    id = 1\ndef another(x):\n    return id(x)",
    ],
)
def test_a_file_with_anything_else_may_notice_anything(before: str) -> None:
    assert _noticed(_function(PLAIN, before)) == "anything"


@pytest.mark.parametrize(
    ("forward", "made", "more"),
    [
        ("self.last = x\nreturn x", "pass", ""),
        ("return self.q_proj.double()(x)", "pass", ""),
        ("return self.double()(x)", "pass", ""),
        ("layer = self.q_proj\nreturn layer.double()(x)", "pass", ""),
        ("return self.parameters()", "pass", ""),
        ("return self.q_proj.weight.grad", "pass", ""),
        ("kept = self\nreturn x", "pass", ""),
        ("return Layer(2, 2)(x)", "pass", ""),
        ("self.kept.append(x)\nreturn x", "self.kept = []", ""),
        ("kept = self.kept\nkept += [x]\nreturn x", "self.kept = []", ""),
        ("return sum(self.kept)", "self.kept = (i for i in range(9))", ""),
        ("return sum(self.kept)", "self.kept = zip([1], [2])", ""),
        ("return x * self.noise", "self.noise = torch.randn(3)", ""),
        ("return x @ self.turned", "self.turned = self.q_proj.weight.t()", ""),
        ("return x", "self.tied = self.q_proj", ""),
        ("return self.a(x)", "self.a = self.b = nn.Linear(2, 2)", ""),
        ("return x * self.a", "self.a = nn.Parameter(width)", ""),
        ("return x * self.a", "self.a = nn.Parameter(torch.zeros_like(self.b.T))", ""),
        ("return x * self.a", "self.a = nn.Parameter(torch.zeros(int(torch.rand(()) * 9)))", ""),
        ("return x * self.a", "self.a = nn.Parameter(torch.zeros(3, dtype=torch.float64))", ""),
        ("return sum(self.a)", "self.a = {'one': 1}.values()", ""),
        ("return x", "self.a = torch.finfo(torch.float32)", ""),
        ("return x * self.a", "self.a = nn.Parameter(torch.ones(3), False)", ""),
        ("return x * self.a[0]", "self.a = (nn.Parameter(torch.ones(3)), 1)", ""),
        ("return self.a(x)", "self.a = Layer(nn.Linear(2, 2))", ""),
        ("return x", "torch.nn.init.torch.set_grad_enabled(mode=False)", ""),
        ("return x", "nn.init.zeros_(self.q_proj.weight)", ""),
        ("return x", "super(Layer, (exec('x'), self)[1]).__init__()", ""),
        ("return sum(self.turns)", "turns = zip\nself.turns = turns([1])", ""),
        ("return self.learns(x)", "pass", "def learns(this, /, x):\n    return x.add_(1)"),
        ("return x * self.kept[0]", "self.kept = (nn.Parameter(torch.randn(3)) * 1,)", ""),
        ("return x", "self.register_buffer('kept', torch.zeros(3))", ""),
        ("return x", "self.training = 1", ""),
        ("return x", "lin = nn.Linear(2, 2)\nself.kept = lin", ""),
        ("return self.norm(x)", "self.norm = nn.BatchNorm1d(3)", ""),
        ("return self.table(x)", "self.table = nn.Embedding(3, 3, max_norm=1.0)", ""),
        ("return self.relu(x)", "self.relu = nn.ReLU(True)", ""),
        ("return self.relu(x)", "self.relu = nn.ReLU(inplace=True)", ""),
        ("return x", "pass", "def train(self, mode=True):\n    return self"),
        ("return x", "pass", "def __getattr__(self, name):\n    return name"),
        ("return x", "pass", "kept = 0"),
        ("return x", "pass", "@property\ndef kept(self):\n    return 1"),
    ],
)
def test_a_layer_with_anything_else_may_notice_anything(forward: str, made: str, more: str) -> None:
    assert _noticed(_layer(forward, made, more)) == "anything"


def test_what_is_no_python_may_notice_anything() -> None:
    assert _noticed("def (") == "anything"
