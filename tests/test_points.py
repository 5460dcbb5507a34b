"""Points, scores and verdict from the outcomes of checks, and the mistakes behind them."""

import pytest

from mha_judge.judge import points
from mha_judge.outcomes import Category, Outcome, Severity, Verdict
from mha_judge.report.models import CheckResult, Diagnosis


def result(outcome, of, advisory=False, category=Category.VALUES, **fields):
    got = float(of) if outcome is Outcome.PASSED else 0.0
    return CheckResult(
        id="c", title="C", category=category, outcome=outcome, points=got, max_points=of,
        advisory=advisory, **fields,
    )  # fmt: skip


def diagnosis(name="m", severity=Severity.SLIP, cost=15.0, checks=()):
    return Diagnosis(
        id=name, title="M", explanation="", severity=severity, cost=cost, checks=list(checks)
    )


def score(checks, diagnoses=(), by_key=False):
    return points.score(points.scaled(checks), diagnoses, by_key)


PASSED, FAILED = result(Outcome.PASSED, 2), result(Outcome.FAILED, 1)
SHAPE = result(Outcome.PASSED, 1, category=Category.SHAPE)


def test_points_of_a_problem_add_up_to_100():
    scaled = points.scaled([PASSED, FAILED])

    assert [one.max_points for one in scaled] == [66.6667, 33.3333]
    assert [one.points for one in scaled] == [66.6667, 0.0]


@pytest.mark.parametrize(
    ("results", "strict", "verdict"),
    [
        ([PASSED, PASSED], 100.0, Verdict.ACCEPTED),
        ([PASSED, FAILED], 66.7, Verdict.REJECTED),
        ([PASSED, result(Outcome.FAILED, 0, advisory=True)], 100.0, Verdict.ACCEPTED),
        ([PASSED, result(Outcome.NOT_ASSESSED, 0.0001)], 99.9, Verdict.REJECTED),
    ],
)
def test_only_who_passes_every_check_that_counts_gets_100(results, strict, verdict):
    scaled = points.scaled(results)

    assert (points.strict_score(scaled), points.verdict(scaled)) == (strict, verdict)
    assert score(results) == strict


def test_a_mistake_costs_its_price_once_however_many_checks_it_fails():
    granted = [result(Outcome.FAILED, 5, granted=["m"]) for _ in range(9)]

    assert score([PASSED, *granted], [diagnosis()]) == 85.0


def test_several_mistakes_add_up():
    granted = [result(Outcome.FAILED, 50, granted=["m", "n"])]

    assert score([PASSED, *granted], [diagnosis("m"), diagnosis("n", cost=25.0)]) == 60.0


def test_granting_never_lowers_a_score():
    little = [result(Outcome.PASSED, 98), result(Outcome.FAILED, 2, granted=["m"])]

    assert score(little, [diagnosis()]) == 98.0


def test_granting_never_gives_100():
    assert score([PASSED, result(Outcome.FAILED, 1, granted=["m"])], [diagnosis(cost=0.0)]) == 99.9


def test_what_fails_where_the_mistake_is_granted_stays_failed():
    checks = [result(Outcome.FAILED, 50, granted=["m"]), result(Outcome.FAILED, 50)]

    assert score(checks, [diagnosis()]) == 35.0


def test_what_any_answer_passes_is_worth_nothing_alone():
    assert score([SHAPE, SHAPE, result(Outcome.FAILED, 10)]) == 0.0


def test_points_count_in_full_once_half_of_the_results_are_right_and_in_proportion_below():
    half = [result(Outcome.PASSED, 5), result(Outcome.FAILED, 5)]
    tenth = [result(Outcome.PASSED, 1), result(Outcome.FAILED, 9)]

    assert score([result(Outcome.PASSED, 10, category=Category.SHAPE), *half]) == 75.0
    assert score([result(Outcome.PASSED, 10, category=Category.SHAPE), *tenth]) == 11.0


def test_what_only_a_right_answer_is_asked_costs_nothing_if_it_was_not_asked():
    unasked = result(Outcome.NOT_ASSESSED, 50, only_if_right=True)
    asked = result(Outcome.FAILED, 50, only_if_right=True)

    assert score([result(Outcome.PASSED, 40), result(Outcome.FAILED, 10), unasked]) == 80.0
    assert score([result(Outcome.PASSED, 50), asked]) == 50.0


def test_questions_are_marked_one_by_one():
    costs = [result(Outcome.PASSED, 1, category=Category.COST), FAILED]

    assert score(costs, by_key=True) == 50.0


def test_what_is_worth_nothing_gets_next_to_nothing_under_any_name():
    checks = [PASSED, result(Outcome.FAILED, 5, granted=["m"])]

    assert score(checks, [diagnosis(severity=Severity.WORTHLESS, cost=20.0)]) == 10.0


@pytest.mark.parametrize("severity", Severity)
def test_every_severity_has_a_price_and_a_worse_one_a_higher(severity):
    order = list(Severity)

    assert [points.PRICES[one] for one in order] == sorted(points.PRICES[one] for one in order)
    assert points.PRICES[severity] > 0


def test_a_mistake_costs_no_more_than_its_checks_are_worth():
    checks = points.scaled([result(Outcome.PASSED, 97), result(Outcome.FAILED, 3, granted=["m"])])

    assert points.priced(diagnosis(severity=Severity.FUNDAMENTAL), checks).cost == 3.0


def test_a_broken_rule_costs_its_price_though_it_is_never_granted():
    rule = result(Outcome.FAILED, 10, category=Category.POLICY)
    checks = points.scaled([result(Outcome.PASSED, 90), rule])
    found = points.priced(diagnosis(severity=Severity.FUNDAMENTAL, checks=["c"]), checks)

    assert found.cost == 40.0
    assert points.score(checks, [found], by_key=False) == 60.0


def test_a_broken_rule_costs_its_price_beside_a_slip_that_costs_little():
    rule = result(Outcome.FAILED, 4, category=Category.POLICY).model_copy(update={"id": "rule"})
    slip = result(Outcome.FAILED, 2, granted=["m"]).model_copy(update={"id": "slip"})
    checks = points.scaled([result(Outcome.PASSED, 94), rule, slip])
    made = [diagnosis(checks=["slip"]), diagnosis("r", Severity.FUNDAMENTAL, checks=["rule"])]

    priced = [points.priced(one, checks) for one in made]

    assert [one.cost for one in priced] == [2.0, 40.0]
    assert points.score(checks, priced, by_key=False) == 58.0
