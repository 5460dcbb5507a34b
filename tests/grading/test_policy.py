"""Ready-made attention and autograd are found by what ran; names are free."""

from types import SimpleNamespace

import pytest

from mha_judge.grading.calling.replies import Note, Observed
from mha_judge.grading.checks.policy import (
    assert_no_autograd,
    assert_no_library_loss,
    assert_no_library_norm,
    assert_not_imported,
    assert_operations_do_not_grow,
    assert_written_from_scratch,
    findings,
    fused_in,
    held_to,
)
from mha_judge.grading.failures import CheckFailure
from mha_judge.outcomes import Category, Outcome
from mha_judge.report.models import CheckResult
from mha_judge.submission import Submission


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
    """A candidate, its context, session and function: what calls were noted and seen to do."""

    def __init__(self, seen=None, notes=(), source=""):
        self.task = SimpleNamespace(submission=Submission.of(source, "answer.py"))
        self._seen = seen or observed()
        self.notes = notes
        self._context = self.session = self
        self.rules = {}
        self.observations = []

    def observe(self, *args):
        return self._seen

    def hold_to(self, rule):
        self.rules["the-check"] = rule


FUSED = Note(rule="fused-attention", name="scaled_dot_product_attention", line=7)


def result(name="the-check", outcome=Outcome.PASSED):
    return CheckResult(
        id=name, title="t", category=Category.POLICY, outcome=outcome, points=3.0, max_points=3.0
    )


@pytest.mark.parametrize(
    "seen",
    [
        observed(functions=["scaled_dot_product_attention"]),
        observed(operators=["aten._scaled_dot_product_flash_attention_for_cpu"]),
        observed(operators=["aten._native_multi_head_attention"]),
        observed(modules=["torch.MultiheadAttention"]),
    ],
)
def test_ready_made_attention_seen_at_work_is_found(seen):
    assert len(fused_in(seen)) == 1
    with pytest.raises(CheckFailure, match=r"runs `.*`; the problem asks"):
        assert_written_from_scratch(Stub(), Stub(seen=seen))


def test_ones_own_modules_and_operators_are_from_scratch_whatever_they_are_called():
    seen = observed(
        ["softmax", "matmul"],
        ["aten.bmm", "aten._softmax", "mine.flash_attention"],
        ["MultiheadAttention"],
    )

    assert fused_in(seen) == []
    assert_written_from_scratch(Stub(), Stub(seen=seen))


def test_what_an_earlier_call_did_counts_and_its_line_is_named():
    candidate = Stub(notes=[FUSED])

    with pytest.raises(CheckFailure, match="runs `scaled_dot_product_attention`") as raised:
        assert_written_from_scratch(candidate, Stub())

    assert raised.value.detail == "line 7"


def test_what_a_later_call_did_fails_the_check_that_had_passed():
    candidate = Stub()
    assert_written_from_scratch(candidate, Stub())
    results = [result(), result("another")]

    late = findings(Stub(notes=[FUSED]), "fused-attention")
    held, other = held_to(results, candidate.rules, late)

    assert (held.outcome, held.points, held.max_points) == (Outcome.FAILED, 0.0, 3.0)
    assert "from scratch" in held.message
    assert held.detail == "line 7"
    assert other == results[1]
    assert held_to(results, candidate.rules, []) == results


def test_autograd_is_no_ready_made_attention_and_the_other_way_round():
    differentiates = Note(rule="autograd", name="_softmax_backward_data", line=None)

    assert_written_from_scratch(Stub(notes=[differentiates]), Stub())
    assert_no_autograd(Stub(notes=[FUSED]), Stub())
    with pytest.raises(CheckFailure, match="runs `_softmax_backward_data`; the gradients"):
        assert_no_autograd(Stub(notes=[differentiates]), Stub())


def test_a_graph_that_is_recorded_is_autograd():
    seen = observed().model_copy(update={"followed": 2})

    with pytest.raises(CheckFailure, match="records a graph"):
        assert_no_autograd(Stub(), Stub(seen=seen))


@pytest.mark.parametrize(
    ("hold", "what", "seen"),
    [
        (assert_no_library_norm, "norm", observed(functions=["rms_norm"])),
        (assert_no_library_norm, "norm", observed(operators=["aten.native_layer_norm"])),
        (assert_no_library_norm, "norm", observed(operators=["aten.native_batch_norm"])),
        (assert_no_library_norm, "norm", observed(modules=["torch.GroupNorm"])),
        (assert_no_library_loss, "loss", observed(functions=["cross_entropy"])),
        (assert_no_library_loss, "loss", observed(functions=["kl_div"])),
        (assert_no_library_loss, "loss", observed(operators=["aten.nll_loss_forward"])),
        (assert_no_library_loss, "loss", observed(modules=["torch.CrossEntropyLoss"])),
    ],
)
def test_a_norm_or_loss_of_the_library_is_found_in_every_call(hold, what, seen):
    with pytest.raises(CheckFailure, match=rf"runs `.*`; the problem asks for a {what}"):
        hold(Stub(), Stub(seen=seen))
    earlier = Stub()
    earlier.observations = [seen]
    with pytest.raises(CheckFailure, match=rf"runs `.*`; the problem asks for a {what}"):
        hold(earlier, Stub())


def test_ones_own_norms_losses_and_the_length_of_a_vector_are_none_of_the_library():
    own = observed(
        ["var_mean", "normalize", "log_softmax"],
        ["aten.linalg_vector_norm", "mine.cross_entropy.default"],
        ["LayerNorm", "CrossEntropyLoss"],
    )

    assert_no_library_norm(Stub(), Stub(seen=own))
    assert_no_library_loss(Stub(), Stub(seen=own))


def test_a_finding_names_rule_and_line():
    [finding] = findings(Stub(notes=[FUSED]), "fused-attention")

    assert (finding.rule, finding.line) == ("fused-attention", 7)


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


def test_what_any_observed_call_did_counts():
    candidate = Stub()
    candidate.observations = [observed(), observed(functions=["grad"])]

    with pytest.raises(CheckFailure, match="runs `grad`; the gradients are to be derived"):
        assert_no_autograd(candidate, Stub())


def test_ones_own_operator_is_no_autograd_whatever_it_is_called():
    seen = observed(["mine.attention_backward.default"], ["mine.attention_backward"])

    assert_no_autograd(Stub(), Stub(seen=seen))


@pytest.mark.parametrize(
    "line",
    ["import torch", "from torch import nn", "import torch.nn as n", "__import__('torch')",
     "importlib.import_module('torch.nn')"],
)  # fmt: skip
def test_an_import_of_torch_is_found_at_its_line(line):
    candidate = Stub(source=f"import numpy\n{line}\n")

    with pytest.raises(CheckFailure, match="imports torch") as raised:
        assert_not_imported(candidate, "torch")

    assert raised.value.detail == "line 2"


def test_a_text_that_only_names_torch_is_no_import():
    candidate = Stub(source="important('torch'); importlib.util.find_spec('torch')")

    assert_not_imported(candidate, "torch")


def test_torch_that_came_by_another_way_is_seen_at_work():
    candidate = Stub(source="import sys")
    candidate.observations = [observed(["softmax"], ["aten._softmax"])]

    with pytest.raises(CheckFailure, match="runs `softmax`; the problem is to be solved without"):
        assert_not_imported(candidate, "torch")
