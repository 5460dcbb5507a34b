"""The report's schema: what is in it, what a verdict's exit code is, that it survives JSON."""

import pytest
from pydantic import ValidationError

from mha_judge.outcomes import Verdict
from mha_judge.report.models import CheckResult, Report


@pytest.mark.parametrize("verdict", Verdict)
def test_only_accepted_exits_with_0(verdict):
    assert verdict.exit_code == (0 if verdict is Verdict.ACCEPTED else 1)


def test_a_report_survives_json(make_report):
    report = make_report("é \\u{1b}")

    assert Report.model_validate_json(report.model_dump_json()) == report


def test_the_schema_has_its_version_and_fields(make_report):
    fields = make_report().model_dump(mode="json")

    assert fields["schema_version"] == 2
    assert fields["max_score"] == 100
    assert fields["verdict"] == "rejected"
    assert {"problem", "submission", "verdict", "score", "seed", "device", "sandbox", "checks",
            "diagnoses", "policy", "cost", "output", "timings_s"} <= fields.keys()  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [{"schema_version": 1}, {"verdict": "great"}, {"scores": 3}, {"seed": "x"}, {"checks": [{}]}],
    ids=str,
)
def test_what_is_not_of_the_schema_is_refused(make_report, change):
    with pytest.raises(ValidationError):
        Report.model_validate({**make_report().model_dump(), **change})


def test_an_unknown_outcome_or_category_is_refused():
    fields = {
        "id": "x",
        "title": "x",
        "category": "values",
        "outcome": "passed",
        "points": 1,
        "max_points": 1,
    }
    CheckResult.model_validate(fields)

    for change in ({"outcome": "ok"}, {"category": "speed"}):
        with pytest.raises(ValidationError):
            CheckResult.model_validate({**fields, **change})
