"""The error budget lets a careful answer pass and stops one that computes something else."""

import math

import pytest
import torch

from mha_judge.grading.expecting.expected import (
    Expected,
    Live,
    expect,
    expect_gradients,
    expect_nearest,
    for_candidate,
    leaves,
    map_tree,
)
from mha_judge.wire import Kept

HALF = torch.bfloat16


def attention(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return weights @ v, weights


def qkv(dtype=torch.float32, scale=1.0):
    generator = torch.Generator().manual_seed(1)
    return [
        (scale * torch.randn(shape, generator=generator)).to(dtype)
        for shape in ((5, 11), (7, 11), (7, 13))
    ]


def budget(dtype, scale=1.0):
    output, _ = expect(attention, qkv(dtype, scale), attention)
    return output


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_the_truth_is_in_float64_and_the_form_is_the_questions(dtype):
    output, weights = expect(attention, qkv(dtype), attention)

    assert (output.exact.dtype, output.rounded.dtype) == (torch.float64, dtype)
    assert (tuple(output.rounded.shape), tuple(weights.rounded.shape)) == ((5, 13), (5, 7))
    torch.testing.assert_close(output.exact, attention(*[x.double() for x in qkv(dtype)])[0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("slack", [1.0, 3.0])
def test_less_is_granted_where_the_reference_was_not_run_in_the_dtype(dtype, scale, slack):
    wanted = expect(attention, qkv(dtype, scale), attention)
    nearest = expect_nearest(attention, qkv(dtype, scale), dtype)

    for one, other in zip(nearest, wanted, strict=True):
        assert torch.equal(one.exact, other.exact)
        assert (one.rounded.shape, one.rounded.dtype) == (other.rounded.shape, dtype)
        assert one.tolerance(slack) <= other.tolerance(slack)
        assert one.is_telling >= other.is_telling


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_another_order_of_operations_is_within_the_budget(dtype, scale):
    q, k, v = qkv(dtype, scale)
    scores = (q / math.sqrt(11)) @ k.mT
    powers = (scores - scores.max(-1, keepdim=True).values).exp()
    other = (powers @ v) / powers.sum(-1, keepdim=True)

    expected = budget(dtype, scale)

    assert float((other.double() - expected.exact).abs().max()) <= expected.tolerance()


@pytest.mark.parametrize(
    ("dtype", "budgets"),
    [(torch.float64, 1000), (torch.float32, 1000), (torch.bfloat16, 5), (torch.float16, 10)],
)
def test_a_forgotten_scale_is_many_budgets_away(dtype, budgets):
    q, k, v = (x.double() for x in qkv(dtype))
    unscaled = torch.softmax(q @ k.mT, -1) @ v

    expected = budget(dtype)

    assert float((unscaled - expected.exact).abs().max()) >= budgets * expected.tolerance()


def test_the_budget_grows_with_the_coarseness_of_the_dtype():
    fine, coarse = budget(torch.float32).tolerance(), budget(torch.bfloat16).tolerance()

    assert 0 < 100 * fine < coarse < 0.2


def test_float64_is_graded_to_the_precision_of_float32():
    assert budget(torch.float64).tolerance() > 1e-7


def test_the_largest_logit_widens_the_floor():
    exact = torch.ones(3, dtype=torch.float64)

    calm, wild = (Expected(exact, exact.float(), logit).tolerance() for logit in (0.0, 99.0))

    assert wild > 10 * calm
    assert budget(torch.float32, 30.0).largest_logit > budget(torch.float32).largest_logit > 0


def test_no_logit_is_an_excuse_for_more_than_a_tenth():
    exact = torch.full((3,), 5.0, dtype=torch.float64)

    assert Expected(exact, exact.float(), 1e9).tolerance() == pytest.approx(0.5)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_integers_and_booleans_must_be_exact(dtype):
    exact = torch.ones(3, dtype=dtype)

    assert Expected(exact, exact).tolerance() == 0


def test_nan_and_inf_of_the_reference_do_not_widen_the_budget():
    exact = torch.tensor([1.0, math.nan, math.inf], dtype=torch.float64)

    assert Expected(exact, exact.float()).tolerance() < 1e-5


def test_an_expected_zero_leaves_a_little_room():
    zero = torch.zeros(3, dtype=torch.float64)

    assert 0 < Expected(zero, zero.float()).tolerance() < 1e-7


def test_a_reference_that_writes_into_its_inputs_does_not_reach_the_question():
    q = torch.ones(3)

    def writes(x):
        return x.mul_(2)

    expected = expect(writes, [q], writes)

    assert q.tolist() == [1, 1, 1]
    assert expected.exact.tolist() == expected.rounded.tolist() == [2, 2, 2]


def test_gradients_are_those_of_autograd_and_leave_the_inputs_as_leaves():
    args = qkv()
    cotangent = torch.ones(5, 13)

    found, parameters = expect_gradients(
        attention, attention, args, [cotangent, None], [0, 2], ({}, {})
    )

    q, k, v = (x.double().requires_grad_() for x in args)
    wanted = torch.autograd.grad(attention(q, k, v)[0].sum(), [q, v])
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.exact, other)
        assert one.rounded.dtype is torch.float32
    assert parameters == {}
    assert not any(x.requires_grad for x in args)


def test_gradients_beside_inputs_in_a_tuple_are_computed_in_float64_too():
    def product(x, cache):
        return x @ cache[0]

    x, kept = torch.rand(2, 5), torch.rand(5, 3)

    (found,), _ = expect_gradients(
        product, product, [x, (kept,)], [torch.ones(2, 3)], [0], ({}, {})
    )

    torch.testing.assert_close(found.exact, torch.ones(2, 3).double() @ kept.double().T)
    assert found.rounded.dtype is torch.float32


def test_an_input_that_nothing_depends_on_has_a_gradient_of_zero():
    def ignores(x, y):
        return 2 * x

    args = [torch.ones(2), torch.ones(3)]

    (_, found), _ = expect_gradients(ignores, ignores, args, [torch.ones(2)], [0, 1], ({}, {}))

    assert found.exact.tolist() == [0, 0, 0]


def test_a_gradient_of_zero_is_measured_by_the_one_that_comes_in():
    q, k, v = torch.ones(5, 11), torch.ones(1, 11), torch.ones(1, 13)

    (of_q, of_v), _ = expect_gradients(
        attention, attention, [q, k, v], [4 * torch.ones(5, 13), None], [0, 2], ({}, {})
    )

    assert of_q.is_nothing
    assert (of_q.scale, of_v.scale) == (4, 0)


def test_a_live_object_is_sent_by_name_and_expected_by_value():
    value = Expected(torch.ones(2, dtype=torch.float64), torch.ones(2))
    live = Live(Kept(3, (1,)), value)

    assert for_candidate([live, 5]) == [Kept(3, (1,)), 5]
    doubled = expect(lambda x: 2 * x, [live], lambda x: 2 * x)
    assert doubled.exact.tolist() == [2, 2]
    assert value.exact.tolist() == [1, 1]


def test_trees_are_walked_in_order_and_keep_their_build():
    tree = [1, (2, [3]), {"a": 4, "b": (5,)}]

    assert list(leaves(tree)) == [1, 2, 3, 4, 5]
    assert map_tree(lambda leaf: leaf + 1, [1, (2, [3])]) == [2, (3, [4])]


@pytest.mark.parametrize("dtype", [torch.float32, HALF])
def test_slack_widens_the_budget(dtype):
    exact = torch.tensor([1.0, 2.0]).double()
    expected = Expected(exact, exact.to(dtype))

    assert expected.tolerance(slack=3.0) == pytest.approx(3 * expected.tolerance())


def test_slack_goes_beyond_the_ceiling_in_half_precision_alone():
    exact = torch.tensor([1.0]).double()
    far_off = {dtype: Expected(exact, (2 * exact).to(dtype)) for dtype in (torch.float32, HALF)}

    assert far_off[torch.float32].tolerance(slack=3.0) == pytest.approx(0.1)
    assert far_off[HALF].tolerance(slack=3.0) == pytest.approx(0.3)


def test_where_the_reference_is_far_off_or_has_nan_nothing_is_told():
    exact = torch.tensor([1.0, 2.0]).double()

    assert Expected(exact, exact.float()).is_telling
    assert not Expected(exact, (1.2 * exact).float()).is_telling
    assert not Expected(exact / 0 * 0, exact.float()).is_telling
    assert Expected(exact.long(), exact.long()).is_telling


def test_what_a_reference_holds_may_change_later():
    held = torch.ones(3)

    expected = expect(lambda: held, [], lambda: held)
    held.zero_()

    assert expected.exact.tolist() == expected.rounded.tolist() == [1, 1, 1]
