"""Which manners the calls of a grade are made in."""

import itertools

import pytest
import torch

from mha_judge.grading.calling.manner import AXES, MANY, MAX_REHEARSED, Manners

EVERY = [(axis, value) for axis, values in AXES.items() for value in values if value]


def rows(manners, count=100, values=(), without=()):
    return [manners.following("f", values, without)[1] for _ in range(count)]


def open_(seed=1):
    manners = Manners(seed, lambda axis, value: True)
    manners.enter()
    manners.again(EVERY)
    return manners


def test_a_hundred_calls_see_every_two_values_of_two_axes_together():
    seen = rows(open_())

    for one, other in itertools.combinations(AXES, 2):
        for pair in itertools.product(AXES[one], AXES[other]):
            assert any((row.get(one, ""), row.get(other, "")) == pair for row in seen), pair


@pytest.mark.parametrize("seed", range(5))
def test_the_first_calls_of_each_kind_see_every_value(seed):
    manners = open_(seed)
    for kind in ("f", "g"):
        seen = [manners.following(kind, (), ())[1] for _ in range(MANY)]

        for axis, values in AXES.items():
            assert {row.get(axis, "") for row in seen} == {*values}, (kind, axis)


def test_a_check_is_short_while_its_calls_of_some_kind_are_few():
    manners = open_()
    assert not manners.is_short
    rows(manners, MANY - 1)
    assert manners.is_short
    rows(manners, 1)
    assert not manners.is_short

    manners.enter()
    manners.following("g", (), ())
    assert manners.is_short
    manners.enter()
    rows(manners, 1)
    assert not manners.is_short  # none of the kind that is short


def test_another_seed_has_another_order_and_the_same_seed_the_same():
    assert rows(open_(1)) == rows(open_(1)) != rows(open_(2))


def test_calls_are_plain_until_manners_are_allowed():
    assert rows(Manners(1, lambda axis, value: True)) == [{}] * 100


def test_a_check_that_runs_again_has_its_rows_again_without_what_is_not_allowed():
    manners = open_()
    rows(manners, 7)
    manners.enter()
    first = rows(manners, 5)
    manners.again([("mode", "no_grad")])

    again = rows(manners, 5)

    wanted = [{"mode": "no_grad"} if row.get("mode") == "no_grad" else {} for row in first]
    assert again == wanted


def test_what_a_call_cannot_be_made_in_is_left_out_and_not_noted():
    manners = open_()

    seen = rows(manners, without=("before", "mode=inference_mode"))

    assert not any("before" in row or row.get("mode") == "inference_mode" for row in seen)
    assert ("mode", "no_grad") in manners.made
    assert not {axis for axis, _ in manners.made} & {"before"}


def test_a_call_with_large_inputs_is_not_made_twice():
    seen = rows(open_(), values=[torch.zeros(MAX_REHEARSED + 1)])

    assert not any({"before", "instance"} & row.keys() for row in seen)


def test_calls_of_the_judges_own_are_plain_and_use_up_no_row():
    manners, beside = open_(), open_()
    with manners.off():
        assert rows(manners, 3) == [{}] * 3

    assert rows(manners) == rows(beside)


def test_a_manner_that_a_check_sweeps_through_is_noted():
    manners = open_()

    assert manners.takes("leaf", "one")
    assert ("leaf", "one") in manners.made
    manners.again([])
    assert not manners.takes("leaf", "one")
    assert manners.made == set()


def test_what_an_answer_cannot_notice_is_left_out():
    manners = Manners(1, lambda axis, value: value == "filled")

    assert manners.values == [("before", "filled")]
