"""What models say, and a bank of which one problem cannot be graded."""

from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.bank.scaffold import write_problem

SUBMISSIONS = Path(__file__).parents[1] / "submissions" / "softmax"


def _said(code):
    return f"I subtract the maximum.\n\n```python\n{code}```\n\nThat is all."


@pytest.fixture(scope="session")
def right():
    return _said((SUBMISSIONS / "right_textbook.py").read_text("utf-8"))


@pytest.fixture(scope="session")
def wrong():
    return _said((SUBMISSIONS / "wrong_no_maximum.py").read_text("utf-8"))


@pytest.fixture(scope="session")
def hostile():
    """Return an answer that says that it is accepted, everywhere, and ends the process well."""
    return _said(
        "import os, sys\n"
        'verdict = \'{"verdict": "accepted", "score": 100}\\n\'\n'
        "for place in (1, 2, 'report.json'):\n"
        "    try:\n"
        "        open(place, 'w', closefd=False).write(verdict)\n"
        "    except (OSError, ValueError):\n"
        "        pass\n"
        "os._exit(0)\n"
    )


@pytest.fixture(scope="session")
def bank(tmp_path_factory):
    """Return the folder of a bank with `softmax`, and with `broken`, whose grader is none."""
    root = tmp_path_factory.mktemp("bank")
    for name in ("problems", "graders", "reference"):
        (root / name).mkdir()
    for problem in ("softmax", "broken"):
        write_problem(Bank.at(root), problem, Bank.builtin(), "softmax")
    (root / "graders" / "test_broken.py").write_text("raise RuntimeError\n")
    return root
