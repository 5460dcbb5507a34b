"""The scoreboard as JUnit XML: a suite a candidate, a case a problem."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from mha_judge.render.report.junit import document, xml_text
from mha_judge.scoring.models import Cell, Scoreboard, Standing


def render(board: Scoreboard) -> str:
    """Return the XML text; where the judge failed is an error, what is not accepted a failure."""
    suites = ET.Element("testsuites")
    for row in board.rows:
        suite = ET.SubElement(suites, "testsuite", name=xml_text(row.candidate))
        counts = {"tests": len(row.problems), "failures": 0, "errors": 0}
        for problem, cell in row.problems.items():
            case = ET.SubElement(suite, "testcase", classname=xml_text(row.candidate), name=problem)
            if cell.standing is Standing.NOT_GRADED:
                counts["errors"] += 1
                ET.SubElement(case, "error", message="the judge reached no verdict")
            elif cell.standing is not Standing.ACCEPTED:
                counts["failures"] += 1
                ET.SubElement(case, "failure", message=xml_text(_message(cell)))
        for name, count in counts.items():
            suite.set(name, str(count))
    return document(suites)


def _message(cell: Cell) -> str:
    what = f"{cell.standing}, {cell.score:g} of 100"
    return "; ".join(part for part in (what, cell.load_problem, *cell.diagnoses) if part)
