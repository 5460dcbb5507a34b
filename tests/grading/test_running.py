"""A grader that is broken is the judge's fault, every time it is run."""

from types import SimpleNamespace

import pytest

from mha_judge.bank.vocabulary import Vocabulary
from mha_judge.errors import BankError
from mha_judge.grading.calling.context import Task
from mha_judge.grading.checks.running import Run

HALF = """
from mha_judge.grading import check


@check("Passes", category="values")
def test_passes(candidate):
    pass


raise RuntimeError("broken")
"""


class Entered:
    """Stands for a context."""

    def __init__(self):
        self.checks = []

    def enter(self, check):
        self.checks.append(check)


def run(path, context=None):
    """Run a grader's checks for a submission, or for one that did not load."""
    task = Task(None, SimpleNamespace(entry=[]), path, None, Vocabulary(), 0, {})
    return Run(task, context).grade()


def test_a_grader_that_fails_to_import_fails_again_in_the_same_process(tmp_path):
    path = tmp_path / "test_half.py"
    path.write_text(HALF, encoding="utf-8")

    for _ in range(2):
        with pytest.raises(BankError, match="broken"):
            run(path)


def test_a_grader_that_is_mended_is_run_as_it_is_now(tmp_path):
    path = tmp_path / "test_mended.py"
    path.write_text(HALF, encoding="utf-8")
    with pytest.raises(BankError):
        run(path)
    path.write_text(HALF.partition("raise")[0], encoding="utf-8")

    results = run(path)

    assert [result.id for result in results] == ["passes"]


def test_a_grader_that_changed_on_disk_is_collected_anew(tmp_path):
    path = tmp_path / "test_changing.py"
    whole = HALF.partition("raise")[0]
    path.write_text(whole, encoding="utf-8")
    assert [r.id for r in run(path)] == ["passes"]

    path.write_text(whole.replace("passes", "passes_now"), encoding="utf-8")

    assert [r.id for r in run(path)] == ["passes-now"]


def test_checks_run_again_and_again_are_given_the_candidate_of_each_run(tmp_path):
    path = tmp_path / "test_twice.py"
    path.write_text(
        HALF.partition("raise")[0].replace("    pass", "    candidate._context.checks.append(1)"),
        encoding="utf-8",
    )
    contexts = [Entered(), Entered()]

    results = [run(path, one) for one in contexts]

    assert [one.checks for one in contexts] == [["passes", 1]] * 2
    assert [[r.outcome for r in found] for found in results] == [["passed"], ["passed"]]


def test_a_test_that_is_no_check_is_refused(tmp_path):
    path = tmp_path / "test_plain.py"
    path.write_text("def test_something():\n    pass\n", encoding="utf-8")

    with pytest.raises(BankError, match="a test without @check; declare title and category"):
        run(path)


def test_a_grader_that_does_not_load_says_where_in_one_line(tmp_path):
    path = tmp_path / "test_torn.py"
    path.write_text("1 / 0\n", encoding="utf-8")

    with pytest.raises(BankError, match=r"test_torn\.py:1: .*ZeroDivisionError: .*") as told:
        run(path)

    assert "\n" not in str(told.value)


def test_a_fault_of_the_grader_is_told_without_the_way_there(tmp_path):
    path = tmp_path / "test_torn.py"
    path.write_text("def f(\n", encoding="utf-8")

    with pytest.raises(BankError) as told:
        run(path)

    assert str(told.value) == (
        f"the grader {path} is broken: SyntaxError: '(' was never closed (test_torn.py, line 1)"
    )


def test_a_check_that_comes_after_none_is_refused(tmp_path):
    path = tmp_path / "test_lonely.py"
    whole = HALF.partition("raise")[0].replace('"values"', '"values", after="shapes"')
    path.write_text(whole, encoding="utf-8")

    with pytest.raises(BankError, match="test_passes comes after 'shapes', and there is no check"):
        run(path)


def test_a_check_with_the_name_of_a_claim_is_refused(tmp_path):
    path = tmp_path / "test_twice.py"
    whole = HALF.partition("raise")[0].replace("test_passes", "test_any_length")
    path.write_text(whole, encoding="utf-8")

    with pytest.raises(BankError, match=r"test_any_length has the name of a claim .*; rename it"):
        run(path)


def test_a_check_that_comes_after_one_behind_it_is_refused(tmp_path):
    path = tmp_path / "test_early.py"
    first = HALF.partition("raise")[0].replace('"values"', '"values", after="shapes"')
    path.write_text(
        f"{first}\n\n@check('Shapes', category='shape')\ndef test_shapes():\n    pass\n"
    )

    with pytest.raises(BankError, match="'shapes', which stands behind it; move it there"):
        run(path)


def test_an_error_of_a_check_itself_is_the_banks_and_names_the_line(tmp_path):
    path = tmp_path / "test_wrong.py"
    path.write_text(HALF.partition("raise")[0].replace("    pass", "    1 / 0"), encoding="utf-8")

    with pytest.raises(BankError, match=r"is broken: .*ZeroDivisionError: .* \(line 7\)"):
        run(path, Entered())
