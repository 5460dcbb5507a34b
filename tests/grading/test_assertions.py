"""What differs is named: the kind, the shape, the dtype, NaN, the first wrong element."""

import math

import pytest
import torch

from mha_judge.grading.checks.assertions import (
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_rejected,
    fail,
)
from mha_judge.grading.expecting.answer import assert_close
from mha_judge.grading.expecting.compare import compare, describe, same_bits, while_granting
from mha_judge.grading.expecting.expected import Expected
from mha_judge.grading.failures import CheckFailure, Crashed, Raised, TimedOut
from mha_judge.wire import Opaque

EXACT = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def expected(value=EXACT, dtype=torch.float32):
    return Expected(value.double(), value.to(dtype))


class Target:
    """Stands for a candidate's function whose answers are known."""

    def __init__(self, after=None, answer=None, rows=()):
        self._after, self._answer, self._rows = after, answer, rows

    def inputs_after(self, *args):
        return self._after(*args)

    def attempt(self, *args):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def gradients(self, *args, **options):
        return self._rows

    def argument_label(self, index):
        return f"`{'qkv'[index]}`"


def test_the_expected_tensor_passes_and_so_does_one_within_the_budget():
    compare(EXACT, expected(), "the output")
    compare(EXACT * (1 + 1e-7), expected(), "the output")
    compare(torch.zeros(2, 0), expected(torch.zeros(2, 0)), "the output")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "the output is None (is a `return` missing?); a torch.Tensor is wanted"),
        (3.0, "the output is a value of type float; a torch.Tensor is wanted"),
        ([1, 2], "the output is a list of 2; a torch.Tensor is wanted"),
        (EXACT.numpy(), "the output is a value of type ndarray; a torch.Tensor is wanted"),
        (
            Opaque("a tensor subclass, X"),
            "the output is a tensor subclass, X; a plain torch.Tensor",
        ),
        (EXACT.T, "the output has shape (3, 2); (2, 3) is wanted"),
        (EXACT[0], "the output has shape (3,); (2, 3) is wanted"),
        (EXACT.double(), "the output has dtype float64; "),
        (EXACT.half(), "the output has dtype float16; "),
        (EXACT + 0.1, "the output differs from the reference"),
        (EXACT * math.nan, "the output has NaN where the reference lacks it"),
        (EXACT / 0, "the output has inf where the reference lacks it"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_differs_is_named(found, message):
    with pytest.raises(CheckFailure) as raised:
        compare(found, expected(), "the output")

    assert raised.value.message.startswith(message)


def test_the_first_wrong_element_is_for_those_who_may_see_inputs():
    wrong = EXACT.clone()
    wrong[1, 0] = 7.0

    with pytest.raises(CheckFailure) as raised:
        compare(wrong, expected(), "the output")

    assert "first difference at [1, 0]: expected 4, got 7" in raised.value.detail
    assert "17% of the elements" in raised.value.detail
    assert "4" not in raised.value.message


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_the_non_finite_must_stand_where_the_reference_has_it(special):
    with_it = EXACT.clone()
    with_it[0, 1] = special
    elsewhere = EXACT.clone()
    elsewhere[0, 2] = special

    compare(with_it, expected(with_it), "the output")
    for wrong in (EXACT, elsewhere, EXACT * special):
        with pytest.raises(CheckFailure, match="where the reference"):
            compare(wrong, expected(with_it), "the output")


def test_who_makes_a_granted_mistake_may_round_elsewhere_than_its_program():
    near = EXACT * (1 + 1e-5)

    with pytest.raises(CheckFailure):
        compare(near, expected(), "the output")
    with while_granting():
        compare(near, expected(), "the output")
        with pytest.raises(CheckFailure):
            compare(EXACT * (1 + 1e-4), expected(), "the output")


def test_where_a_granted_mistake_gives_only_rounding_any_number_is_right():
    far_off = Expected(EXACT.double(), 1.2 * EXACT)
    with pytest.raises(CheckFailure, match="differs from the reference"):
        compare(EXACT * 3, far_off, "the output")
    with while_granting():
        compare(EXACT * 3, far_off, "the output")
        with pytest.raises(CheckFailure, match="has shape"):
            compare(EXACT[:1], far_off, "the output")


class Answered:
    """Stands for an answer whose only result is as the reference has it."""

    def __init__(self, value):
        self._value = value

    def pairs(self, name):
        yield self._value, expected(self._value), name


def test_what_the_contract_leaves_open_is_not_graded():
    blocked = EXACT.clone()
    blocked[0] = math.nan

    with pytest.raises(ValueError, match="the reference has NaN in output"):
        assert_close(Answered(blocked), "output")
    assert_close(Answered(blocked), "output", nan=True)
    with pytest.raises(ValueError, match="the reference has NaN in the gradient of `q`"):
        assert_gradients_match(
            Target(rows=[("`q`", None, expected(blocked))]), wrt=[0], cotangents=[]
        )


def test_infinities_of_the_other_sign_do_not_pass():
    with pytest.raises(CheckFailure, match="inf where the reference"):
        compare(torch.tensor([math.inf]), expected(torch.tensor([-math.inf])), "x")


@pytest.mark.parametrize("name", ["mask", "count"])
def test_integers_are_compared_exactly(name):
    whole = torch.tensor([1, 2, 3])

    compare(whole, Expected(whole, whole), name)
    with pytest.raises(CheckFailure, match=f"{name} differs"):
        compare(whole + 1, Expected(whole, whole), name)


def test_an_input_changed_in_place_is_named():
    q, k = torch.ones(3), torch.ones(3)

    with pytest.raises(CheckFailure, match="changes its input `k` in place"):
        assert_inputs_unchanged(Target(lambda q, k: [q, k + 1]), q, k)


def test_a_part_of_an_input_that_changed_in_place_is_named_by_the_input():
    q, cache = torch.ones(3), (torch.ones(3), torch.ones(3))

    with pytest.raises(CheckFailure, match="changes its input `k` in place"):
        assert_inputs_unchanged(Target(lambda q, k: [q, (k[0], k[1] + 1)]), q, cache)


@pytest.mark.parametrize(
    "after",
    [lambda q: [q.double()], lambda q: [q[:2]], lambda q: [None], lambda q: [Opaque("gone")]],
)
def test_an_input_of_another_kind_afterwards_counts_as_changed(after):
    with pytest.raises(CheckFailure, match="changes its input `q`"):
        assert_inputs_unchanged(Target(after), torch.ones(3))


def test_unchanged_inputs_pass_nan_and_none_included():
    assert_inputs_unchanged(Target(lambda *args: list(args)), torch.tensor([math.nan, 1]), None)


def test_nan_equals_nan_and_dtypes_differ():
    one = torch.tensor([math.nan, 1.0])

    assert same_bits(one, one.clone())
    assert not same_bits(one, one.double())
    assert not same_bits(one, torch.tensor([math.nan, 2.0]))


def test_an_exception_is_the_refusal_that_is_wanted():
    assert_rejected(Target(answer=Raised("raises ValueError", kind="ValueError")), why="x")


@pytest.mark.parametrize("kind", ["NotImplementedError", "SystemExit"])
def test_an_unwritten_answer_or_an_exit_is_no_refusal(kind):
    with pytest.raises(Raised):
        assert_rejected(Target(answer=Raised("raises", kind=kind)), why="x")


def test_an_answer_is_no_refusal():
    with pytest.raises(
        CheckFailure, match="accepts E that H does not divide; an exception is wanted"
    ):
        assert_rejected(Target(answer=EXACT), why="E that H does not divide")


@pytest.mark.parametrize("ended", [Crashed("gone"), TimedOut("late")])
def test_a_crash_or_a_timeout_is_no_refusal(ended):
    with pytest.raises(type(ended)):
        assert_rejected(Target(answer=ended), why="x")


def test_a_gradient_that_does_not_arrive_is_named():
    rows = [("`q`", EXACT, expected()), ("`k`", None, expected())]

    with pytest.raises(CheckFailure, match="no gradient reaches `k`: the graph is cut"):
        assert_gradients_match(Target(rows=rows), wrt=[0, 1], cotangents=[])


def test_a_wrong_gradient_is_named():
    rows = [("`q`", 2 * EXACT, expected())]

    with pytest.raises(CheckFailure, match="the gradient of `q` differs from the reference"):
        assert_gradients_match(Target(rows=rows), wrt=[0], cotangents=[])


def test_no_gradient_is_right_where_zero_is_expected():
    rows = [("`q`", None, expected(0 * EXACT)), ("`k`", EXACT, expected())]

    assert_gradients_match(Target(rows=rows), wrt=[0, 1], cotangents=[])


def test_fail_ends_the_check_with_message_and_detail():
    with pytest.raises(CheckFailure, match="too slow") as raised:
        fail("too slow", "9 s")

    assert raised.value.detail == "9 s"


def test_values_are_described_in_few_words():
    words = [describe(value) for value in (EXACT, (1, 2), Opaque("a set"), "text")]

    assert words == ["a tensor of shape (2, 3)", "a tuple of 2", "a set", "a value of type str"]
