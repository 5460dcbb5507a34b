"""What a worker needs is imported before the fork: after it, every submission would pay again."""

from contextlib import closing

import pytest
import torch

from mha_judge.grading.calling.session import Session
from mha_judge.sandbox import SandboxOptions
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

SOURCE = """
import sys
before = set(sys.modules)
import einops, math, numpy, torch

def late(x):
    return sorted(set(sys.modules) - before - {"einops"})

def double(x):
    return 2 * x
"""


@pytest.mark.slow
def test_a_worker_imports_nothing_late():
    submission = Submission.of(SOURCE, "answer.py")
    x = torch.ones(2, 3)
    with (
        closing(SandboxOptions("jail").open()) as channel,
        closing(Session(channel, submission, Limits())) as session,
    ):
        session.load()
        for given in (x, x.bfloat16(), x.requires_grad_()):
            session.request("call", ([given], {}, None), target="double", observe="call")
        session.request("call", ([x], {}, [x]), target="double", wrt=["0"])

        assert session.request("call", ([x], {}, None), target="late").value == []
