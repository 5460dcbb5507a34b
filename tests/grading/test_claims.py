"""A check that fails for the manner of its calls is not to blame; the claim about that is."""

from types import SimpleNamespace

import pytest

from mha_judge.grading.calling.manner import AXES, Manners
from mha_judge.grading.calling.trace import Trace
from mha_judge.grading.checks.claims import CLAIMS, Causes
from mha_judge.grading.failures import CheckFailure

MODE, LAYOUT, HISTORY = CLAIMS


class Asked:
    """A check of so many calls, which fails if one of them is made in a manner that is wrong."""

    def __init__(self, wrong, calls=30):
        self.context = SimpleNamespace(manners=Manners(3), trace=Trace())
        self.context.trace.enter("values")
        self.causes = Causes(self.context)
        self.wrong = wrong
        self.calls = calls
        self.runs = 0

    def __call__(self):
        self.runs += 1
        for _ in range(self.calls):
            _, manner = self.context.manners.following((), ())
            if self.wrong(manner):
                return CheckFailure("differs", "here")
        return None

    def run(self, advisory=False):
        return self.causes.run(self, advisory)

    def told(self, claim):
        failure = self.causes.failure_of(claim)
        return None if failure is None else failure.message


def test_a_right_answer_is_asked_once_and_every_claim_holds():
    asked = Asked(lambda manner: False)

    assert asked.run() is None
    assert asked.runs == 1
    assert [asked.told(claim) for claim in CLAIMS] == [None] * 3


def test_a_plain_failure_is_the_checks_own_and_ends_the_search():
    asked = Asked(lambda manner: True)

    assert asked.run().message == "differs"
    assert asked.causes.is_plain
    assert [asked.told(claim) for claim in CLAIMS] == [None] * 3
    asked.run()
    assert asked.runs == 3  # the second time plain calls only


def test_an_advisory_check_that_fails_says_nothing_of_the_others():
    asked = Asked(lambda manner: True)

    assert asked.run(advisory=True) is not None
    assert not asked.causes.is_plain


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

    assert asked.run() is None
    assert asked.told(claim) == f"right otherwise, but wrong {AXES[axis][value]}: differs"
    assert [asked.told(other) for other in CLAIMS if other is not claim] == [None] * 2
    assert not asked.causes.is_plain


def test_two_values_that_are_wrong_together_only_are_named_together():
    wrong = {("layout", "gaps"), ("before", "same")}
    asked = Asked(lambda manner: wrong <= {*manner.items()})

    assert asked.run() is None
    assert asked.told(HISTORY) == (
        "right otherwise, but wrong after the same call and on inputs with gaps in memory: differs"
    )


def test_a_cause_that_is_known_is_not_looked_for_again():
    asked = Asked(lambda manner: manner.get("mode") == "no_grad")
    asked.run()
    before = asked.runs

    assert asked.run() is None
    assert asked.runs == before + 1


def test_an_answer_that_is_not_always_the_same_is_told_so():
    turns = iter([False] * 5 + [True] + [False] * 10_000)
    asked = Asked(lambda manner: next(turns))

    assert asked.run() is None
    assert "it does not always give the same" in asked.told(HISTORY)


def test_the_steps_of_plain_calls_are_kept_for_the_diagnosis():
    asked = Asked(lambda manner: manner.get("mode") == "no_grad")
    trace = asked.context.trace
    check = asked.__call__

    def noting():
        trace.enter("values")
        for _ in range(2):
            trace.note(asked.runs)
        return check()

    asked.causes.run(noting, False)

    assert trace.of("values") == [1, 1]  # of the second run, which was plain
