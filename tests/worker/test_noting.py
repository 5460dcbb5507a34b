"""A worker notes ready-made attention and autograd under whatever name they run."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from sandboxes import LIMITS, load

from mha_judge.sandbox import Channel, Reply, SandboxOptions

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
def in_thread(work):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool: pool.submit(work).result()
"""
ALONE = FIRST.replace(
    "from torch.nn.functional import scaled_dot_product_attention as renamed",
    "renamed = torch._C._nn.scaled_dot_product_attention",
) + SECOND.replace("F.scaled_dot_product_attention", "renamed")
LINE = FIRST.count("\n") + SECOND.count("\n") + 1


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


def notes(channel, lines):
    channel.start(LIMITS)
    loaded = load(channel, FIRST + SECOND + lines)
    assert isinstance(loaded, Reply), loaded
    assert "ok" in loaded.header, loaded.header
    return [(note["rule"], note["line"]) for note in loaded.header.get("notes", [])]


ROUTES = [
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
    "torch.ops.aten.scaled_dot_product_attention(q, q, q)",
    "torch.ops.aten.scaled_dot_product_attention.default(q, q, q)",
    "torch._scaled_dot_product_attention_math(q, q, q)",
    "torch._VF._scaled_dot_product_attention_math(q, q, q)",
    "torch._scaled_dot_product_flash_attention_for_cpu(q, q, q)",
    "torch.inference_mode()(F.scaled_dot_product_attention)(q, q, q)",
    "torch.jit.trace(lambda t: F.scaled_dot_product_attention(t, t, t), q)",
    "in_thread(lambda: F.scaled_dot_product_attention(q, q, q))",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", ROUTES)
def test_ready_made_attention_is_noted_with_its_line(channel, line):
    assert set(notes(channel, line)) == {("fused-attention", LINE)}


@pytest.mark.parametrize("line", ROUTES)
def test_ready_made_attention_that_was_taken_away_refuses(channel, line):
    channel.start(LIMITS)
    refused = "except (AttributeError, NameError, RuntimeError): pass"
    tried = f"try:\n    {line}\n    RAN = lambda: 0\n{refused}"
    loaded = load(channel, ALONE + tried, fused_attention=False)
    assert "ok" in loaded.header, loaded.header
    assert "RAN" not in loaded.header["ok"]["definitions"]
    assert "notes" not in loaded.header


def test_a_subclass_that_leaves_the_work_to_super_is_noted_where_it_does(channel):
    line = FIRST.count("\n") + SECOND[: SECOND.index("super()")].count("\n") + 1

    assert notes(channel, "Own(4, 2)(x)") == [("fused-attention", line)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "leaf.softmax(0).sum().backward()",
        "torch.autograd.grad(leaf.softmax(0).sum(), leaf)",
        "torch.func.grad(lambda t: t.softmax(0)[0])(torch.ones(3))",
        "torch.func.vjp(lambda t: t.softmax(0), torch.ones(3))[1](torch.ones(3))",
        "torch.func.jacrev(lambda t: t.softmax(0))(torch.ones(2))",
        "torch.autograd.functional.jacobian(lambda t: t.softmax(0), torch.ones(2))",
        "torch.ops.aten._softmax_backward_data(q, q, -1, torch.float32)",
        "in_thread(lambda: leaf.softmax(0).sum().backward())",
    ],
)
def test_the_backward_pass_of_a_softmax_is_noted_with_its_line(channel, line):
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
