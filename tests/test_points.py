"""Points, score and verdict from the outcomes of checks."""

import pytest

from mha_judge import points
from mha_judge.outcomes import Category, Outcome, Verdict
from mha_judge.report.models import CheckResult


def result(outcome, of, advisory=False):
    got = float(of) if outcome is Outcome.PASSED else 0.0
    return CheckResult(
        id="c", title="C", category=Category.VALUES, outcome=outcome, points=got, max_points=of,
        advisory=advisory,
    )  # fmt: skip


PASSED, FAILED = result(Outcome.PASSED, 2), result(Outcome.FAILED, 1)


def test_points_of_a_problem_add_up_to_100():
    scaled = points.scaled([PASSED, FAILED])

    assert [one.max_points for one in scaled] == [66.6667, 33.3333]
    assert [one.points for one in scaled] == [66.6667, 0.0]


@pytest.mark.parametrize(
    ("results", "score", "verdict"),
    [
        ([PASSED, PASSED], 100.0, Verdict.ACCEPTED),
        ([PASSED, FAILED], 66.7, Verdict.REJECTED),
        ([PASSED, result(Outcome.FAILED, 0, advisory=True)], 100.0, Verdict.ACCEPTED),
        ([PASSED, result(Outcome.NOT_ASSESSED, 0.0001)], 99.9, Verdict.REJECTED),
    ],
)
def test_only_who_passes_every_check_that_counts_gets_100(results, score, verdict):
    scaled = points.scaled(results)

    assert (points.score(scaled), points.verdict(scaled)) == (score, verdict)
