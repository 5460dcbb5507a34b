"""What `score --resume` grades again: everything a verdict depends on, and nothing else."""

import platform
from importlib import metadata
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.errors import BankError
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions, Settings
from mha_judge.scoring import keys
from mha_judge.scoring.answers import CandidateFile
from mha_judge.submission import Submission

COUNTS = {
    "the description": "bank/problems/two-heads/problem.toml",
    "the questions": "bank/problems/two-heads/questions.toml",
    "a further file of the problem": "bank/problems/two-heads/inputs/sizes.json",
    "the grader": "bank/graders/test_two_heads.py",
    "what graders share": "bank/graders/shared.py",
    "the reference": "bank/reference/two_heads.py",
    "another problem's reference": "bank/reference/one_head.py",
    "the mistakes": "bank/reference/mistakes/two-heads.toml",
    "a mistake that is a program": "bank/reference/mistakes/two-heads/no_scale.py",
    "what mistakes share": "bank/reference/mistakes/shared.toml",
    "the judge's code": "judge/judge.py",
    "the judge's code further below": "judge/grading/session.py",
}
DOES_NOT_COUNT = {
    "a statement": "bank/problems/two-heads/statement.zh.md",
    "the interviewer's text": "bank/problems/two-heads/interviewer.md",
    "the starter": "bank/problems/two-heads/starter.py",
    "the page of all problems": "bank/problems/README.md",
    "another problem's README": "bank/problems/one-head/README.md",
    "another problem's description": "bank/problems/one-head/problem.toml",
    "another problem's questions": "bank/problems/one-head/questions.toml",
    "another problem's grader": "bank/graders/test_one_head.py",
    "another problem's mistakes": "bank/reference/mistakes/one-head.toml",
    "another problem's mistake that is a program": "bank/reference/mistakes/one-head/no_scale.py",
    "a mutant": "bank/reference/mutants/two_heads.toml",
    "an agreement": "bank/reference/agreement/two_heads.py",
    "Python's cache": "bank/reference/__pycache__/two_heads.pyc",
    "an editor's file": "bank/reference/.two_heads.py.swp",
    "a page of the judge's": "judge/scoring/page.html",
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Put down a judge and a bank that have one file of each kind."""
    for place in (COUNTS | DOES_NOT_COUNT).values():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("as it was")
    monkeypatch.setattr(keys, "_PACKAGE", tmp_path / "judge")
    return tmp_path


def key(root: Path, source: str = "answer", sandbox: str = "jail") -> str:
    submission = Submission.of(source, "two_heads.py")
    answer = CandidateFile("alice", "two-heads", submission.path, submission)
    return keys.Keys(Bank.at(root / "bank"), sandbox).of(answer)


@pytest.mark.parametrize("place", COUNTS.values(), ids=COUNTS.keys())
def test_a_verdict_is_due_again_after_a_change_of(root, place):
    before = key(root)

    (root / place).write_text("changed")

    assert key(root) != before


@pytest.mark.parametrize("place", DOES_NOT_COUNT.values(), ids=DOES_NOT_COUNT.keys())
def test_a_verdict_is_kept_after_a_change_of(root, place):
    before = key(root)

    (root / place).write_text("changed")

    assert key(root) == before


def test_a_verdict_is_due_again_when_a_file_is_added_or_moved(root):
    mistakes = root / "bank/reference/mistakes/two-heads"
    seen = [key(root)]

    (mistakes / "new.py").write_text("new")
    seen.append(key(root))
    (mistakes / "new.py").rename(mistakes / "newer.py")
    seen.append(key(root))

    assert len(set(seen)) == 3


def test_a_verdict_is_due_again_after_a_change_of_the_answer(root):
    assert key(root, source="one") != key(root, source="another")


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_a_verdict_is_due_again_with_another_version_of(root, monkeypatch, library):
    before, installed = key(root), metadata.version

    monkeypatch.setattr(
        metadata, "version", lambda name: "9.9" if name == library else installed(name)
    )

    assert key(root) != before


def test_a_verdict_is_due_again_with_another_python(root, monkeypatch):
    before = key(root)

    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")

    assert key(root) != before


@pytest.mark.parametrize(
    "other",
    [
        GpuAccess(SandboxOptions(backend="jail")),
        GpuAccess(SandboxOptions(container=Settings(memory_bytes=4 * 1024**3))),
        GpuAccess(SandboxOptions(container=Settings(cpus=0.5))),
        GpuAccess(SandboxOptions(container=Settings(image="mine"))),
        GpuAccess(SandboxOptions(container=Settings(runtime="runsc"))),
    ],
    ids=["--sandbox", "--memory", "--cpus", "--image", "--runtime"],
)
def test_a_verdict_is_due_again_with_another(root, other):
    assert key(root, sandbox=GpuAccess().confinement) != key(root, sandbox=other.confinement)


def test_a_default_counts_as_the_same_where_it_is_given(root):
    given = GpuAccess(SandboxOptions(container=Settings(cpus=1.0)))

    assert key(root, sandbox=GpuAccess().confinement) == key(root, sandbox=given.confinement)


def test_a_bank_may_lie_elsewhere(root):
    before = key(root)

    (root / "bank").rename(root / "moved")
    (root / "bank").symlink_to(root / "moved")

    assert key(root) == before


def test_a_problem_without_a_grader_has_no_key(root):
    (root / "bank/graders/test_two_heads.py").unlink()

    with pytest.raises(BankError, match=r"test_two_heads\.py is missing"):
        key(root)


def test_the_code_that_counts_is_the_judges():
    assert (keys._PACKAGE / "judge" / "judge.py").is_file()
