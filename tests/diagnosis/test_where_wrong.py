"""What wrong calls have in common, and right ones have not."""

from contextlib import closing

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.diagnosis.where_wrong import features, refusing, telling
from mha_judge.grading.calling.trace import Step
from mha_judge.judge import grade
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

BANK = Bank.builtin()
[ENTRY] = BANK.problem("sdpa").entry


class Asked:
    entry = ENTRY
    chained = False


def call(L=5, S=7, D=4, Dv=4, mask=None, dtype=torch.float32):
    q, k, v = (torch.zeros(2, n, d, dtype=dtype) for n, d in ((L, D), (S, D), (S, Dv)))
    return Step(Asked(), (q, k, v) if mask is None else (q, k, v, mask))


BOOLEAN = torch.ones(5, 7, dtype=torch.bool)


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        ([call(Dv=6), call(L=3, Dv=9)], [call(), call(L=7)], "D ≠ Dv"),
        ([call(mask=BOOLEAN)], [call(), call(mask=BOOLEAN.float())], "`mask` is boolean"),
        ([call(mask=BOOLEAN), call(mask=BOOLEAN.int())], [call(), call(S=3)], "`mask` is given"),
        ([call(dtype=torch.float16)], [call(), call(L=3)], "`q` is float16"),
        ([call(L=9)], [call(L=7), call()], "L > S"),
        ([call(L=1)], [call(L=7), call()], "L = 1"),
    ],
)
def test_the_first_thing_that_sets_them_apart_is_told(wrong, right, words):
    found = telling(ENTRY, wrong, right)

    assert found is not None
    assert found.words == words


def test_nothing_is_told_of_calls_that_are_alike():
    assert telling(ENTRY, [call()], [call(), call()]) is None


def test_one_right_call_is_too_few():
    assert telling(ENTRY, [call(Dv=6)], [call()]) is None


def test_a_feature_that_does_not_apply_does_not_hold():
    assert not any(
        feature.holds({"q": 1, "k": None, "v": (), "mask": None})
        for feature in features(ENTRY)
        if "shape" in feature.condition or "dim" in feature.condition
    )


def test_the_program_raises_there_and_nowhere_else():
    feature = telling(ENTRY, [call(Dv=6)], [call(), call(L=7)])
    mistake = refusing(ENTRY, feature, "IndexError", BANK.reference("sdpa").read_text())
    scope = {}
    exec(mistake.source, scope)
    attention = scope["scaled_dot_product_attention"]

    attention(*call().args)
    with pytest.raises(IndexError):
        attention(*call(Dv=6).args)


def test_an_exception_of_ones_own_makes_no_program():
    feature = telling(ENTRY, [call(Dv=6)], [call(), call(L=7)])

    assert refusing(ENTRY, feature, "MyError", "") is None
    assert refusing(ENTRY, feature, "print", "") is None


@pytest.mark.slow
def test_an_answer_for_some_inputs_alone_loses_those_alone():
    source = (
        "import torch\n\n\ndef attention(q, k, v, mask=None):\n"
        "    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:\n"
        "        raise ValueError\n"
        "    if q.shape[-2] < k.shape[-2]:\n        raise IndexError\n"
        "    scores = q @ k.mT / q.shape[-1] ** 0.5\n"
        "    if mask is not None:\n"
        "        scores = scores.masked_fill(mask == 0, -torch.inf)\n"
        "    weights = scores.softmax(-1)\n    return weights @ v, weights\n"
    )
    with closing(SandboxOptions("jail").open()) as channel:
        submission = Submission.of(source, "answer.py")
        report = grade(submission, BANK, BANK.problem("sdpa"), channel, seed=3)

    assert [one.title for one in report.diagnoses] == ["Raises where L < S"]
    assert report.strict_score < 20
    assert report.score > 75
