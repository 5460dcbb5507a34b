"""What is a bank's own is imported from that bank, as its files are now."""

import pytest

from mha_judge.bank import Bank
from mha_judge.bank.references import load_reference
from mha_judge.errors import BankError
from mha_judge.grading.checks.check import spec_of
from mha_judge.grading.checks.collected import check_id, collect

SHARED = """
from mha_judge.grading import check


@check("{title}", category="values")
def test_values(grader, candidate):
    candidate.append(grader.SIZE)
"""
GRADER = """
from graders.shared import layers
from mha_judge.grading import restated

SIZE = {size}
test_values = layers.test_values
test_again = restated(layers.test_values, "In other words", points=3)
"""


@pytest.fixture
def make(tmp_path):
    """Return a function that writes a bank of one problem, whose grader takes its checks."""

    def bank_of(name, title="Right values", size=1):
        root = tmp_path / name
        for folder in ("problems/mine", "graders/shared", "reference"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "problems/mine/problem.toml").touch()
        (root / "reference/mine.py").touch()
        (root / "graders/test_mine.py").write_text(GRADER.format(size=size), encoding="utf-8")
        (root / "graders/shared/layers.py").write_text(SHARED.format(title=title), encoding="utf-8")
        return Bank.at(root)

    return bank_of


def test_a_reference_that_is_no_python_is_told_with_its_line(make):
    bank = make("torn")
    bank.reference("mine").write_text("x = 1\ndef (\n", encoding="utf-8")

    with pytest.raises(BankError, match=r"SyntaxError: invalid syntax \(mine\.py, line 2\)$"):
        load_reference(bank, "mine")


def checks(bank):
    load_reference(bank, "mine")
    return collect(str(bank.grader("mine")))


def told(bank):
    return [(check_id(item), spec_of(item.function).title) for item in checks(bank).items]


class Given:
    """What checks get: a list in place of a candidate."""

    def __init__(self):
        self.seen = []

    def candidate_for(self, check):
        return self.seen


def test_a_grader_takes_checks_that_others_take_too(make):
    assert told(make("one")) == [("values", "Right values"), ("again", "In other words")]


def test_a_shared_check_that_changed_on_disk_is_taken_anew(make):
    told(make("one"))

    assert told(make("one", title="Mended"))[0] == ("values", "Mended")


def test_each_bank_has_shared_checks_of_its_own(make):
    one, other = make("one"), make("other", title="Theirs")

    titles = [told(bank)[0][1] for bank in (one, other, one)]

    assert titles == ["Right values", "Theirs", "Right values"]


def test_a_shared_check_sees_the_grader_that_takes_it(make):
    given = Given()

    for bank in (make("one", size=1), make("other", size=2)):
        found = checks(bank)
        for item in found.items:
            found.run(item, given)

    assert given.seen == [1, 1, 2, 2]
