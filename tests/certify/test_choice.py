"""Mutants are tried where something has changed, and of a few others; the rest is named."""

import subprocess

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.certify.choice import DRAWN, choose
from mha_judge.certify.models import Certificate
from mha_judge.cli import main
from mha_judge.errors import UsageError

IDS = ["gqa", "kv-cache-step", "mla", "mqa", "rope", "sdpa", "softmax"]


def git(folder, *arguments):
    identity = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "--allow-empty", "-m", "A step")


@pytest.fixture
def bank(tmp_path):
    """Return a bank in a repository of one commit; its problems are not to be graded."""
    root = tmp_path / "origin"
    for problem_id in IDS:
        (root / "problems" / problem_id).mkdir(parents=True)
        (root / "problems" / problem_id / "problem.toml").touch()
    for folder in ("graders", "reference/mistakes", "reference/mutants"):
        (root / folder).mkdir(parents=True)
        (root / folder / ".keep").touch()
    git(root, "init")
    commit(root)
    return Bank.at(root)


@pytest.mark.parametrize(
    "path",
    [
        "problems/kv-cache-step/problem.toml",
        "problems/kv-cache-step/questions.toml",
        "graders/test_kv_cache_step.py",
        "reference/kv_cache_step.py",
        "reference/mutants/kv_cache_step.toml",
    ],
)
@pytest.mark.parametrize("committed", [True, False])
def test_what_the_verdict_on_a_mutant_follows_from_counts_as_a_change(bank, path, committed):
    (bank.root / path).write_text("another", encoding="utf-8")
    if committed:
        commit(bank.root)

    choice = choose(bank, "HEAD~1" if committed else "HEAD", IDS)

    assert choice.changed == ["kv-cache-step"]


@pytest.mark.parametrize(
    "path", ["problems/gqa/statement.md", "reference/mistakes/gqa.toml", "README.md"]
)
def test_what_no_mutant_is_graded_with_is_no_change(bank, path):
    (bank.root / path).write_text("another", encoding="utf-8")

    assert choose(bank, "HEAD", IDS).changed == []


def test_what_graders_share_is_a_change_of_those_that_take_from_it(bank):
    graders = bank.root / "graders"
    for name, shared in (("gqa", "layers, masks"), ("mla", "cache"), ("mqa", "masks")):
        line = f"import torch\nfrom graders.shared import {shared}\n"
        (graders / f"test_{name}.py").write_text(line, encoding="utf-8")
    commit(bank.root)
    (graders / "shared").mkdir()
    (graders / "shared" / "masks.py").touch()

    assert choose(bank, "HEAD", IDS).changed == ["gqa", "mqa"]


def test_a_few_others_are_drawn_by_the_commit_until_all_have_been(bank):
    seen = set()
    for _ in range(30):
        commit(bank.root)
        choice = choose(bank, "HEAD", IDS)
        assert len(choice.drawn) == DRAWN
        assert choice == choose(bank, "HEAD", IDS)
        assert sorted([*choice.drawn, *choice.left_out]) == IDS
        seen |= {*choice.drawn}

    assert seen == {*IDS}


def test_a_shallow_clone_is_enough(bank, tmp_path):
    (bank.root / "reference" / "gqa.py").touch()
    commit(bank.root)
    commit(bank.root)
    git(tmp_path, "clone", "--depth", "3", f"file://{bank.root}", "deep")
    git(tmp_path, "clone", "--depth", "1", f"file://{bank.root}", "shallow")
    deep, shallow = Bank.at(tmp_path / "deep"), Bank.at(tmp_path / "shallow")

    assert choose(deep, "HEAD~2", IDS).changed == ["gqa"]
    assert choose(shallow, "HEAD", IDS).changed == []
    with pytest.raises(UsageError, match="name a commit of this clone, or drop --mutants-since"):
        choose(shallow, "HEAD~2", IDS)


def test_a_bank_outside_of_git_cannot_say_what_has_changed(bank):
    (bank.root / ".git").rename(bank.root.parent / "elsewhere")

    with pytest.raises(UsageError, match="drop --mutants-since"):
        choose(bank, "HEAD", IDS)


def test_verify_tries_the_mutants_of_these_and_says_whose_it_left_out(bank, monkeypatch):
    tried = {}

    def certify(bank, problem_id, graders, seeds, *, with_mutants, progress):
        tried[problem_id] = with_mutants
        return Certificate(problem=problem_id, seeds=seeds, checks={})

    monkeypatch.setattr("mha_judge.certify.certify.certify", certify)
    choice = choose(bank, "HEAD", IDS)

    arguments = ["--bank", str(bank.root), "verify", "--mutants-since", "HEAD"]
    result = CliRunner().invoke(main, arguments)

    assert result.exit_code == 0, result.output
    assert tried == {one: one in choice.drawn for one in IDS}
    assert f"Left out: {', '.join(choice.left_out)};" in " ".join(result.output.split())


def test_verify_refuses_to_try_some_mutants_and_none():
    result = CliRunner().invoke(main, ["verify", "--no-mutants", "--mutants-since", "HEAD"])

    assert result.exit_code == 2
    assert "do not go together" in result.stderr
