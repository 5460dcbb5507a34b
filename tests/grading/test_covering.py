"""Rows of a covering array: every two values meet that may, and no others."""

import itertools

import pytest

from mha_judge.grading.covering import covering

AXES = {
    "case": ["0", "1", "2"],
    "mode": ["", "no_grad", "inference_mode"],
    "gradient": ["", "asked"],
    "size": ["", "one", "tens", "first", "last"],
    "mask": ["", "left", "right", "alone"],
}
APART = {
    frozenset({("gradient", "asked"), ("mode", "no_grad")}),
    frozenset({("gradient", "asked"), ("mode", "inference_mode")}),
    frozenset({("case", "1"), ("mask", "left")}),
}


def are_apart(one, other):
    return frozenset({one, other}) in APART


def pairs(row):
    return {frozenset(pair) for pair in itertools.combinations(row.items(), 2)}


@pytest.mark.parametrize("seed", range(200))
def test_every_two_values_meet_that_may_and_no_others(seed):
    rows = covering(AXES, are_apart, seed)

    wanted = {
        frozenset({(one, value), (other, second)})
        for one, other in itertools.combinations(AXES, 2)
        for value in AXES[one]
        for second in AXES[other]
    }
    assert set.union(*map(pairs, rows)) == wanted - APART
    assert all(row.keys() == AXES.keys() for row in rows)
    assert len(rows) < 2 * 5 * 4


def test_the_same_seed_gives_the_same_rows_and_another_one_others():
    assert covering(AXES, are_apart, 1) == covering(AXES, are_apart, 1)
    assert covering(AXES, are_apart, 1) != covering(AXES, are_apart, 2)


def test_a_preset_of_more_than_two_values_is_a_row():
    preset = {"mode": "no_grad", "size": "last", "mask": "left"}

    rows = covering(AXES, are_apart, 1, [preset])

    assert preset.items() <= rows[0].items()


def test_pairs_do_not_count_as_met_where_a_third_value_hides_them():
    weak, strong = ("size", "one"), ("mask", "alone")
    rank = {weak: 1, strong: 2}

    rows = covering(AXES, are_apart, 1, hiding=[{weak}, {strong}])

    shown = {
        pair
        for row in rows
        for pair in pairs(row)
        if all(rank.get(third, 0) <= max(rank.get(one, 0) for one in pair) for third in row.items())
    }
    assert shown == set.union(*map(pairs, covering(AXES, are_apart, 1)))
