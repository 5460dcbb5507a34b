"""How near a known mistake comes to what a candidate answered."""

from types import SimpleNamespace

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.diagnosis.mistaken_entry import EXACT
from mha_judge.diagnosis.replay import _Asking, _Filled, _shown, tensors_of
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.failures import CheckFailure

NAN = torch.nan


@pytest.mark.parametrize("found", [None, "an answer in words", torch.ones(2)])
def test_what_is_no_answer_of_a_call_has_no_tensors(found):
    assert tensors_of(Step(target=None, args=(), found=found)) == []


@pytest.mark.parametrize(
    ("exact", "rounded", "shown"),
    [
        ([1.0, 2.0], [1.0, 2.01], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, NAN], [1.0, NAN]),
        ([1.0, 2.0], [1.0, torch.inf], [1.0, torch.inf]),
        ([1.0, 2.0], [1.0, 3.0], [1.0, 3.0]),
    ],
)
def test_what_a_mistake_does_in_one_dtype_alone_is_shown(exact, rounded, shown):
    [result, other] = _shown((torch.tensor(exact).double(), "other"), (torch.tensor(rounded), "x"))

    assert torch.equal(result.nan_to_num(9), torch.tensor(shown).double().nan_to_num(9))
    assert result.dtype is torch.float64 and other == "other"


@pytest.mark.parametrize(("weight", "agrees"), [(1 + 1e-6, True), (1.05, False)])
def test_what_need_not_be_returned_is_compared_where_nan_is_filled_in(monkeypatch, weight, agrees):
    own = torch.tensor([[1.0, 2.0], [NAN, NAN]])
    results = [(own.to(dtype),) * 2 for dtype in (torch.float64, torch.float32)]
    monkeypatch.setattr(_Asking, "_call", lambda self, how: (results[how != EXACT], 0.0))
    entry = Bank.builtin().problem("sdpa-numpy").entry[0]
    found = [torch.tensor([[number, 2.0], [0.0, 0.0]]) for number in (1 + 1e-6, weight)]
    step = Step(SimpleNamespace(entry=entry), (), found=SimpleNamespace(value=tuple(found)))

    filled = _Filled(_Asking(None, step, {}, None), None)

    assert entry.returns == ["output", "weights"] and entry.required_returns == 1
    try:
        assert filled.agrees() is agrees
    except CheckFailure:
        assert not agrees
