"""On which sides of an answer's comparisons questions are asked."""

import math

import pytest

from mha_judge.grading.checks.corners.boundaries import comparisons, crossing

SEEN = {"B": 11, "L": 23, "S": 29, "H": 4}
PLAIN = {"B": 2, "L": 5, "S": 7, "H": 4}
GROUPS = [["L"], ["S"], ["L", "S"], ["B"]]


def cost(sizes):
    numbers = sizes["B"] * (sizes["L"] * sizes["S"] + 1_000)
    return numbers if numbers < 10_000_000 and max(sizes["L"], sizes["S"]) <= 5_000 else math.inf


def across(told, asked=(PLAIN,), groups=GROUPS):
    [one] = comparisons([told], SEEN)
    return crossing(one, asked, PLAIN, groups, dict, cost)


@pytest.mark.parametrize(
    ("told", "sizes"),
    [
        (["__gt__", [23], 260], {"L": 261}),
        (["__le__", [29], 2], {"L": 2, "S": 2}),
        (["__eq__", [23], [29]], {"L": 2, "S": 2}),
        (["__gt__", ["__sub__", [29], [23]], 700], {"S": 706}),
        (["__ne__", ["__mod__", [29], 64], 0], {"S": 64}),
        (["__gt__", [11 * 23 * 29], 1 << 20], {"L": 725, "S": 725}),  # no cheaper one is allowed
        (["__gt__", [11], 4444], {"B": 4445}),
    ],
)
def test_the_other_side_is_asked_as_cheaply_as_may_be(told, sizes):
    assert across(told) == sizes


def test_of_a_form_that_was_never_asked_it_is_asked_where_a_comparison_holds():
    assert across(["__gt__", [23], 260], asked=()) == {"L": 261}


def test_nothing_is_asked_where_both_sides_were():
    assert across(["__gt__", [23], 260], asked=(PLAIN, {**PLAIN, "L": 300})) is None


@pytest.mark.parametrize(
    "told",
    [
        ["__gt__", [23], 5_000],  # beyond what may be asked
        ["__gt__", ["__mul__", [11], [29]], 10**7],
        ["__gt__", ["__floordiv__", [23], 0], 1],  # has no value
        ["__gt__", [4], 64],  # heads are the layer's
    ],
)
def test_nothing_is_asked_where_the_other_side_cannot_be(told):
    assert across(told) is None


def nested(depth):
    return ["__add__", nested(depth - 1), 1] if depth else [23]


def broad(depth):
    return ["__mul__", broad(depth - 1), broad(depth - 1)] if depth else [23]


@pytest.mark.parametrize(
    "told",
    [
        None, 3, [23], "L > 3", ["__gt__", [23]], ["__gt__", [23], "3"], ["__gt__", 2, 3],
        ["__gt__", [23], [23]], ["__gt__", [23], 2**63], ["__gt__", [23], [10**900]],
        ["__pow__", [23], 3], ["__gt__", ["__pow__", [23], 3], 3],
        ["__gt__", ["__gt__", [23], 3], 3], ["__gt__", nested(40), 3], ["__gt__", broad(6), 3],
        ["__gt__", [[23]], 3], ["__gt__", [23, 29], 3],
    ],
)  # fmt: skip
def test_what_tells_of_no_sizes_or_is_a_lie_adds_nothing(told):
    assert comparisons([told], SEEN) == []
