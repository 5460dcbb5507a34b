"""A bank is certified if its graders kill what they should; a weakened grader is noticed."""

import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.certify.certify import certify
from mha_judge.certify.grades import Graders
from mha_judge.certify.models import Names
from mha_judge.errors import BankError
from mha_judge.sandbox import SandboxOptions

pytestmark = pytest.mark.slow

BUILTIN = Bank.builtin()
PROBLEM = "split-merge-heads"
DOMAIN = re.compile(r"^\[entry\.domain\]\n(?:.+\n)+", re.MULTILINE)
SHAPES_ONLY = """
def assert_close(answer, *names, nan=False):
    for name in names:
        answer.tensors(name)


"""


@pytest.fixture
def bank(tmp_path):
    """Return a bank of one problem, free to be spoilt: its checks, and no domain beside them."""
    described = tmp_path / "problems" / PROBLEM / "problem.toml"
    shutil.copytree(BUILTIN.root / "problems" / PROBLEM, described.parent)
    text = described.read_text(encoding="utf-8")
    described.write_text(DOMAIN.sub("", text), encoding="utf-8")
    (tmp_path / "graders").mkdir()
    shutil.copy(BUILTIN.grader(PROBLEM), tmp_path / "graders")
    for folder in ("mistakes", "hints", "mutants", "agreement"):
        source = BUILTIN.root / "reference" / folder
        if source.is_dir():
            shutil.copytree(source, tmp_path / "reference" / folder)
    shutil.copy(BUILTIN.reference(PROBLEM), tmp_path / "reference")
    keep_few_mistakes(Bank.at(tmp_path))
    return Bank.at(tmp_path)


def keep_few_mistakes(bank: Bank, *checks: str) -> None:
    """Keep a mistake for each check, or for each of some, with its hints."""
    folder = bank.root / "reference"
    path = folder / "mistakes" / f"{PROBLEM}.toml"
    head, *mistakes = path.read_text(encoding="utf-8").split("[[mistake]]")
    by_check = {re.search(r'killed_by = "(.+)"', text)[1]: text for text in mistakes}
    by_check = {check: by_check[check] for check in checks or by_check}
    path.write_text("[[mistake]]".join([head, *by_check.values()]), encoding="utf-8")
    kept = {"problem", *(re.search(r'id = "(.+)"', text)[1] for text in by_check.values())}
    path = folder / "hints" / f"{PROBLEM}.toml"
    head, *ladders = re.split(r"^\[", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ladders = [text for text in ladders if text.partition("]")[0] in kept]
    path.write_text("[".join([head, *ladders]), encoding="utf-8")


def edit(path: Path, old: str, new: str, count: int = -1) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")


@pytest.fixture
def no_corner_faults(monkeypatch):
    """Leave out what a test is not about, and takes half its time."""
    monkeypatch.setattr("mha_judge.certify.certify.corner_faults", lambda problem, reference: [])


def certificate_of(bank, *, with_mutants=False):
    with closing(Graders(bank, SandboxOptions("jail"), 1)) as graders:
        return certify(bank, PROBLEM, graders, [5], with_mutants=with_mutants)


def faults(bank, **options):
    return [str(fault) for fault in certificate_of(bank, **options).faults]


@pytest.mark.usefixtures("no_corner_faults")
def test_a_check_that_is_missing_is_noticed(bank):
    keep_few_mistakes(bank, "merge-values")
    grader = bank.grader(PROBLEM)
    edit(grader, "def test_merge_values(", "def not_a_test_merge_values(")
    edit(grader, '"merge_values"', '"merge_shape"')

    assert any("killed_by: no check is called 'merge-values'" in fault for fault in faults(bank))


@pytest.mark.usefixtures("no_corner_faults")
def test_a_tolerance_that_lets_everything_pass_is_noticed(bank):
    keep_few_mistakes(bank, "split-values", "merge-values")
    grader = bank.grader(PROBLEM)
    edit(grader, "    assert_close,\n", "")
    edit(grader, "\n\n@check(", f"\n{SHAPES_ONLY}@check(", count=1)

    assert any("survives" in fault for fault in faults(bank))


@pytest.mark.usefixtures("no_corner_faults")
def test_inputs_of_zeros_are_noticed(bank):
    keep_few_mistakes(bank, "split-values", "merge-values")
    edit(bank.grader(PROBLEM), "draw.normal(", "0 * draw.normal(")

    assert any("survives" in fault for fault in faults(bank))


@pytest.mark.usefixtures("no_corner_faults")
def test_a_wrong_reference_is_noticed(bank):
    keep_few_mistakes(bank, "merge-values")
    right = bank.reference(PROBLEM).read_text(encoding="utf-8")
    twice = "\n\n_merge = merge_heads\n\n\ndef merge_heads(x):\n    return 2 * _merge(x)\n"
    bank.reference(PROBLEM).write_text(right + twice, encoding="utf-8")

    assert any(fault.startswith("reference: differs") for fault in faults(bank))


@pytest.mark.usefixtures("no_corner_faults")
def test_names_are_counted_as_right_missing_and_false(bank):
    keep_few_mistakes(bank, "split-values", "merge-values")
    assert certificate_of(bank).names == Names(right=4)  # two alone, and both as a pair
    path = bank.root / "reference" / "mistakes" / f"{PROBLEM}.toml"
    head, *mistakes = path.read_text(encoding="utf-8").split("[[mistake]]")
    first = re.search(r'id = "(.+)"', mistakes[0])[1]
    ladders = bank.root / "reference" / "hints" / f"{PROBLEM}.toml"
    text = ladders.read_text(encoding="utf-8")
    at = text.index(f"[{first}]")
    again = text[at : (text + "\n[").index("\n[", at)]
    ladders.write_text(f"{text}\n{again.replace(first, 'the-same')}\n", encoding="utf-8")
    same = mistakes[0].replace(f'"{first}"', '"the-same"')
    path.write_text("[[mistake]]".join([head, *mistakes, same]), encoding="utf-8")

    names = certificate_of(bank).names

    assert names.missing and names.false  # of two that are alike one is named


def test_a_change_of_the_reference_that_a_mistake_does_not_follow_is_refused(bank):
    edit(bank.reference(PROBLEM), "head_dim", "head_size")

    with pytest.raises(BankError, match=r"split-merge-heads\.toml: .* copy it from there again"):
        bank.mistakes(PROBLEM)


def test_what_texts_lack_is_told_all_at_once_and_nothing_else_is(bank):
    folder = bank.root / "problems" / PROBLEM
    edit(folder / "problem.toml", "拆分与合并注意力头", "In English")
    edit(folder / "starter.py", "TODO", "to do")
    ladders = bank.root / "reference" / "hints" / f"{PROBLEM}.toml"
    edit(ladders, "\nwhere_zh = ", "\n# where_zh = ", count=1)
    question = '[[question]]\nid = "why"\nexplanation = "Because it is."\n'
    (folder / "questions.toml").write_text(question, encoding="utf-8")
    mistakes = bank.root / "reference" / "mistakes" / f"{PROBLEM}.toml"
    edit(mistakes, "new = 'return ", "new = 'return (", count=1)

    found = faults(bank)

    for words in (
        "title_zh is not in Chinese", "the starter has no TODO", "has no `where_zh`",
        "why: explanation_zh is not in Chinese", "'(' was never closed in ",
    ):  # fmt: skip
        assert any(words in fault for fault in found), words
    assert len(found) == 5


def test_a_category_without_hint_and_a_check_that_cannot_fail_are_noticed_and_nothing_else_is(bank):
    edit(bank.root / "problems" / PROBLEM / "problem.toml", "gradients = ", "# gradients = ")
    with bank.grader(PROBLEM).open("a", encoding="utf-8") as grader:
        grader.write(
            '\n\n@check("Nothing", category="values")\ndef test_nothing(candidate):\n    pass\n'
        )

    found = faults(bank)

    assert sorted(found) == [
        "check nothing: no mistake fails it; add one that does, or remove it",
        "texts: problem.toml has no hint for the category gradients",
    ]


def test_a_mutant_that_is_listed_in_vain_is_the_only_fault_of_a_problem_without_any(bank):
    folder = bank.root / "reference" / "mutants"
    folder.mkdir(exist_ok=True)
    with (folder / "split_merge_heads.toml").open("a", encoding="utf-8") as listed:
        listed.write('\n[[equivalent]]\nchange = "a → b"\nreason = "There is no such change."\n')

    found = faults(bank, with_mutants=True)

    assert found == ["mutants: listed as equivalent, but not tried; remove it: a → b"]
