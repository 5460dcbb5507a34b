"""What a grade gained and lost."""

import pytest

from mha_judge.report.models import CheckResult, Report, SandboxInfo, SubmissionInfo
from mha_judge.watching.changes import Changes, changes


@pytest.fixture
def graded():
    def make(**outcomes):
        checks = [
            CheckResult(
                id=name,
                title=f"Title of {name}",
                category="values",
                outcome=outcome,
                points=0,
                max_points=1,
                advisory=name == "extra",
            )
            for name, outcome in outcomes.items()
        ]
        return Report(
            problem="sdpa",
            title="x",
            submission=SubmissionInfo(path="x", sha256="0"),
            verdict="rejected",
            score=0,
            strict_score=0,
            seed=1,
            sandbox=SandboxInfo(backend="jail", tier="x"),
            checks=checks,
        )

    return make


def test_a_first_grade_gains_and_loses_nothing(graded):
    assert changes(None, graded(one="passed")) == Changes((), ())


def test_what_passes_now_is_gained_and_what_does_not_is_lost(graded):
    before = graded(one="passed", two="failed", three="not_assessed", four="passed")
    now = graded(one="failed", two="passed", three="passed", four="passed")

    assert changes(before, now) == Changes(("Title of two", "Title of three"), ("Title of one",))


def test_advisory_checks_are_no_progress(graded):
    assert changes(graded(extra="failed"), graded(extra="passed")) == Changes((), ())
