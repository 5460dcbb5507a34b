"""Ladders: complete in both languages, and never the code itself."""

import pytest

from mha_judge.bank import Bank, ladder
from mha_judge.bank.ladder import RUNGS, faults_of, read_ladders
from mha_judge.errors import BankError


@pytest.fixture
def bank(tmp_path):
    """A bank with one small problem and one mistake."""
    for folder in ("problems/twice", "graders", "reference/mistakes", "reference/hints"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "problems/twice/problem.toml").write_text("")
    (tmp_path / "reference/twice.py").write_text("def twice(x):\n    return x.sum(axis=1) * 2\n")
    (tmp_path / "reference/mistakes/twice.toml").write_text(
        "[[mistake]]\nid = 'other-axis'\nshared = 'axis'\nkilled_by = 'values'\n"
        "[[mistake.edits]]\nold = 'x.sum(axis=1)'\nnew = 'x.prod(0)'\n"
    )
    (tmp_path / "reference/mistakes/shared.toml").write_text(
        "[axis]\ntitle = 'The other axis'\nexplanation = 'It sums the wrong axis.'\n"
        "hint = 'Which axis is summed?'\n"
    )
    (tmp_path / "reference/hints/shared.toml").write_text(
        "[axis]\nwhere = 'Look at the sum.'\nchange = 'Sum over the other axis.'\n"
        "title_zh = '求和的轴不对'\nexplanation_zh = '它对错误的轴求和，结果不对。'\n"
        "hint_zh = '求和的是哪一根轴，是最后一根吗？'\nwhere_zh = '请看求和的那一步在哪里。'\n"
        "change_zh = '改为对另一根轴求和就可以了。'\n"
    )
    (tmp_path / "reference/hints/twice.toml").write_text(
        "[problem]\n"
        + "".join(f"{key} = 'Some words here.'\n" for key in RUNGS)
        + "".join(f"{key}_zh = '这里有一些中文的文字。'\n" for key in RUNGS)
    )
    (tmp_path / "problems/twice/statement.zh.md").write_text("# 题目\n")
    return Bank.at(tmp_path)


def write(bank, text):
    path = bank.root / "reference/hints/twice.toml"
    path.write_text(path.read_text() + text)


def test_shared_words_count(bank):
    assert faults_of(bank, "twice") == []
    assert read_ladders(bank, "twice", "zh").mistakes["other-axis"].title == "求和的轴不对"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[other-axis]\nchange = 'Write `x.sum( axis = 1 )` there.'\n", "holds the code"),
        ("[other-axis]\nwhere_zh = 'No Chinese in here.'\n", "not in Chinese"),
        ("[other-axes]\n", "there is no mistake"),
        ("[other-axis]\nwher = 'A typing error.'\n", "wher"),
        ("[other-axis\n", "not valid TOML"),
    ],
)
def test_what_is_wrong_with_a_ladder_is_said(bank, text, fault):
    write(bank, text)
    assert fault in "".join(faults_of(bank, "twice"))


def test_words_of_its_own_do_not_take_the_shared_ones_in_chinese(bank):
    path = bank.root / "reference/mistakes/twice.toml"
    path.write_text(path.read_text().replace("killed_by", "title = 'Another title'\nkilled_by"))
    assert faults_of(bank, "twice") == [
        f"other-axis has no `title_zh`; write it in {ladder._path(bank, 'twice')}"
    ]


def test_a_bank_without_ladders_has_the_hints_of_its_mistakes(bank):
    for path in (bank.root / "reference/hints").iterdir():
        path.unlink()
    ladders = read_ladders(bank, "twice", "zh")
    assert ladders.problem.rungs == ()
    assert ladders.mistakes["other-axis"].rungs == ("Which axis is summed?",)
    assert len(faults_of(bank, "twice")) == 8


def test_a_broken_file_is_named(bank):
    write(bank, "[other-axis]\nwhere = 'short'\n")
    with pytest.raises(BankError, match=r"twice\.toml: other-axis: where"):
        read_ladders(bank, "twice", "en")
