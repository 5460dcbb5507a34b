"""A check that fails for the manner of its calls is not to blame; the claim about that is."""

from types import SimpleNamespace

import pytest

from mha_judge.grading.calling.manner import AXES, Manners
from mha_judge.grading.calling.trace import Trace
from mha_judge.grading.checks.claims import CLAIMS, Causes, Wrong, about_state, with_a_claim
from mha_judge.grading.failures import CheckFailure

MANNERS = [claim for claim in CLAIMS if claim.of_domain is None]
MODE, LAYOUT, HISTORY = MANNERS


class Asked:
    """A check of so many calls, which fails if one of them is made in a manner that is wrong."""

    def __init__(self, wrong, calls=30):
        self.context = SimpleNamespace(manners=Manners(3, lambda axis, value: True), trace=Trace())
        self.context.trace.enter("values")
        self.causes = Causes(self.context)
        self.wrong = wrong
        self.calls = calls
        self.runs = 0

    def __call__(self):
        self.runs += 1
        for _ in range(self.calls):
            _, manner = self.context.manners.following("f", (), ())
            if self.wrong(manner):
                return CheckFailure("differs", "here")
        return None

    def look(self):
        self.causes.look(self)

    def told(self, claim):
        failure = claim.failure(self.causes.found)
        return None if failure is None else failure.message


def test_a_right_answer_is_asked_once_and_every_claim_holds():
    asked = Asked(lambda manner: False)

    asked.look()

    assert asked.runs == 1
    assert not asked.causes.found
    assert [asked.told(claim) for claim in MANNERS] == [None] * 3


def test_calls_are_plain_again_afterwards():
    asked = Asked(lambda manner: manner.get("mode") == "no_grad")

    asked.look()

    assert asked.context.manners.following("f", (), ())[1] == {}


@pytest.mark.parametrize(
    ("axis", "value"),
    [
        (axis, value)
        for axis, values in AXES.items()
        for value in values
        if value and value != "none"
    ],
)
def test_each_value_is_found_alone_and_its_claim_fails_in_its_words(axis, value):
    asked = Asked(lambda manner: manner.get(axis) == value)
    [claim] = [claim for claim in CLAIMS if axis in claim.axes]

    asked.look()

    assert asked.told(claim) == f"right otherwise, but wrong {AXES[axis][value]}: differs"
    assert [asked.told(other) for other in MANNERS if other is not claim] == [None] * 2


def test_two_values_that_are_wrong_together_only_are_named_together():
    wrong = {("layout", "gaps"), ("before", "same")}
    asked = Asked(lambda manner: wrong <= {*manner.items()})

    asked.look()

    assert asked.told(HISTORY) == (
        "right otherwise, but wrong after the same call and on inputs with gaps in memory: differs"
    )


def test_a_cause_that_is_known_is_not_looked_for_again():
    asked = Asked(lambda manner: manner.get("mode") == "no_grad")
    asked.look()
    before = asked.runs

    asked.look()

    assert asked.runs == before + 1


def test_an_answer_that_is_not_always_the_same_is_told_so():
    turns = iter([False] * 5 + [True] + [False] * 10_000)
    asked = Asked(lambda manner: next(turns))

    asked.look()

    assert "it does not always give the same" in asked.told(HISTORY)


def test_what_is_asked_here_says_nothing_to_the_diagnosis():
    asked = Asked(lambda manner: True)
    asked.context.trace.enter("values")

    def noting():
        asked.context.trace.note("a step")
        return asked()

    asked.causes.look(noting)

    assert asked.context.trace.of("values") == []


def test_what_no_claim_of_a_problem_is_about_fails_the_first():
    wrong = [Wrong(frozenset({axis}), "", CheckFailure("differs")) for axis in ("mask", "mode")]

    given = with_a_claim(wrong, [HISTORY, MODE])

    assert [claim.failure(given) is not None for claim in (HISTORY, MODE)] == [True, True]
    assert with_a_claim(wrong[1:], [HISTORY, MODE]) == wrong[1:]


def test_once_calls_leave_a_state_nothing_else_that_is_found_counts():
    state, other = (
        Wrong(frozenset({axis}), "", CheckFailure("differs")) for axis in ("after", "size")
    )

    assert about_state([other, state]) == [state]
    assert about_state([other]) == []
