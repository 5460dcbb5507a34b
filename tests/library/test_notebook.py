"""A report in a notebook, and a cell as an answer."""

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from mha_judge import Verdict

pytestmark = pytest.mark.slow


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
    page = report._repr_html_()
    assert page.startswith("<pre") and "rejected" in page.lower()


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


def test_nothing_of_an_answer_is_markup(judge):
    source = "# problem: softmax\nprint('<b>out</b>')\nraise ValueError('<script>alert(1)')\n"

    page = judge.grade(source)._repr_html_()

    assert "alert(1)" in page
    assert "<script" not in page and "<b>" not in page
