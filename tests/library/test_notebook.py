"""A report in a notebook, and a cell as an answer."""

import json
from pathlib import Path

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from mha_judge import Judge, Report, Verdict
from mha_judge.render.report import html

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def shell():
    opened = InteractiveShell()
    opened.run_line_magic("load_ext", "mha_judge")
    return opened


def test_a_cell_is_graded_and_not_run(shell, wrong):
    cell = f"ran = 1\n{wrong.read_text('utf-8')}"

    report = shell.run_cell_magic("judge", "softmax --seed 3", cell)

    assert (report.verdict, report.seed) == (Verdict.REJECTED, 3)
    assert "ran" not in shell.user_ns
    page = shell.display_formatter.format(report)[0]["text/html"]
    assert page.startswith("<pre") and "rejected" in page.lower()


def test_the_example_grades_its_last_cell(shell):
    cells = json.loads((EXAMPLES / "attention.ipynb").read_text("utf-8"))["cells"]
    *_, load, answer = ["".join(cell["source"]) for cell in cells]
    shell.run_cell(load).raise_error()

    report = shell.run_cell(answer).result

    assert [one.id for one in report.diagnoses] == ["no-scale"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sofmax", "did you mean softmax"),
        ("", "which problem is this"),
        ("softmax --seed x", "not a valid integer"),
        ("softmax --colour", "No such option"),
        ("softmax '", "No closing quotation"),
    ],
)
def test_a_mistake_in_the_line_is_told_in_a_sentence(shell, line, words):
    with pytest.raises(UsageError, match=words):
        shell.run_cell_magic("judge", line, "x = 1\n")


def test_help_is_shown(shell, capsys):
    assert shell.run_cell_magic("judge", "--help", "x = 1\n") is None
    assert "--verdict-only" in capsys.readouterr().out


def test_a_notebook_in_which_a_judge_is_made_shows_reports():
    report = Report.model_validate({
        "problem": "sdpa", "title": "Attention", "verdict": "accepted", "score": 100, "seed": 1,
        "strict_score": 100, "submission": {"path": "sdpa.py", "sha256": "0"},
        "sandbox": {"backend": "jail", "tier": "landlock"},
    })  # fmt: skip
    shell = InteractiveShell.instance()
    try:
        Judge(workers=1).close()

        shown, _ = shell.display_formatter.format(report)
    finally:
        InteractiveShell.clear_instance()

    assert shown["text/html"].startswith("<pre")


def test_nothing_of_an_answer_is_markup(judge):
    source = "# problem: softmax\nprint('<b>out</b>')\nraise ValueError('<script>alert(1)')\n"

    page = html.render(judge.grade(source))

    assert "alert(1)" in page
    assert "<script" not in page and "<b>" not in page
