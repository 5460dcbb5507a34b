"""A check is declared in full, and what a grader declares wrongly fails where it is written."""

import inspect
from dataclasses import replace

import pytest

from mha_judge.grading.checks.check import CheckSpec, check, restated, spec_of
from mha_judge.outcomes import Category


def test_a_check_carries_what_was_declared_and_is_still_the_function():
    def test_it():
        raise AssertionError("called")

    marked = check("Weights sum to one", category="values", points=3, after="shapes")(test_it)

    assert marked is test_it
    assert spec_of(marked) == CheckSpec(
        "Weights sum to one", Category.VALUES, 3, ("shapes",), False
    )


def test_several_grounds_keep_their_order():
    spec = spec_of(check("x", category="values", after=("b", "a"))(lambda: None))

    assert spec is not None
    assert spec.after == ("b", "a")


def test_a_plain_function_is_no_check():
    assert spec_of(lambda: None) is None
    assert spec_of(None) is None


@pytest.mark.parametrize(("points", "advisory"), [(0, False), (6, False), (-1, False), (1, True)])
def test_points_out_of_range_are_refused(points, advisory):
    with pytest.raises(ValueError, match="'Claim': points must be 1 to 5, or 0 for an advisory"):
        check("Claim", category="values", points=points, advisory=advisory)


def test_an_advisory_check_is_worth_nothing():
    spec = spec_of(check("x", category="cost", points=0, advisory=True)(lambda: None))

    assert spec is not None
    assert (spec.points, spec.advisory) == (0, True)


def test_an_unknown_category_is_refused():
    with pytest.raises(ValueError, match="'speed' is not a valid Category"):
        check("x", category="speed")


def test_a_check_in_other_words_is_the_same_but_for_what_is_said():
    called = []

    @check("Values", category="values", points=3, after="shapes")
    def test_it(candidate, draw):
        called.append((candidate, draw))

    other = restated(test_it, "Values of two kinds", points=4)
    other(candidate=1, draw=2)

    assert called == [(1, 2)]
    assert [*inspect.signature(other).parameters] == ["candidate", "draw"]
    assert spec_of(other) == replace(spec_of(test_it), title="Values of two kinds", points=4)
    assert spec_of(test_it).title == "Values"
    assert spec_of(restated(test_it, after=("one", "two"))).after == ("one", "two")


def test_what_is_no_check_cannot_be_restated():
    def test_it():
        pass

    with pytest.raises(ValueError, match="test_it is no check"):
        restated(test_it, "Values")
