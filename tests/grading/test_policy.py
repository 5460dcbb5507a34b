"""Ready-made attention is found by whatever route it is named; one's own is not taken for it."""

import pytest

from mha_judge.grading.failures import CheckFailure
from mha_judge.grading.policy import (
    assert_operations_do_not_grow,
    assert_written_from_scratch,
    fused_in,
    fused_in_source,
)
from mha_judge.grading.replies import Observed


def observed(functions=(), operators=(), modules=()):
    counts = [
        dict.fromkeys(names, 1) if not isinstance(names, dict) else names
        for names in (functions, operators, modules)
    ]
    return Observed(
        functions=counts[0],
        operators=counts[1],
        modules=counts[2],
        flops=0,
        largest_elements=0,
        written_elements=0,
    )


class Stub:
    """A candidate and its function: a source, and what a call was seen to do."""

    def __init__(self, source="", seen=None):
        self.source = source
        self._seen = seen or observed()

    def observe(self, *args):
        return self._seen


@pytest.mark.parametrize(
    "line",
    [
        "F.scaled_dot_product_attention(q, k, v)",
        "torch.nn.functional.scaled_dot_product_attention(q, k, v)",
        "from torch.nn.functional import scaled_dot_product_attention",
        "from torch.nn.functional import scaled_dot_product_attention as sdpa",
        "nn.MultiheadAttention(8, 2)",
        "from torch.nn import MultiheadAttention",
        "F.multi_head_attention_forward(q)",
        "torch._native_multi_head_attention(q)",
        "getattr(F, 'scaled_dot_product_attention')(q, k, v)",
        "torch.ops.aten._scaled_dot_product_flash_attention(q, k, v)",
        "from torch.nn.attention.flex_attention import flex_attention",
        "import flash_attn",
        "from flash_attn import flash_attn_func",
        "import xformers.ops as xops",
        "nn.TransformerEncoderLayer(8, 2)",
        "attend = F.scaled_dot_product_attention",
    ],
)
def test_ready_made_attention_is_found_at_its_line(line):
    findings = fused_in_source(f"import torch\n\n{line}\n")

    assert findings
    assert {(finding.rule, finding.line) for finding in findings} == {("fused-attention", 3)}


@pytest.mark.parametrize(
    "source",
    [
        "def scaled_dot_product_attention(q, k, v):\n    return q\n"
        "scaled_dot_product_attention(1, 2, 3)",
        "class MultiheadAttention:\n    pass\nMultiheadAttention()",
        "class A:\n    def f(self):\n        return self.scaled_dot_product_attention(1)",
        "# F.scaled_dot_product_attention is not allowed",
        "'''Like nn.MultiheadAttention, but by hand.'''",
        "torch.softmax(q @ k.mT, -1) @ v",
        "import torch.nn.functional as F\nF.softmax(x, -1)",
    ],
)
def test_an_answer_of_ones_own_is_clean(source):
    assert fused_in_source(source) == ()


@pytest.mark.parametrize(
    "source", ["def broken(:", "x = 0" + " + 1" * 20_000, "x = " + "-" * 50_000 + "1"],
    ids=["syntax", "sums", "minus"],
)  # fmt: skip
def test_what_cannot_be_read_may_hide_anything(source):
    [finding] = fused_in_source(source)

    assert "cannot be read" in finding.message


@pytest.mark.parametrize(
    "seen",
    [
        observed(functions=["scaled_dot_product_attention"]),
        observed(operators=["aten._scaled_dot_product_flash_attention_for_cpu"]),
        observed(operators=["aten._native_multi_head_attention"]),
        observed(modules=["torch.MultiheadAttention"]),
    ],
)
def test_ready_made_attention_seen_at_work_is_found_whatever_the_source_says(seen):
    assert len(fused_in(seen)) == 1
    with pytest.raises(CheckFailure, match=r"runs `.*`; the problem asks"):
        assert_written_from_scratch(Stub(), Stub(seen=seen))


def test_matmul_and_softmax_and_ones_own_module_are_from_scratch():
    seen = observed(["softmax", "matmul"], ["aten.bmm", "aten._softmax"], ["MultiheadAttention"])

    assert fused_in(seen) == []
    assert_written_from_scratch(Stub("x = 1"), Stub(seen=seen))


def test_a_source_that_names_it_is_refused_even_if_it_is_not_run():
    with pytest.raises(CheckFailure, match="scaled_dot_product_attention") as raised:
        assert_written_from_scratch(Stub("x = 1\nF.scaled_dot_product_attention"), Stub())

    assert raised.value.detail == "line 2"


def test_a_loop_over_what_grew_is_seen_in_the_number_of_operations():
    small, large = (
        observed(functions={"matmul": n}, operators={"aten.bmm": n, "aten.copy_": 9 * n})
        for n in (3, 6)
    )

    with pytest.raises(CheckFailure, match="a Python loop over the heads") as raised:
        assert_operations_do_not_grow(small, large, "the heads")

    assert raised.value.detail == "30 operations, then 60"


def test_one_call_that_is_many_operators_is_no_loop():
    small, large = (
        observed(functions={"tensor_split": 1}, operators={"aten.slice": n}) for n in (3, 6)
    )

    assert_operations_do_not_grow(small, large, "the heads")


def test_tolerated_operations_and_fewer_operations_are_no_loop():
    small = observed(operators={"aten.bmm": 2, "aten.view": 1})
    large = observed(operators={"aten.bmm": 1, "aten.view": 50})

    assert_operations_do_not_grow(small, large, "x", tolerated=["aten.view"])
