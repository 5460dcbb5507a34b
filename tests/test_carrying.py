"""Errors are carried forward: a mistake that has a name costs its price, and nothing follows it."""

import itertools
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.grading.calling import target
from mha_judge.judge import grade
from mha_judge.judge.carrying import is_borne_out, with_checks
from mha_judge.outcomes import Category, Outcome, Severity
from mha_judge.report.models import CheckResult, Diagnosis
from mha_judge.report.summary import in_one_sentence
from mha_judge.sandbox import Channel, SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
SUBMISSIONS = Path(__file__).parent / "submissions"
SDPA = """
import torch


def attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("sizes")
    scores = q @ k.mT {scale}
    if mask is not None:
        scores = scores.masked_fill(mask {blocks}, -1e9)
    weights = scores.softmax(-1)
    {last}
    return weights @ v, weights
"""
RIGHT = {"scale": "* q.shape[-1] ** -0.5", "blocks": "== 0", "last": ""}


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


def graded(channel, seed=3, problem="sdpa", **changes):
    submission = Submission.of(SDPA.format(**{**RIGHT, **changes}), "answer.py")
    return grade(submission, BANK, BANK.problem(problem), channel, seed=seed)


def made(problem, name):
    [mistake] = [one for one in BANK.mistakes(problem) if one.id == name]
    return mistake


def still_wrong(report):
    return [
        check.id
        for check in report.checks
        if check.outcome is not Outcome.PASSED
        and not (check.granted or check.only_if_right or check.advisory)
        and check.category is not Category.GPU
    ]


def test_all_that_follows_from_one_mistake_is_granted(channel):
    report = graded(channel, scale="")

    assert report.verdict == "rejected"
    assert report.strict_score < 20
    assert report.score == 85.0
    assert [d.cost for d in report.diagnoses] == [15.0]
    assert still_wrong(report) == []


def test_two_mistakes_are_granted_together_and_both_are_paid(channel):
    report = graded(channel, scale="", blocks="!= 0")

    assert still_wrong(report) == []
    assert report.score == 100 - sum(diagnosis.cost for diagnosis in report.diagnoses) == 80.0


def test_a_check_is_laid_to_no_more_mistakes_than_it_takes(channel):
    source = made("flash-attention", "nothing-rescaled").source
    unchecked = re.sub(r"    if block_size < 1:\n +raise .*\n", "", source)
    assert len(unchecked) < len(source)

    report = grade(
        Submission.of(unchecked, "answer.py"),
        BANK,
        BANK.problem("flash-attention"),
        channel,
        seed=3,
    )

    of = {one.id: one for one in report.diagnoses}
    assert of.keys() == {"nothing-rescaled", "blocks-below-one-accepted"}
    assert of["blocks-below-one-accepted"].checks == ["bad-block-size"]
    assert "bad-block-size" not in of["nothing-rescaled"].checks
    [worth] = [c.max_points for c in report.checks if c.id == "bad-block-size"]
    assert of["blocks-below-one-accepted"].cost < 2 * worth
    assert still_wrong(report) == []


def test_values_that_are_wrong_in_training_break_no_rule(channel):
    """With p = 0 such a layer drops everything in training, in each of its checks alike."""
    answer = Submission.of(made("attention-dropout", "p-is-kept").source, "answer.py")

    report = grade(answer, BANK, BANK.problem("attention-dropout"), channel, seed=3)

    assert [one.id for one in report.diagnoses] == ["p-is-kept"]
    assert report.policy == []
    failed = [check for check in report.checks if check.outcome is Outcome.FAILED]
    assert all(check.granted for check in failed)
    waiting = [c.id for c in report.not_assessed if not (c.granted or c.only_if_right)]
    assert waiting
    assert f"{len(waiting)} cannot be told yet, without points" in in_one_sentence(report)


@pytest.mark.parametrize("seed", [1, 2, 777])
def test_two_mistakes_of_which_one_shows_alone_are_named_under_any_seed(channel, seed):
    source = BANK.reference("masked-mha").read_text("utf-8")
    changed = source.replace(" / math.sqrt(self.head_dim)", "").replace("mask == 0", "mask != 0")
    assert len(source) - len(changed) > 20
    problem = BANK.problem("masked-mha")

    report = grade(Submission.of(changed, "answer.py"), BANK, problem, channel, seed=seed)

    assert {diagnosis.id for diagnosis in report.diagnoses} == {"no-scale", "mask-inverted"}
    assert report.score == 80.0


def test_what_a_mistake_does_not_explain_stays_failed(channel):
    report = graded(channel, scale="", last="weights = weights.float()")

    assert "float64" in still_wrong(report) or len(report.diagnoses) > 1
    assert report.score < 85.0


def test_without_a_name_nothing_is_granted(channel):
    report = graded(channel, scale="* 0.123")

    assert report.diagnoses == []
    assert not any(check.granted for check in report.checks)
    assert report.score < 20


@pytest.mark.parametrize("last", ["return 0 * v[..., :1, :] + 0 * weights @ v, 0 * weights"])
def test_zeros_are_worth_nothing(channel, last):
    assert graded(channel, last=last).score <= 10


def test_no_score_depends_on_the_memory_that_a_mistake_takes(channel, monkeypatch):
    turn = itertools.count()

    @contextmanager
    def too_little_now_and_then():
        if next(turn) % 3 == 0:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        yield

    monkeypatch.setattr(target, "bounded_memory", too_little_now_and_then)
    answer = Submission.read(SUBMISSIONS / "sdpa-numpy" / "wrong_dot_pairs_all_items.py")

    report = grade(answer, BANK, BANK.problem("sdpa-numpy"), channel, seed=660461685797303)

    assert report.score == 75
    assert still_wrong(report) == []


def test_the_score_hardly_depends_on_the_seed(channel):
    scores = [graded(channel, seed=seed, scale="").score for seed in range(5)]

    assert max(scores) - min(scores) <= 2


def test_a_hang_is_never_granted(channel):
    hangs = "while q.dtype is torch.float64: pass"
    report = graded(channel, scale="", last=hangs)

    granted = {check.id for check in report.checks if check.granted}
    assert "bfloat16" in granted
    assert "float64" not in granted


def test_a_rule_that_is_broken_is_never_granted_and_costs_its_price(channel):
    fused = "return torch.nn.functional.scaled_dot_product_attention(q, k, v), weights"
    report = graded(channel, last=f"if mask is None: {fused}")

    [rule] = [check for check in report.checks if check.category is Category.POLICY]
    assert rule.outcome is Outcome.FAILED
    assert rule.granted == []
    assert report.score == 60.0


def test_questions_are_marked_one_by_one(channel):
    source = (
        BANK.reference("complexity")
        .read_text()
        .replace('"rnn_layer": "n*d**2"', '"rnn_layer": "n"')
    )
    submission = Submission.of(source, "answer.py")

    report = grade(submission, BANK, BANK.problem("complexity"), channel, seed=3)

    assert report.score == report.strict_score == 97.3


def test_dropout_that_is_always_on_is_told_by_taking_it_away(channel):
    report = graded(channel, last="weights = torch.nn.functional.dropout(weights, 0.2)")

    assert [one.id for one in report.diagnoses] == ["dropout-always-on"]
    assert still_wrong(report) == []
    assert report.score == 85.0


def test_what_is_wrong_without_dropout_too_is_not_laid_to_it(channel):
    last = "weights = torch.nn.functional.dropout(weights, 0.2) * 0.9"

    assert graded(channel, last=last).diagnoses == []


def test_what_a_mistake_keeps_from_running_is_not_called_right(channel):
    source = made("flash-attention", "output-shaped-like-queries").source
    problem = BANK.problem("flash-attention")

    report = grade(Submission.of(source, "answer.py"), BANK, problem, channel, seed=3)

    stopped = {check.id for check in report.checks if check.stopped and not check.advisory}
    assert "gradients" in stopped
    assert "square" not in stopped  # there values are as wide as queries
    assert report.score == 85.0
    assert f"; {len(stopped)} cannot be told yet." in in_one_sentence(report)


def test_an_answer_for_one_form_of_input_loses_what_that_form_is_asked(channel):
    report = graded(channel, last="assert q.shape[-2] >= k.shape[-2]")

    assert [one.title for one in report.diagnoses] == ["Raises where L < S"]
    assert report.score > 75


def test_a_formula_that_follows_from_a_wrong_one_is_granted(channel):
    source = BANK.reference("complexity").read_text()
    source = source.replace('"attention_core": "n**2*d"', '"attention_core": "n*d"')
    source = source.replace('"full_layer": "n**2*d + n*d**2"', '"full_layer": "n*d + n*d**2"')
    submission = Submission.of(source, "answer.py")

    report = grade(submission, BANK, BANK.problem("complexity"), channel, seed=3)

    [follows] = [check for check in report.checks if check.granted]
    assert follows.id == "full-layer"
    assert follows.granted == ["attention-core"]
    assert "it follows from another answer" in follows.message
    assert report.score == pytest.approx(report.strict_score + follows.max_points, abs=0.1)


def test_what_follows_is_asked_without_the_earlier_answer_too(channel):
    source = BANK.reference("complexity").read_text().replace('"attention_core"', '"core"')
    submission = Submission.of(source, "answer.py")

    report = grade(submission, BANK, BANK.problem("complexity"), channel, seed=3)

    assert [check.id for check in report.checks if check.outcome.is_bad] == ["attention-core"]


def check_of(name, granted=(), **fields):
    return CheckResult(
        id=name,
        title=name,
        outcome=Outcome.FAILED,
        points=0,
        max_points=1,
        granted=list(granted),
        **{"category": Category.VALUES, **fields},
    )


@pytest.mark.parametrize(
    ("severity", "explained", "left", "stays"),
    [
        (Severity.SLIP, 1, 4, True),
        (Severity.SLIP, 1, 5, False),
        (Severity.SLIP, 3, 12, True),
        (Severity.CONVENTION, 1, 2, True),
        (Severity.CONVENTION, 1, 3, False),
        (Severity.SLIP, 0, 4, True),
        (Severity.SLIP, 0, 5, False),
    ],
)
def test_a_name_stays_only_where_enough_of_what_failed_passes_with_it(
    severity, explained, left, stays
):
    diagnosis = Diagnosis(id="one", title="One", explanation="One.", severity=severity)
    checks = [check_of(f"explained-{n}", ["one", "other"]) for n in range(explained)]
    checks += [check_of(f"left-{n}") for n in range(left)]
    checks += [check_of(f"claim-{n}", only_if_right=True) for n in range(9)]
    checks += [check_of(f"advice-{n}", advisory=True) for n in range(9)]

    assert is_borne_out(diagnosis, checks) is stays


def test_what_fails_with_a_mistake_granted_as_well_is_not_laid_to_it():
    checks = [
        check_of("values", ["mine"]),
        check_of("both", ["mine", "another"]),
        check_of("of-another", ["another"]),
        check_of("not-granted"),
        check_of("rule", category=Category.POLICY),
    ]
    mine = Diagnosis(id="mine", title="", explanation="", checks=[check.id for check in checks])
    unpriced = mine.model_copy(update={"id": "unpriced"})

    assert with_checks(mine, checks).checks == ["values", "both", "rule"]
    assert with_checks(unpriced, checks).checks == ["not-granted", "rule"]
