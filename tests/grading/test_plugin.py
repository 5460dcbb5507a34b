"""A grader that is broken is the judge's fault, every time it is run."""

import pytest

from mha_judge.errors import BankError
from mha_judge.grading.plugin import GraderPlugin, run_grader

HALF = """
from mha_judge.grading import check


@check("Passes", category="values")
def test_passes(candidate):
    pass


raise RuntimeError("broken")
"""


def test_a_grader_that_fails_to_import_fails_again_in_the_same_process(tmp_path):
    path = tmp_path / "test_half.py"
    path.write_text(HALF, encoding="utf-8")

    for _ in range(2):
        with pytest.raises(BankError, match="broken"):
            run_grader(str(path), GraderPlugin(None, 0, "no candidate"))


def test_a_grader_that_is_mended_is_run_as_it_is_now(tmp_path):
    path = tmp_path / "test_mended.py"
    path.write_text(HALF, encoding="utf-8")
    with pytest.raises(BankError):
        run_grader(str(path), GraderPlugin(None, 0, "no candidate"))
    path.write_text(HALF.partition("raise")[0], encoding="utf-8")
    plugin = GraderPlugin(None, 0, "no candidate")

    run_grader(str(path), plugin)

    assert [result.id for result in plugin.results] == ["passes"]
