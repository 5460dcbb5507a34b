"""Calls of one's own, and the smallest that goes wrong, in the real jail."""

from contextlib import closing
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.judge import grade, try_call
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
UNSCALED = """\
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights
"""


CODE = "q = torch.tensor([[2., 0.]])\nsdpa(q, eye(2), [[1., 0.], [0., 1.]])"


@pytest.fixture(scope="module")
def channel():
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


def submission(source: str) -> Submission:
    return Submission.of(source, "answer.py")


def tried(channel, source: str, code: str, problem: str = "sdpa", seed: int = 0):
    return try_call(submission(source), BANK, BANK.problem(problem), channel, code, seed=seed)


def reference(problem: str) -> str:
    return BANK.reference(problem).read_text(encoding="utf-8")


def test_an_input_of_ones_own_is_put_to_both(channel):
    found = tried(channel, UNSCALED, CODE)

    assert found.is_wrong
    assert found.inputs == ("q (1, 2)", "k (2, 2)", "v (2, 2)")
    output, _ = found.results
    assert output.fault == "output differs from the reference"
    assert (output.expected, output.got) == ("[[0.8044, 0.1956]]", "[[0.8808, 0.1192]]")
    assert not tried(channel, reference("sdpa"), CODE).is_wrong


def test_where_both_raise_nothing_is_wrong(channel):
    found = tried(channel, reference("sdpa"), "sdpa(ones(2, 3), ones(4, 5), ones(4, 3))")

    assert not found.is_wrong
    assert found.expected_error == found.got_error != ""
    assert found.where.startswith("line ")


def test_what_is_not_refused_and_should_be_is_wrong(channel):
    source = UNSCALED.replace("q @ k", "q[..., : k.shape[-1]] @ k")

    found = tried(channel, source, "sdpa(ones(2, 7), ones(4, 5), ones(4, 3))")

    assert found.is_wrong
    assert found.expected_error.startswith("raises ValueError")
    assert not found.got_error


def test_layers_get_the_weights_of_the_reference(channel):
    code = "layer = MultiHeadAttention(4, num_heads=2)\nx = randn(1, 3, 4)\nlayer(x, x, x)"

    found = tried(channel, reference("masked-mha"), code, "masked-mha")

    assert not found.is_wrong
    assert found.results[0].expected != ""


def test_what_a_call_returned_goes_into_the_next(channel):
    code = (
        "layer = CachedSelfAttention(4, 2)\n_, cache = layer(randn(1, 2, 4))\n"
        "layer(randn(1, 1, 4), cache)"
    )

    found = tried(channel, reference("kv-cache-step"), code, "kv-cache-step")

    assert not found.is_wrong
    assert found.inputs == ("x (1, 1, 4)", "cache from the call before")


def test_objects_keep_what_they_were_told(channel):
    code = (
        "cache = PagedKVCache(num_pages=2, page_size=2, num_heads=1, head_dim=1)\n"
        "cache.append('a', ones(1, 3, 1), zeros(1, 3, 1))\ncache.gather('a')"
    )

    found = tried(channel, reference("paged-kv-cache"), code, "paged-kv-cache")

    assert [one.fault for one in found.results] == ["", ""]


def test_none_is_given_where_the_contract_has_no_default(channel):
    code = "masked_softmax(ones(1, 2, 3), None)"

    found = tried(channel, reference("mha-valid-lens"), code, "mha-valid-lens")

    assert not found.is_wrong


def test_a_smallest_call_gives_none_where_the_contract_has_no_default(channel):
    source = reference("mha-valid-lens").replace("weights = masked_softmax(", "weights = right(")
    wrong = f"""{source}

right = masked_softmax


def masked_softmax(X, valid_lens):
    return right(X if valid_lens is not None else 2 * X, valid_lens)
"""

    report = grade(submission(wrong), BANK, BANK.problem("mha-valid-lens"), channel, seed=1)

    assert report.failing_call is not None
    assert "masked_softmax(X, None)" in report.failing_call.code


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("1 +", "is not Python: line 1: invalid syntax"),
        ("(" * 3_000, "is not Python"),
        ("sdpa([[1], [2, 3]], 1, 1)", "line 1, column 1: expected sequence of length 1"),
        ("sdpa(ones(1, 2), ones(1, 2))", "`v` is missing; the contract has q, k, v, mask"),
        ("a, b = 1", "there is one value, not 2"),
        ("spda(1)", "did you mean `sdpa`?"),
        ("foo(1)", "`foo` cannot be called here; the problem has `scaled_dot_product_attention`; "
         "besides, there are numbers"),
        ("(lambda: 1)()", "the problem has `scaled_dot_product_attention`; besides, there are"),
        ("x = 1", "calls nothing of the problem; call scaled_dot_product_attention"),
        ("sdpa(ones(2), query=1)", "does not take `query`; the contract has q, k, v, mask"),
        ("sdpa(1, 2, 3, 4, 5)", "does not take 5 arguments"),
        ("for x in y: pass", "line 1: assignments and calls"),
        ("a, b, c = sdpa(ones(1, 1), ones(1, 1), ones(1, 1))", "there are only 2 values"),
        ("\n".join(["x = 1"] * 200_000), "is longer than"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_made_says_why(channel, code, why):
    with pytest.raises(UsageError) as refused:
        tried(channel, UNSCALED, code)

    assert why in str(refused.value)


def test_a_printed_call_is_read_with_its_indent(channel):
    found = tried(channel, UNSCALED, "  q = [[2, 0]]\n  sdpa(q, eye(2), eye(2))")

    assert found.is_wrong
    assert found.results[0].got == "[[0.8808, 0.1192]]"


def test_what_was_returned_goes_in_whole(channel):
    code = "layer = GroupedQueryAttention(4, 2, 1)\ny = z = layer(randn(1, 2, 4))\nlayer(z)"

    found = tried(channel, reference("gqa"), code, "gqa")

    assert not found.is_wrong
    assert [name for name, _ in found.weights][:3] == ["q", "q bias", "k"]


def test_where_it_raises_what_is_expected_is_told(channel):
    found = tried(channel, UNSCALED.replace("weights @ v", "weights @ v.nothing"), CODE)

    assert found.is_wrong
    assert "has no attribute 'nothing'" in found.got_error
    assert found.results[0].expected == "[[0.8044, 0.1956]]"


def test_what_the_file_prints_is_told(channel):
    source = UNSCALED.replace("    weights =", "    print('seen', q.shape)\n    weights =")

    found = tried(channel, source, CODE)

    assert "seen torch.Size([1, 2])" in found.printed


def test_questions_have_nothing_to_call(channel):
    with pytest.raises(UsageError, match="concepts asks questions; there is nothing to call"):
        tried(channel, "answers = {}", "f(1)", "concepts")


def test_a_file_that_does_not_load_says_where(channel):
    with pytest.raises(UsageError, match=r"answer\.py does not load: line 1: SyntaxError"):
        tried(channel, "def f(:\n", "sdpa(1)")


@pytest.mark.parametrize("problem", ["sdpa", "masked-mha", "gqa", "mha-numpy"])
def test_the_smallest_call_of_a_report_goes_wrong_again(channel, problem):
    [wrong] = [one for one in BANK.mistakes(problem) if one.id == "no-scale"]

    report = grade(submission(wrong.source), BANK, BANK.problem(problem), channel, seed=3)

    call = report.failing_call
    assert call is not None
    assert call.code.count(",") < 40
    again = tried(channel, wrong.source, call.code, problem, seed=3)
    [first, *_] = [one for one in again.results if one.fault]
    assert (first.name, first.expected, first.got) == (call.name, call.expected, call.got)
    assert not tried(channel, reference(problem), call.code, problem, seed=3).is_wrong


def test_a_class_is_called_on_an_object_of_it(channel):
    source = Path(__file__).parents[2] / "examples" / "forgets_to_scale.py"
    wrong = source.read_text(encoding="utf-8")

    report = grade(submission(wrong), BANK, BANK.problem("sdpa"), channel, seed=3)

    assert report.failing_call is not None
    assert "ScaledDotProductAttention()(q, k, v" in report.failing_call.code
    assert tried(channel, wrong, report.failing_call.code).is_wrong
    code = f"f = ScaledDotProductAttention()\n{CODE.replace('sdpa', 'f')}"
    assert tried(channel, wrong, code).is_wrong


def test_a_call_that_raises_says_what(channel):
    source = UNSCALED.replace("weights @ v", "weights @ v.view(3, -1, 7)")

    report = grade(submission(source), BANK, BANK.problem("sdpa"), channel, seed=3)

    assert report.failing_call is not None
    assert report.failing_call.got.startswith("raises RuntimeError: shape '[3, -1, 7]' is invalid")


def test_a_right_answer_and_one_of_which_only_the_verdict_counts_have_none(channel):
    right = grade(submission(reference("sdpa")), BANK, BANK.problem("sdpa"), channel, seed=3)
    brief = grade(
        submission(UNSCALED), BANK, BANK.problem("sdpa"), channel, seed=3, verdict_only=True
    )

    assert right.failing_call is None
    assert brief.failing_call is None
