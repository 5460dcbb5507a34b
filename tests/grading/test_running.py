"""A grader that is broken is the judge's fault, every time it is run."""

import pytest

from mha_judge.errors import BankError
from mha_judge.grading.checks.running import Run

HALF = """
from mha_judge.grading import check


@check("Passes", category="values")
def test_passes(candidate):
    pass


raise RuntimeError("broken")
"""


class Seen:
    """Stands for a candidate."""

    def __init__(self):
        self.seen = []

    def enter(self, check):
        pass


def test_a_grader_that_fails_to_import_fails_again_in_the_same_process(tmp_path):
    path = tmp_path / "test_half.py"
    path.write_text(HALF, encoding="utf-8")

    for _ in range(2):
        with pytest.raises(BankError, match="broken"):
            Run(None, 0, "no candidate").grade(str(path))


def test_a_grader_that_is_mended_is_run_as_it_is_now(tmp_path):
    path = tmp_path / "test_mended.py"
    path.write_text(HALF, encoding="utf-8")
    with pytest.raises(BankError):
        Run(None, 0, "no candidate").grade(str(path))
    path.write_text(HALF.partition("raise")[0], encoding="utf-8")

    results = Run(None, 0, "no candidate").grade(str(path))

    assert [result.id for result in results] == ["passes"]


def test_a_grader_that_changed_on_disk_is_collected_anew(tmp_path):
    path = tmp_path / "test_changing.py"
    whole = HALF.partition("raise")[0]
    path.write_text(whole, encoding="utf-8")
    assert [r.id for r in Run(None, 0, "none").grade(str(path))] == ["passes"]

    path.write_text(whole.replace("passes", "passes_now"), encoding="utf-8")

    assert [r.id for r in Run(None, 0, "none").grade(str(path))] == ["passes-now"]


def test_checks_run_again_and_again_are_given_the_candidate_of_each_run(tmp_path):
    path = tmp_path / "test_twice.py"
    path.write_text(
        HALF.partition("raise")[0].replace("    pass", "    candidate.seen.append(candidate)"),
        encoding="utf-8",
    )
    candidates = [Seen(), Seen()]

    results = [Run(one, 0).grade(str(path)) for one in candidates]

    assert [one.seen for one in candidates] == [[one] for one in candidates]
    assert [[r.outcome for r in found] for found in results] == [["passed"], ["passed"]]


def test_a_test_that_is_no_check_is_refused(tmp_path):
    path = tmp_path / "test_plain.py"
    path.write_text("def test_something():\n    pass\n", encoding="utf-8")

    with pytest.raises(BankError, match="a test without @check; declare title and category"):
        Run(None, 0, "none").grade(str(path))


def test_an_error_of_a_check_itself_is_the_banks_and_names_the_line(tmp_path):
    path = tmp_path / "test_wrong.py"
    path.write_text(HALF.partition("raise")[0].replace("    pass", "    1 / 0"), encoding="utf-8")

    with pytest.raises(BankError, match=r"is broken: .*ZeroDivisionError: .* \(line 7\)"):
        Run(Seen(), 0).grade(str(path))
