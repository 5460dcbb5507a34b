"""A worker notes ready-made attention and autograd under whatever name they run."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from sandboxes import LIMITS, load

from mha_judge.sandbox import Channel, Reply, open_channel

FIRST = """
import torch, torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as renamed
q = torch.ones(1, 2, 3, 4)
x = torch.ones(2, 3, 4)
"""
SECOND = """
class Own(nn.MultiheadAttention):
    def forward(self, x): return super().forward(x, x, x, need_weights=True)
class Bound:
    attend = staticmethod(F.scaled_dot_product_attention)
class Config:
    functions = torch.nn.functional
leaf = torch.ones(3, requires_grad=True)
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return 2 * x
    @staticmethod
    def backward(ctx, g): return 2 * g
"""
LINE = FIRST.count("\n") + SECOND.count("\n") + 1


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(open_channel("jail")) as opened:
        yield opened


def notes(channel, lines):
    channel.start(LIMITS)
    loaded = load(channel, FIRST + SECOND + lines)
    assert isinstance(loaded, Reply), loaded
    assert "ok" in loaded.header, loaded.header
    return [(note["rule"], note["line"]) for note in loaded.header.get("notes", [])]


@pytest.mark.parametrize(
    "line",
    [
        "F.scaled_dot_product_attention(q, q, q)",
        "renamed(q, q, q)",
        "torch._C._nn.scaled_dot_product_attention(q, q, q)",
        "getattr(torch.nn.functional, 'scaled_' + 'dot_product_attention')(q, q, q)",
        "Bound().attend(q, q, q)",
        "Config().functions.scaled_dot_product_attention(q, q, q)",
        "from torch.nn.functional import *; scaled_dot_product_attention(q, q, q)",
        "nn.MultiheadAttention(4, 2)(x, x, x)",
        "nn.MultiheadAttention(4, 2).eval()(x, x, x, need_weights=False)",
        "torch.no_grad()(nn.MultiheadAttention(4, 2).eval())(x, x, x)",
        "nn.TransformerEncoderLayer(4, 2)(x)",
        "torch.no_grad()(nn.TransformerEncoderLayer(4, 2, batch_first=True).eval())(x)",
    ],
)
def test_ready_made_attention_is_noted_with_its_line(channel, line):
    assert set(notes(channel, line)) == {("fused-attention", LINE)}


def test_a_subclass_that_leaves_the_work_to_super_is_noted_where_it_does(channel):
    line = FIRST.count("\n") + SECOND[: SECOND.index("super()")].count("\n") + 1

    assert notes(channel, "Own(4, 2)(x)") == [("fused-attention", line)]


@pytest.mark.parametrize(
    "line",
    [
        "leaf.sum().backward()",
        "torch.autograd.backward(leaf.sum())",
        "torch.autograd.grad(leaf.sum(), leaf)",
        "torch.func.grad(torch.sum)(q)",
        "torch.func.vjp(torch.sin, q)[1](q)",
        "torch.func.jacrev(torch.sin)(torch.ones(2))",
        "torch.func.jvp(torch.sin, (q,), (q,))",
        "torch.func.jacfwd(torch.sin)(torch.ones(2))",
        "torch.autograd.functional.jacobian(torch.sin, torch.ones(2))",
        "Double.apply(torch.ones(2))",
    ],
)
def test_autograd_is_noted_with_its_line(channel, line):
    assert set(notes(channel, line)) == {("autograd", LINE)}


@pytest.mark.parametrize(
    "line",
    [
        "attend = F.scaled_dot_product_attention",
        "isinstance(q, nn.MultiheadAttention)",
        "layer: nn.MultiheadAttention = None",
        "if q.dim() == 7: F.scaled_dot_product_attention(q, q, q)",
        "def demo(): return torch.autograd.grad(q, q)",
        "leaf.grad_fn is None; torch.set_grad_enabled(False)",
        "Double.backward(None, torch.ones(2))",
        "torch.softmax(q @ q.mT, -1) @ q",
    ],
)
def test_what_does_not_run_is_not_noted(channel, line):
    assert notes(channel, line) == []


def test_a_gradient_that_the_judge_asks_for_is_not_the_submissions(channel):
    import torch

    from mha_judge.wire import encode_frame, pack

    channel.start(LIMITS)
    load(channel, "def double(x): return 2 * x")
    value, payload = pack(([torch.ones(3)], {}, [torch.ones(3)]))
    fields = {"id": 2, "op": "call", "target": "double", "wrt": ["0"], "value": value}

    reply = channel.request(encode_frame(fields, payload), 10.0)

    assert "ok" in reply.header, reply.header
    assert "notes" not in reply.header
