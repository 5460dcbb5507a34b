"""The report as JUnit XML, for CI."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from mha_judge.outcomes import Outcome
from mha_judge.report.models import Report

_FAILURES = (Outcome.FAILED, Outcome.TIMEOUT, Outcome.CRASHED)


def render(report: Report) -> str:
    """Return one test suite with a case a check; advisory checks are never failures.

    Where the file did not load that is the one case, with its line.
    """
    took = f"{report.timings_s.get('total', 0.0):.3f}"
    suite = ET.Element("testsuite", name=report.problem, time=took)
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    if report.load_problem is not None:
        case = ET.SubElement(suite, "testcase", classname=report.problem, name="load")
        case.set("file", xml_text(report.submission.path))
        if report.load_problem.line is not None:
            case.set("line", str(report.load_problem.line))
        counts["tests"] += 1
        counts["errors"] += 1
        ET.SubElement(case, "error", message=xml_text(report.load_problem.message))
    for check in report.checks if report.load_problem is None else []:
        case = ET.SubElement(
            suite, "testcase", classname=f"{report.problem}.{check.category}",
            name=f"{check.id}: {xml_text(check.title)}",
            time=f"{report.check_timings_s.get(check.id, 0.0):.3f}",
        )  # fmt: skip
        counts["tests"] += 1
        if check.outcome is Outcome.PASSED:
            continue
        if check.advisory or check.outcome is Outcome.NOT_ASSESSED:
            kind, counter = "skipped", "skipped"
        elif check.outcome in _FAILURES:
            kind, counter = "failure", "failures"
        else:
            kind, counter = "error", "errors"
        counts[counter] += 1
        element = ET.SubElement(case, kind, message=xml_text(check.message))
        element.text = xml_text(check.detail)
    for name, count in counts.items():
        suite.set(name, str(count))
    suites = ET.Element("testsuites")
    suites.append(suite)
    return document(suites)


def document(suites: ET.Element) -> str:
    """Return the text of a whole JUnit file."""
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def xml_text(text: str) -> str:
    """Return `text` without the characters that XML cannot hold."""
    return "".join(character for character in text if _fitsxml_text(ord(character)))


def _fitsxml_text(code: int) -> bool:
    if code < 0x20:
        return code in (0x09, 0x0A, 0x0D)
    return code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code > 0xFFFF
