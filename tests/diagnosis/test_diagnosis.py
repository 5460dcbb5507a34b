"""The report names the misconception behind what failed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.diagnosis import Catalogue
from mha_judge.judge import grade
from mha_judge.sandbox import Channel, SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
ANSWERS = Path(__file__).parents[1] / "submissions"


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


def diagnosed(channel, problem, source, seed=3):
    submission = Submission.of(source, "answer.py")
    return grade(submission, BANK, BANK.problem(problem), channel, seed=seed)


SDPA = """
import torch


def attention(q, k, v, mask=None):
    scores = q @ k.mT {scale}
    if mask is not None:
        scores = scores.masked_fill(mask {blocks}, -1e9)
    weights = scores.softmax(-1)
    return weights @ v, weights
"""


FIRST_QUERIES_GIVE_FIVE = """
import torch
from torch.nn.functional import pad


def sliding_window_attention(q, k, v, window):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    length, width = q.shape[2:]
    reach = min(window, length)
    keys, values = (pad(x, (0, 0, reach - 1, 0)).unfold(2, reach, 1) for x in (k, v))
    scores = torch.einsum("bhld,bhldw->bhlw", q, keys) * width**-0.5
    found = torch.einsum("bhlw,bhldw->bhld", scores.softmax(-1), values)
    return found.masked_fill(torch.arange(length)[:, None] < reach - 1, 5.0)
"""


def test_two_mistakes_at_once_are_both_named(channel):
    source = SDPA.format(scale="", blocks="!= 0")

    report = diagnosed(channel, "sdpa", source)

    assert {d.id for d in report.diagnoses} >= {"no-scale", "mask-inverted"}


@pytest.mark.parametrize(
    ("problem", "one", "other"),
    [
        ("encoder-block", "pre-ln", "gelu"),
        ("masked-mha", "no-scale", "mask-after-softmax"),
        ("attention-backward", "sum-over-queries", "bfloat16-becomes-float32"),
        # a float mask shows one of them first as a third mistake
        ("self-attention", "padding-replaced-by-mask", "mask-of-first-item"),
        # every check of the second fails for the first as well
        ("masked-mha", "mask-ignored", "parameters-detached"),
        ("swiglu", "bilinear", "parameters-detached"),
        ("decoder-attention", "no-cache-returned", "position-in-module"),
    ],
)
def test_two_mistakes_are_named_where_neither_explains_much_alone(channel, problem, one, other):
    catalogue = Catalogue(BANK.reference(problem).read_text(), BANK.mistakes(problem))

    report = diagnosed(channel, problem, catalogue.together((one, other)).source)

    assert {diagnosis.id for diagnosis in report.diagnoses} == {one, other}


@pytest.mark.parametrize(
    ("problem", "name"),
    [
        ("softmax", "state-between-calls"),
        ("attention-dropout", "scale-of-mean"),
        ("attention-dropout", "dropout-on-queries"),
        ("attention-dropout", "dropout-on-inputs"),
        ("self-attention", "dropout-on-scores"),
    ],
)
def test_what_is_left_to_chance_is_not_taken_for_something_else(channel, problem, name):
    [mistake] = [one for one in BANK.mistakes(problem) if one.id == name]

    assert diagnosed(channel, problem, mistake.source).diagnoses == []


def test_what_follows_from_a_mistake_has_no_name_of_its_own(channel):
    fused = next(one for one in BANK.mistakes("flash-attention") if one.id == "fused-attention")

    report = diagnosed(channel, "flash-attention", fused.source)

    failing = {check.id for check in report.checks if check.outcome.is_bad}
    assert failing == {"written-from-scratch"}  # and nothing of the memory that it takes
    assert [diagnosis.id for diagnosis in report.diagnoses] == ["fused-attention"]


def test_a_mistake_is_not_named_whose_own_check_is_passed(channel):
    source = BANK.reference("mla-full").read_text(encoding="utf-8")
    old = "torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device)"
    assert old in source  # with 24 frequencies at most, few calls of wide keys are wrong

    report = diagnosed(channel, "mla-full", source.replace(old, f"{old}.clamp(max=46)"))

    assert (report.verdict, report.diagnoses) == ("rejected", [])


def test_draws_that_some_items_share_are_not_called_draws_that_all_share(channel):
    source = BANK.reference("attention-dropout").read_text(encoding="utf-8")
    old = "weights = self.dropout(torch.softmax(scores, dim=-1))"
    new = """weights = torch.softmax(scores, dim=-1)
        draws = self.dropout(torch.ones_like(weights[:16]))
        weights = weights * draws.repeat(-(-len(weights) // 16), 1, 1, 1)[: len(weights)]"""
    assert old in source

    report = diagnosed(channel, "attention-dropout", source.replace(old, new))

    messages = {check.id: check.message for check in report.checks}
    assert "the items of the batch do not draw on their own" in messages["one-by-one"]
    assert report.diagnoses == []


@pytest.mark.parametrize("seed", [1, 3])
def test_of_constants_that_explain_alike_the_one_with_which_checks_pass_is_granted(channel, seed):
    source = (ANSWERS / "softmax/wrong_clips.py").read_text(encoding="utf-8")

    report = diagnosed(channel, "softmax", source, seed)

    assert [(one.id, one.cost) for one in report.diagnoses] == [("clipped", 15.0)]
    assert report.score == 85.0


def test_what_explains_a_single_failure_of_many_is_not_named(channel):
    path = ANSWERS / "padding-mask/wrong_only_first_columns.py"

    report = diagnosed(channel, "padding-mask", path.read_text(encoding="utf-8"), seed=2)

    assert report.diagnoses == []


def test_what_a_state_spoils_later_is_not_held_against_an_answer(channel):
    path = ANSWERS / "sinusoidal-positions/wrong_gives_out_what_it_keeps.py"

    report = diagnosed(channel, "sinusoidal-positions", path.read_text(encoding="utf-8"), seed=1)

    claims = {check.id: check.message for check in report.checks if check.only_if_right}
    assert "once several other calls have followed" in claims.pop("any-history")
    assert set(claims.values()) == {"earlier calls change what it gives"}


def test_a_right_answer_has_no_diagnosis(channel):
    report = diagnosed(channel, "sdpa", SDPA.format(scale="* q.shape[-1] ** -0.5", blocks="== 0"))

    assert report.verdict == "accepted"
    assert report.diagnoses == []


def test_what_no_mistake_explains_is_not_named(channel):
    report = diagnosed(channel, "sdpa", SDPA.format(scale="* 0.123", blocks="== 0"))

    assert report.verdict == "rejected"
    assert report.diagnoses == []
    assert all(check.diagnosis is None for check in report.checks)


def test_where_a_mistake_gives_nan_any_number_is_not_its_answer(channel):
    report = diagnosed(channel, "sliding-window", FIRST_QUERIES_GIVE_FIVE)

    assert report.verdict == "rejected"
    assert report.diagnoses == []


@pytest.mark.parametrize("fill", ["-1e9", "float('-inf')", "torch.finfo(scores.dtype).min"])
def test_a_mistake_that_blocks_a_row_is_the_same_whatever_is_filled_in(channel, fill):
    source = SDPA.format(scale="* q.shape[-1] ** -0.5", blocks="== 0")
    source = source.replace("-1e9", fill).replace("softmax(-1)", "softmax(-2)")

    report = diagnosed(channel, "sdpa", source)

    assert [d.id for d in report.diagnoses] == ["softmax-over-queries"]


def test_a_diagnosis_names_its_checks_and_they_name_it(channel):
    report = diagnosed(channel, "sdpa", SDPA.format(scale="", blocks="== 0"))

    [diagnosis] = report.diagnoses
    named = [check.id for check in report.checks if check.diagnosis == diagnosis.title]
    assert named == diagnosis.checks
    assert diagnosis.explanation and diagnosis.hint


def test_the_same_seed_gives_the_same_diagnosis(channel):
    source = SDPA.format(scale="/ q.shape[-1]", blocks="!= 0")

    one, other = (diagnosed(channel, "sdpa", source).diagnoses for _ in range(2))

    assert one == other
