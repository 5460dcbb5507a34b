"""What an answer calls its own things does not change its grade."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from renaming import renamed
from seeds import SEEDS

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.outcomes import Outcome
from mha_judge.sandbox import Channel, SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
STYLES = {
    "odd": "x7 zz p2 t3 jj u1 r9 yy tt s4".split(),
    "Greek": "β γ α θ ω λ ξ π σ τ φ ψ".split(),
    "Chinese": "平移 甲 乙 丙 丁 戊 己 庚 辛 壬 癸".split(),
    "fused": """
        flash_attention scaled_dot_product_attention MultiheadAttention flex_attention sdpa_kernel
        TransformerEncoderLayer memory_efficient_attention multi_head_attention_forward xformers
    """.split(),
    "autograd": "backward jacobian requires_grad_buffer vjp autograd enable_grad grad_fn".split(),
}


def under_other_names(problem_id, words):
    source = BANK.reference(problem_id).read_text(encoding="utf-8")
    return renamed(source, BANK.problem(problem_id), words)


RENAMED = [problem_id for problem_id in BANK.ids if under_other_names(problem_id, ["other"])[1]]
"""The others have nothing of their own to be named."""


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


def each_in_each_style():
    """Return a reference in each style; of those of one problem one is drawn."""
    for problem_id in RENAMED:
        for part, style in enumerate(STYLES):
            drawn = pytest.mark.drawn(
                problem=problem_id, name="renamed", parts=len(STYLES), part=part
            )
            marks = [pytest.mark.xdist_group(problem_id), drawn]
            yield pytest.param(problem_id, style, marks=marks, id=f"{problem_id}-{style}")


@pytest.mark.parametrize(("problem_id", "style"), list(each_in_each_style()))
def test_a_reference_under_other_names_gets_100(problem_id, style, channel):
    problem, seed = BANK.problem(problem_id), SEEDS[problem_id]
    other, names = under_other_names(problem_id, STYLES[style])

    report = grade(Submission.of(other, "answer.py"), BANK, problem, channel, seed=seed)

    assert (report.verdict, report.score) == ("accepted", 100.0), (names, why(report))


def why(report):
    bad = [(c.id, c.message, c.detail) for c in report.checks if c.outcome is not Outcome.PASSED]
    return report.load_problem, bad


def test_what_an_answer_may_name_is_renamed_and_nothing_else():
    source = """
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.size = Helper(width=embed_dim)

    def forward(self, q, k, v, mask=None):
        return self._split(q, length=q.size(0)) + self.size.kept

    def _split(self, x, length):
        return helper(x.view(length, self.num_heads))

class Helper:
    def __init__(self, width):
        self.kept = width

def helper(q):
    return q
"""

    other, _ = renamed(source, BANK.problem("masked-mha"), [f"n{i}" for i in range(20)])

    assert (
        other
        == """import torch
from torch import nn

class MultiHeadAttention(nn.Module):

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.n0 = num_heads
        self.n1 = n5(n6=embed_dim)

    def forward(self, q, k, v, mask=None):
        return self.n2(q, n4=q.size(0)) + self.n1.n7

    def n2(self, n3, n4):
        return n8(n3.view(n4, self.n0))

class n5:

    def __init__(self, n6):
        self.n7 = n6

def n8(n9):
    return n9"""
    )
