"""A judge for the tests of a module, and answers for it."""

from pathlib import Path

import pytest

from mha_judge import Judge

SUBMISSIONS = Path(__file__).parents[1] / "submissions"


@pytest.fixture(scope="module")
def judge():
    with Judge(sandbox="jail", workers=2) as opened:
        yield opened


@pytest.fixture(scope="session")
def right():
    return SUBMISSIONS / "softmax" / "right_textbook.py"


@pytest.fixture(scope="session")
def wrong():
    return SUBMISSIONS / "softmax" / "wrong_no_maximum.py"


@pytest.fixture(scope="session")
def hangs():
    return "# problem: softmax\nwhile True:\n    pass\n"
