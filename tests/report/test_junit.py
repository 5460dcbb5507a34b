"""JUnit XML that a CI can read, whatever a submission wrote."""

import xml.etree.ElementTree as ET

import pytest

from mha_judge.render.report import junit
from mha_judge.report.models import LoadProblem

HOSTILE = "]]></failure><testcase name='forged'/> & \" ' <!-- \x1b[31m \0 \ud800 \u202e"


def suite_of(report):
    text = junit.render(report)
    text.encode("utf-8")
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    return root.find("testsuite")


def test_each_check_is_a_case_and_the_counts_add_up(make_report):
    suite = suite_of(make_report())

    kinds = {case.get("name").partition(":")[0]: [child.tag for child in case] for case in suite}
    assert kinds == {
        "good": [], "bad": ["failure"], "late": ["failure"], "raised": ["error"],
        "dead": ["failure"], "open": ["skipped"], "extra": ["skipped"],
    }  # fmt: skip
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "7", "failures": "3", "errors": "1", "skipped": "2"}


def test_suite_and_cases_say_how_long_they_took(make_report):
    suite = suite_of(make_report(check_timings_s={"good": 0.25}))

    assert suite.get("time") == "1.500"
    times = {case.get("name").partition(":")[0]: case.get("time") for case in suite}
    assert times["good"] == "0.250"


def test_message_and_detail_arrive(make_report):
    failure = suite_of(make_report("<b>")).find("testcase[@name='bad: Title of bad']/failure")

    assert failure.get("message") == "message of bad <b>"
    assert failure.text == "detail of bad <b>"


def test_hostile_text_forges_no_element(make_report):
    suite = suite_of(make_report(HOSTILE))

    assert len(suite.findall("testcase")) == 7
    assert "forged" in suite.find("testcase[@name='bad: Title of bad']/failure").text
    assert "\x1b" not in ET.tostring(suite, encoding="unicode")


def test_a_file_that_did_not_load_is_one_error_with_its_line(make_report):
    problem = LoadProblem(message="no <such> name", line=7)
    report = make_report(verdict="error", load_problem=problem)

    suite = suite_of(report)

    assert (suite.get("tests"), suite.get("errors"), suite.get("time")) == ("1", "1", "1.500")
    [case] = suite
    assert (case.get("file"), case.get("line")) == ("sdpa.py", "7")
    assert suite.find("testcase[@name='load']/error").get("message") == "no <such> name"


@pytest.mark.parametrize("character", ["\ufffe", "\uffff"])
def test_non_characters_are_left_out(make_report, character):
    suite = suite_of(make_report(character))

    assert character not in suite.find("testcase[@name='bad: Title of bad']/failure").text
