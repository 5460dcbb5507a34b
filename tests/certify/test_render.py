"""A certification as a matrix, as XML and as a page."""

import io
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from mha_judge.certify.models import (
    Baseline,
    Certificate,
    Certification,
    Fault,
    Kill,
    Mutant,
    Names,
    Tally,
)
from mha_judge.render.verify import html, junit, terminal

HOSTILE = "<script>alert(1)</script>[bold]x[/bold]"


@pytest.fixture
def certification():
    good = Certificate(
        problem="fine",
        seeds=[1],
        checks={"shape": "Shapes", "values": "Values"},
        reference_scores=[100.0],
        graded={"reference": Tally(tried=1, of=1)},
        mistakes=[
            Kill(
                id="no-scale",
                title="Not scaled",
                killed_by="values",
                outcomes={"shape": "passed", "values": "failed"},
                margin=123456.0,
                scores=[85.0],
            )
        ],
        baselines=[Baseline(name="zeros")],
        mutants=7,
        names=Names(right=3, missing=1),
        survivors=[Mutant(change="a → b", line=3, reason="No difference.")],
    )
    bad = good.model_copy(
        update={
            "problem": "broken",
            "names": Names(right=2, false=2),
            "mistakes": [good.mistakes[0].model_copy(update={"killed": False, "title": HOSTILE})],
            "faults": [
                Fault(subject="mistake no-scale", message=f"survives {HOSTILE}"),
                Fault(subject="texts", message="no hint"),
            ],
        }
    )
    return Certification(problems=[good, bad])


def shown(certification) -> str:
    console = Console(file=(stream := io.StringIO()), width=80, highlight=False)
    for certificate in certification.problems:
        terminal.show_problem(certificate, console)
    terminal.show_end(certification, console)
    return stream.getvalue()


def test_rows_of_the_matrix_are_whole_in_a_narrow_window(certification):
    checks = ["shape", "values", *(f"more-{number}" for number in range(90))]
    wide = certification.problems[0].model_copy(update={"checks": checks})

    text = shown(certification.model_copy(update={"problems": [wide]}))

    assert [*"123456789"] in [line.split() for line in text.splitlines()]


def test_the_first_seed_is_told_to_repeat_the_run(certification):
    assert "reference 100 (1 seed, from 1)" in shown(certification)


def test_of_a_problem_that_was_not_graded_only_its_faults_are_shown(certification):
    unfinished = Certificate(
        problem="new", seeds=[1], checks={}, faults=[Fault(subject="unfinished", message="empty")]
    )

    text = shown(certification.model_copy(update={"problems": [unfinished, unfinished]}))

    assert "unfinished: empty" in text
    assert "0/0" not in text and "Dearest" not in text


def test_the_matrix_has_a_row_a_mistake_and_a_letter_a_check(certification):
    text = shown(certification)

    assert "no-scale   1e5×    85 .X" in text
    assert "no-scale   1e5×    85 .!" in text
    assert "6/7 mutants" in " ".join(text.split())
    assert "5 right, 1 missing, 2 false" in " ".join(text.split())


def test_faults_are_told_and_the_verdict_stands_last(certification):
    text = shown(certification)

    assert "✗ texts: no hint" in text
    assert text.strip().endswith("Not certified: broken")
    assert HOSTILE.replace("<", "<") in text.replace("\n", "")


def test_junit_has_a_case_for_each_thing_that_was_looked_at(certification):
    suites = list(ET.fromstring(junit.render(certification)))

    assert [suite.get("failures") for suite in suites] == ["0", "2"]
    failed = [case.get("name") for case in suites[1] if len(case)]
    assert failed == ["mistake no-scale", "texts"]


def test_the_page_escapes_what_it_shows_and_needs_nothing_beside_it(certification):
    page = html.render(certification)

    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page.replace("http-equiv", "")
    assert 'class="cell killer"' in page
    assert 'class="cell survived"' in page
