"""Draws in a row hold every test that may be left out, each once."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from gate import Part, table

from mha_judge.certify.draw import PARTS, Draw

ROOT = Path(__file__).parents[1]
FILES = list(ROOT.glob("tests/submissions/*/*.py"))


def collected(*arguments):
    modules = ["tests/test_renaming.py", "tests/test_submissions.py", "tests/test_carrying.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *modules, *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return re.findall(r"^tests/\S+::.+$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.slow
def test_what_may_be_left_out_is_drawn_in_turn():
    turn = random.randrange(PARTS)
    drawn = [collected("--turn", str(turn)), collected("--turn", str(turn + 1))]

    every = [Draw(turn, "", (), frozenset(), frozenset(), frozenset()) for turn in range(PARTS)]
    files = [{file for file in FILES if one.takes(file.parent.name, file.stem)} for one in every]
    assert set().union(*files) == {*FILES}
    submissions = [{test for test in tests if "declared_verdict" in test} for tests, _ in drawn]
    assert [len(tests) for tests in submissions] == [
        len(files[one % PARTS]) for one in (turn, turn + 1)
    ]
    assert not submissions[0] & submissions[1]
    renamed, worlds = (
        [{test for test in tests if name in test} for tests, _ in drawn]
        for name in ("under_other_names", "test_carrying")
    )
    assert len(renamed[0]) == len(renamed[1])
    assert not renamed[0] & renamed[1]
    assert worlds[0] != worlds[1]
    for number, (tests, told) in enumerate(drawn, turn):
        assert f"TURN={number}; all of it: make prove" in told
        assert int(re.search(r"not changed, (\d+) were left out", told).group(1)) > len(tests)


def test_a_slow_test_is_run_if_its_module_has_changed_or_what_it_shares_with_its_folder():
    def left_out(*touched):
        part = Part(Draw(0, "", (), frozenset(), frozenset(), frozenset(touched)))
        return [
            not part.has_changed(f"tests/{name}.py") for name in ("gpu/test_access", "test_wheel")
        ]

    assert left_out() == [True, True]
    assert left_out("tests/gpu/test_access.py") == [False, True]
    assert left_out("tests/gpu/mistaken_entry.py", "tests/seeds.py") == [False, True]
    assert left_out("tests/gpu/test_checks.py", "tests/test_wheel.py") == [True, False]


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
