"""Three draws in a row hold every test that belongs to a problem, each once."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from gate import table

ROOT = Path(__file__).parents[1]
FILES = list(ROOT.glob("tests/submissions/*/*.py"))


def collected(*arguments):
    modules = ["tests/test_renaming.py", "tests/test_submissions.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *modules, *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return re.findall(r"^tests/\S+::.+$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.slow
def test_what_belongs_to_a_problem_is_drawn_in_turn():
    drawn = [collected("--turn", str(turn)) for turn in range(3)]

    submissions = [{test for test in tests if "declared_verdict" in test} for tests, _ in drawn]
    assert len(set().union(*submissions)) == sum(map(len, submissions)) == len(FILES)
    renamed = [{test for test in tests if "under_other_names" in test} for tests, _ in drawn]
    assert len({len(tests) for tests in renamed}) == 1
    assert not renamed[0] & renamed[1]
    for turn, (tests, told) in enumerate(drawn):
        assert f"TURN={turn}; all of it: make prove" in told
        assert int(re.search(r"things (\d+) were left out", told).group(1)) > len(tests)


def test_the_table_adds_up_what_was_proven():
    graded = {"mistakes": {"tried": 3, "of": 9, "seconds": 5.0}}
    verified = {"problems": [{"graded": graded}, {"graded": graded}]}

    lines = table(verified, {"attacks/": [7, 20.0]})

    assert [line.split() for line in lines] == [
        ["what", "how", "many", "seconds"],
        ["tests:", "attacks/", "7", "20"],
        ["verify:", "mistakes", "6", "10"],
        ["in", "all", "13", "30"],
    ]
