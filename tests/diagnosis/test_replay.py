"""How near a known mistake comes to what a candidate answered."""

import pytest
import torch

from mha_judge.diagnosis.replay import tensors_of
from mha_judge.grading.calling.trace import Step


@pytest.mark.parametrize("found", [None, "an answer in words", torch.ones(2)])
def test_what_is_no_answer_of_a_call_has_no_tensors(found):
    assert tensors_of(Step(target=None, args=(), found=found)) == []
