"""What has changed is tried whole, and of the rest a part, another one after every commit."""

import subprocess

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.certify.draw import PARTS, RARELY, draw
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
def test_what_a_verdict_follows_from_counts_as_a_change(bank, path, committed):
    (bank.root / path).parent.mkdir(exist_ok=True)
    (bank.root / path).write_text("another", encoding="utf-8")
    if committed:
        commit(bank.root)

    drawn = draw(bank, IDS, "HEAD~1" if committed else "HEAD", None)

    assert drawn.changed == ("kv-cache-step",)
    assert path in drawn.touched
    assert all(drawn.takes("kv-cache-step", name) for name in "abcdef")


SCALE = "[[mistake]]\nid = 'no-scale'\nkilled_by = 'values'\n"
WORDS = "title = 'No scale'\nexplanation = 'It is missing.'\nhint = 'Look at the units.'\n"
EDITS = "edits = [{ old = ' / 2', new = '' }]\n"


@pytest.fixture
def mistakes(bank):
    """Return the folder of mistakes; two problems share one, a third has the same for itself."""
    folder = bank.root / "reference" / "mistakes"
    for problem_id, by in (("gqa", "2"), ("mqa", "2"), ("rope", "3")):
        (folder.parent / f"{problem_id}.py").write_text(f"x = y / {by}\n", encoding="utf-8")
        written = SCALE + WORDS + EDITS.replace("2", by)
        (folder / f"{problem_id}.toml").write_text(written, encoding="utf-8")
    commit(bank.root)
    return folder


def rewrite(path, old, new):
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")


def test_mistakes_are_compared_wherever_they_are_written(bank, mistakes):
    shared = mistakes / "shared.toml"
    shared.write_text(f"[no-scale]\nkilled_by = 'values'\n{WORDS}{EDITS}", encoding="utf-8")
    for problem_id in ("gqa", "mqa"):
        path = mistakes / f"{problem_id}.toml"
        path.write_text("[[mistake]]\nshared = 'no-scale'\n", encoding="utf-8")

    assert not draw(bank, ["gqa", "mqa", "rope"], "HEAD", None).mistakes
    commit(bank.root)
    rewrite(shared, "new = ''", "new = ' / 4'")
    changed = draw(bank, ["gqa", "mqa", "rope"], "HEAD", None).mistakes
    assert changed == {("gqa", "no-scale"), ("mqa", "no-scale")}


def test_a_mistake_that_has_changed_is_tried_and_what_stands_beside_it_is_not(bank, mistakes):
    path = mistakes / "rope.toml"
    other = SCALE.replace("no-scale", "twice") + WORDS + EDITS.replace("2", "3")
    path.write_text(path.read_text("utf-8") + other.replace("''", "' * 2'"), encoding="utf-8")

    drawn = draw(bank, IDS, "HEAD", 0)

    assert drawn.mistakes == {("rope", "twice")}
    assert drawn.takes("rope", "twice")
    assert not all(drawn.takes("rope", name) for name in "abcdef")
    assert drawn.changed == ()
    assert "what has changed since" in str(drawn)
    assert "(none; mistakes of others: 1)" in str(drawn)


@pytest.mark.parametrize("said", ["No scale", "It is missing.", "Look at the units."])
def test_words_of_a_mistake_are_no_change(bank, mistakes, said):
    rewrite(mistakes / "rope.toml", said, "Said otherwise")

    assert not draw(bank, IDS, "HEAD", None).mistakes


@pytest.mark.parametrize(
    "path", ["problems/gqa/statement.md", "reference/hints/gqa.toml", "README.md"]
)
def test_what_no_verdict_follows_from_is_no_change(bank, path):
    (bank.root / path).parent.mkdir(exist_ok=True)
    (bank.root / path).write_text("another", encoding="utf-8")

    assert draw(bank, IDS, "HEAD", None).changed == ()


GRADER = '''"""Softmax."""
test_one = restated(shared.test_one, "Another title", points=2)
@check("A title", points=1)
def test_two(candidate, draw):
    """Why."""
    fail("is wrong")
'''


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("A title", "Said better", False), ("Another title", "Said better", False),
        ("Softmax.", "Said better.", False), ("Why.", "Said better.", False),
        ("points=1", "points=3", True), ("shared.test_one", "shared.test_three", True),
        ("is wrong", "is false", True), ("draw)", "draw, no_gpu)", True),
    ],
)  # fmt: skip
def test_titles_of_a_grader_are_no_change(bank, old, new, changed):
    grader = bank.root / "graders" / "test_softmax.py"
    grader.write_text(GRADER, encoding="utf-8")
    commit(bank.root)
    rewrite(grader, old, new)

    assert (draw(bank, IDS, "HEAD", None).changed == ("softmax",)) is changed


SHARED = """from math import inf
SIZE = 4
def drawn(draw):
    return draw(SIZE)
def test_one(candidate):
    return drawn(candidate)
def test_two(candidate):
    return inf
"""
OWN = """from graders.shared import attention
test_one = restated(attention.test_one, "One")
test_two = attention.test_two
def helper():
    return 3
@check("Three")
def test_three(candidate):
    return helper()
def test_four(candidate): ...
def test_five(candidate): ...
def test_six(candidate): ...
def test_seven(candidate): ...
def test_eight(candidate): ...
"""


@pytest.mark.parametrize(
    ("old", "new", "checks"),
    [
        ("SIZE = 4", "SIZE = 5", {"one"}),
        ("return draw(SIZE)", "return draw(2 * SIZE)", {"one"}),
        ("import inf", "import tau as inf", {"two"}),
        ("return 3", "return 4", {"three"}),
        ('"One"', '"Said better"', set()),
        ("return helper()", "return helper() + 1", {"three"}),
        ("def helper", "import torch\ndef helper", set()),
        ("def test_four(candidate): ...", "def test_four(candidate): helper()", {"four"}),
        ("def test_four", "torch.manual_seed(0)\ndef test_four", None),
        ("SIZE = 4", "SIZE, OTHER = 4, 5", {"one"}),
    ],
)
def test_of_a_grader_those_checks_are_tried_that_a_change_concerns(bank, old, new, checks):
    (bank.root / "graders" / "shared").mkdir()
    shared = bank.root / "graders" / "shared" / "attention.py"
    grader = bank.root / "graders" / "test_gqa.py"
    shared.write_text(SHARED, encoding="utf-8")
    grader.write_text(OWN, encoding="utf-8")
    listed = [
        f"[[mistake]]\nid = 'm-{one}'\nkilled_by = '{one}'\n{WORDS}{EDITS}"
        for one in ("one", "two", "three", "four")
    ]
    (bank.root / "reference" / "mistakes" / "gqa.toml").write_text("\n".join(listed))
    (bank.root / "reference" / "gqa.py").write_text("x = 1 / 2\n")
    commit(bank.root)
    rewrite(shared if old in SHARED else grader, old, new)

    drawn = draw(bank, IDS, "HEAD", None)
    if checks is None:
        assert drawn.changed == ("gqa",)
        return
    assert drawn.changed == ()
    assert drawn.rechecked == ({"gqa"} if checks else set())
    assert drawn.mistakes == {("gqa", f"m-{one}") for one in checks}


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("after = ['sdpa']", False), ("title_zh = 'softmax'", False), ("minutes = 5", False),
        ("forbid = ['python-loops']", True), ("[domain]", True),
    ],
)  # fmt: skip
def test_what_a_contract_says_to_readers_is_no_change(bank, line, changed):
    contract = bank.root / "problems" / "softmax" / "problem.toml"
    contract.write_text(line, encoding="utf-8")

    assert (draw(bank, IDS, "HEAD", None).changed == ("softmax",)) is changed


def test_what_graders_share_is_a_change_of_those_that_take_from_it(bank):
    graders = bank.root / "graders"
    for name, shared in (("gqa", "layers, masks"), ("mla", "cache"), ("mqa", "masks")):
        line = f"import torch\nfrom graders.shared import {shared}\n"
        (graders / f"test_{name}.py").write_text(line, encoding="utf-8")
    commit(bank.root)
    (graders / "shared").mkdir()
    (graders / "shared" / "masks.py").write_text("x = 1", encoding="utf-8")

    assert draw(bank, IDS, "HEAD", None).changed == ("gqa", "mqa")


def test_commits_in_a_row_draw_different_parts_and_all_in_the_end(bank):
    names = [f"mistake-{number}" for number in range(20 * PARTS)]
    parts = []
    for _ in range(PARTS):
        commit(bank.root)
        drawn = draw(bank, IDS, "HEAD", None)
        assert drawn == draw(bank, IDS, "HEAD", None)
        parts.append({name for name in names if drawn.takes("mla", name)})

    assert all(len(part) >= 10 for part in parts)
    assert sum(map(len, parts)) == len(names)
    assert set().union(*parts) == {*names}


def test_parts_of_one_name_come_one_at_a_time(bank):
    turns = [draw(bank, IDS, None, turn) for turn in range(5)]

    taken = [[part for part in range(5) if one.takes("gqa", "x", 5, part)] for one in turns]

    assert sorted(taken) == [[0], [1], [2], [3], [4]]


def test_what_is_tried_rarely_has_its_turn_all_the_same(bank):
    turns = [draw(bank, IDS, None, turn) for turn in range(RARELY)]

    assert sum(one.takes("gqa", "a → b", RARELY) for one in turns) == 1
    assert sum(one.takes("gqa", "a → b") for one in turns) == RARELY // PARTS


def test_a_turn_repeats_a_draw_and_the_draw_says_which(bank):
    commit(bank.root)
    before = draw(bank, IDS, "HEAD", None)
    commit(bank.root)

    assert draw(bank, IDS, before.since, before.turn) == before
    assert draw(bank, IDS, "HEAD", None) != before
    assert f"make check SINCE={before.since[:10]} TURN={before.turn};" in str(before)


def test_a_shallow_clone_is_enough(bank, tmp_path):
    (bank.root / "reference" / "gqa.py").touch()
    commit(bank.root)
    commit(bank.root)
    git(tmp_path, "clone", "--depth", "3", f"file://{bank.root}", "deep")
    git(tmp_path, "clone", "--depth", "1", f"file://{bank.root}", "shallow")
    deep, shallow = Bank.at(tmp_path / "deep"), Bank.at(tmp_path / "shallow")

    drawn = draw(shallow, IDS, "HEAD", None)

    assert draw(deep, IDS, "HEAD~2", None).changed == ("gqa",)
    assert drawn.changed == ()
    assert "The clone is shallow" in str(drawn)
    with pytest.raises(UsageError, match="name a commit of this clone"):
        draw(shallow, IDS, "HEAD~2", None)


def test_a_bank_outside_of_git_can_be_drawn_from_by_turn_alone(bank):
    (bank.root / ".git").rename(bank.root.parent / "elsewhere")

    assert draw(bank, IDS, None, 4).part == 5
    with pytest.raises(UsageError, match="or pass --turn alone"):
        draw(bank, IDS, "HEAD", None)


def test_verify_tries_what_is_drawn_and_says_what_that_is(bank, monkeypatch):
    tried = {}

    def certify(bank, problem_id, graders, seeds, *, with_mutants, draw, progress):
        tried[problem_id] = draw
        return Certificate(problem=problem_id, seeds=seeds, checks={})

    monkeypatch.setattr("mha_judge.certify.certify.certify", certify)
    drawn = draw(bank, IDS, "HEAD", 7)

    arguments = ["--bank", str(bank.root), "verify", "--since", "HEAD", "--turn", "7"]
    result = CliRunner().invoke(main, arguments)

    assert result.exit_code == 0, result.output
    assert tried == dict.fromkeys(IDS, drawn)
    told = " ".join(result.output.split())
    assert "and part 8 of 11 of what belongs to the other problems." in told
