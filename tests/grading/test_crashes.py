"""A process that ends in one corner fails the claim about it; the rest is asked in another."""

from contextlib import closing

import pytest

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
LAYER = BANK.reference("masked-mha").read_text()
BEFORE = "        self._check(q, k, v)\n"


@pytest.mark.parametrize(
    ("corner", "claim", "words"),
    [
        ("mask is not None and mask.dtype == torch.int8", "masks-of-any-dtype", "a mask is int8"),
        ("q.shape[1] > 400", "any-length", "is long"),
    ],
)
def test_a_layer_that_ends_its_process_in_a_corner_fails_the_claim_about_it(corner, claim, words):
    assert LAYER.count(BEFORE) == 1
    ends = f"        if {corner}:\n            __import__('os')._exit(0)\n"
    submission = Submission.of(LAYER.replace(BEFORE, ends + BEFORE), "answer.py")

    with closing(SandboxOptions("jail").open()) as channel:
        report = grade(submission, BANK, BANK.problem("masked-mha"), channel, seed=3)

    failed = {c.id: c.message for c in report.checks if c.outcome.is_bad and not c.advisory}
    assert [*failed] == [claim]
    assert words in failed[claim]
    assert "ended its own process" in failed[claim]
