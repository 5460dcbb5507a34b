"""The plain commands for practising: what they say, keep and refuse."""

import json

import click
import pytest
from click.testing import CliRunner
from practising import BANK, hand_in

from mha_judge.cli import main
from mha_judge.practice.learner import Learner
from mha_judge.practice.progress import PATH_VARIABLE, Progress
from mha_judge.render.prose import confirmed

RIGHT = """\
import numpy as np


def softmax(x, axis=-1):
    exponentials = np.exp(x - x.max(axis, keepdims=True))
    return exponentials / exponentials.sum(axis, keepdims=True)
"""


@pytest.fixture
def invoke(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke_(*args, expected=0, **options):
        result = CliRunner().invoke(main, [str(arg) for arg in args], **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == expected, result.output
        return result.output

    return invoke_


@pytest.fixture
def learner(store):
    with Progress(store) as progress:
        yield Learner(BANK, progress)


@pytest.fixture
def begun(invoke, tmp_path):
    """The file of a problem that was begun."""
    invoke("start", "sdpa")
    return tmp_path / "sdpa.py"


@pytest.mark.slow
def test_a_first_day(invoke, tmp_path):
    assert "softmax" in invoke("next").splitlines()[0]
    invoke("start", "softmax")
    assert str(tmp_path / "softmax.py") in invoke("next")
    assert "attempt" not in invoke("run", "softmax.py", "--sandbox", "jail", expected=1)
    (tmp_path / "softmax.py").write_text(RIGHT.replace("x - x.max(axis, keepdims=True)", "x"))
    assert "attempt 1" in invoke("run", "softmax.py", "--sandbox", "jail", expected=1)
    (tmp_path / "softmax.py").write_text(RIGHT)
    said = invoke("run", "softmax.py", "--sandbox", "jail")
    assert "attempt 2 · comes back on " in said
    assert json.loads(invoke("next", "--json"))[0]["problem"] != "softmax"
    assert "next review" in invoke("review")
    assert "exponentials" in invoke("solution", "softmax", "--json")


def test_start_begins_in_a_file_of_ones_own_and_leaves_it_as_it_is(invoke, tmp_path, learner):
    path = tmp_path / "softmax.py"
    path.write_text(RIGHT)
    assert "not begun; `mha-judge start softmax` begins" in invoke("hint", "softmax", expected=2)

    assert "was there already and stays as it is" in invoke("start", "softmax")

    assert (path.read_text(), learner.round_of(path).problem) == (RIGHT, "softmax")
    assert "exists; pass --force" in invoke("start", "softmax", expected=2)  # it is begun there
    assert "exists; pass --force" in invoke("start", "softmax", "--no-progress", expected=2)


@pytest.mark.slow
def test_what_start_did_not_write_is_nobodys_practice(invoke, tmp_path, learner):
    (tmp_path / "softmax.py").write_text(RIGHT)
    assert "attempt" not in invoke("run", "softmax.py", "--sandbox", "jail")
    invoke("start", "softmax", "other", "--no-progress")
    assert learner.progress.rounds() == []


def test_a_start_elsewhere_says_that_the_round_moves(invoke, tmp_path, learner):
    first, second = tmp_path / "a" / "sdpa.py", tmp_path / "b" / "sdpa.py"
    assert "moves here" not in invoke("start", "sdpa", "a")

    moved = invoke("start", "sdpa", "b")
    back = invoke("start", "sdpa", "a")

    assert f"Your round of sdpa moves here from {first}: answers in that file are no" in moved
    assert f"moves here from {second}" in back
    assert "was there already and stays as it is" in back
    assert [one.path for one in learner.progress.rounds()] == [str(first)]
    assert f"moves here from {first}" in invoke("review", "sdpa", "b")
    assert f"从 {tmp_path / 'b' / 'sdpa_2.py'} 移到这里" in invoke("review", "sdpa", "--lang", "zh")
    assert "moves here" not in invoke("start", "sdpa", "c", "--no-progress")


def test_a_run_of_another_file_than_the_rounds_says_that_it_is_not_kept(invoke, tmp_path, learner):
    broken = "import torch\nx = [\n"
    invoke("start", "sdpa", "a")
    invoke("start", "sdpa", "b")
    for name in ("a/sdpa.py", "b/sdpa.py", "mine.py"):
        (tmp_path / name).write_text(broken)

    elsewhere = invoke("run", "a/sdpa.py", expected=1)
    named = invoke("run", "mine.py", "--problem", "sdpa", expected=1)
    kept = invoke("run", "b/sdpa.py", expected=1)
    ignored = invoke("run", "a/sdpa.py", "--no-progress", expected=1)

    where = f"not kept: your round of sdpa is in {tmp_path / 'b' / 'sdpa.py'}"
    assert f"{where}; `mha-judge start sdpa a` moves it to this file\n" in elsewhere
    assert f"{where}\n" in named
    assert "attempt 1" in kept
    assert "not kept" not in kept + ignored
    assert len(learner.progress.attempts()) == 1


def test_an_old_file_of_a_problem_that_is_open_elsewhere_is_not_kept(invoke, begun, learner):
    hand_in(learner, "sdpa", path=begun, accepted=True)
    invoke("review", "sdpa")
    begun.write_text("import torch\nx = [\n")

    said = invoke("run", begun, expected=1)

    assert f"not kept: your round of sdpa is in {begun.with_name('sdpa_2.py')}\n" in said
    assert len(learner.progress.attempts()) == 1


@pytest.mark.slow
def test_no_progress_keeps_nothing(invoke, begun, learner):
    begun.write_text("def sdpa(q, k, v, mask=None):\n    return q\n")
    said = invoke("run", begun, "--sandbox", "jail", "--no-progress", expected=1)
    assert "attempt 1" not in said
    assert learner.progress.attempts() == []


def test_a_hint_is_offered_before_it_is_sold(invoke, begun, learner):
    assert "comes after a try: change the starter" in invoke("hint", "sdpa", expected=2)
    hand_in(learner, "sdpa", "argmax", path=begun)
    offered = invoke("hint", "sdpa")
    assert "costs 2 points" in offered and "--yes" in offered
    assert learner.spent("sdpa") == 0
    told = invoke("hint", "sdpa", "--yes").splitlines()[-1]
    assert told not in offered
    assert learner.spent("sdpa") == 2
    assert "第 2 条提示" in invoke("hint", "sdpa", "--lang", "zh")
    assert "text" not in json.loads(invoke("hint", "sdpa", "--json"))
    assert json.loads(invoke("hint", "sdpa", "--json", "--yes"))["price"] == 5
    assert learner.spent("sdpa") == 7


def test_the_solution_wants_success_or_giving_up(invoke, begun, learner):
    assert "--give-up" in invoke("solution", "sdpa", expected=2)
    hand_in(learner, "sdpa", "argmax", path=begun)
    said = invoke("solution", "sdpa", "--give-up")
    assert said.startswith(BANK.reference("sdpa").read_text(encoding="utf-8"))
    assert said.splitlines()[-1].endswith("--json has your own mistakes too")  # stderr
    assert "`mha-judge review sdpa` begins it afresh" in invoke("hint", "sdpa", expected=2)
    assert "best key alone" in invoke("solution", "sdpa", "--json")


def test_a_review_writes_beside_what_is_there(invoke, begun, learner, tmp_path):
    hand_in(learner, "sdpa", path=begun, accepted=True)
    assert "sdpa_2.py" in invoke("review", "sdpa")
    assert (tmp_path / "sdpa_2.py").read_text() == BANK.starter("sdpa")
    (tmp_path / "file").write_text("")
    assert "已写入 sdpa_3.py" in invoke("review", "sdpa", "--lang", "zh")
    assert "name another folder" in invoke("review", "sdpa", "file", expected=2)


def test_of_a_file_that_is_gone_next_says_how_to_get_it_again(invoke, begun):
    assert f"mha-judge run {begun}" in invoke("next")
    begun.unlink()
    assert "is gone; `mha-judge start sdpa`" in " ".join(invoke("next").split())


def test_of_what_was_given_up_next_names_the_command_that_begins_it_afresh(invoke):
    assert "mha-judge start softmax" in invoke("next", "-n", "1")
    invoke("start", "softmax")
    invoke("solution", "softmax", "--give-up")

    said = invoke("next", "-n", "1").splitlines()

    assert said == [
        "softmax: You gave it up; now try it on your own.",
        "  mha-judge review softmax",
    ]
    assert "wrote softmax_2.py" in invoke("review", "softmax")


def test_a_rating_can_be_overruled(invoke, begun, learner):
    assert "solve it first" in invoke("review", "sdpa", "--rate", "again", expected=2)
    hand_in(learner, "sdpa", path=begun, accepted=True)
    again = json.loads(invoke("review", "sdpa", "--rate", "again", "--json"))["due"]
    easy = json.loads(invoke("review", "sdpa", "--rate", "easy", "--json"))["due"]
    assert again < easy
    invoke("review", "--rate", "easy", expected=2)


@pytest.mark.parametrize(
    ("typed", "answer"), [("是\n", True), ("Yes\n", True), ("n\n", False), ("\n", False)]
)
def test_a_question_is_asked_in_chinese_until_the_answer_is_yes_or_no(typed, answer):
    command = click.Command("ask", callback=lambda: click.echo(confirmed("要看吗？", "zh")))

    said = CliRunner().invoke(command, input=f"maybe\n{typed}").output

    assert said.split("\n")[1:] == [
        "请输入 y 或 n。",
        f"要看吗？ [y/N]：{typed.strip()}",
        str(answer),
        "",
    ]


def test_reset_asks_first(invoke, begun, learner):
    assert "sdpa has 1 round; pass --yes" in invoke("reset", "sdpa", expected=2)
    assert "已删除 sdpa 的 1 轮记录" in invoke("reset", "sdpa", "--yes", "--lang", "zh")
    assert learner.progress.rounds() == []
    assert begun.exists()
    assert "did you mean sdpa" in invoke("reset", "sdpaa", "--yes", expected=2)


@pytest.mark.parametrize(("rounds", "told"), [(1, "1 round"), (2, "2 rounds")])
def test_reset_counts_rounds(invoke, begun, learner, rounds, told):
    for _ in range(1, rounds):
        learner.give_up("sdpa")
        learner.begin("sdpa", begun)

    assert f"forgot {told} of sdpa\n" in invoke("reset", "sdpa", "--yes")


@pytest.mark.parametrize("command", ["next", "review"])
def test_progress_that_cannot_be_kept_is_told(invoke, tmp_path, monkeypatch, command):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "file" / "p"))
    assert PATH_VARIABLE in invoke(command, expected=8)


@pytest.mark.slow
def test_a_verdict_does_not_hang_on_progress(invoke, tmp_path, store):
    invoke("start", "softmax")
    (tmp_path / "softmax.py").write_text(RIGHT)
    store.write_bytes(b"not a database" * 500)
    said = invoke("run", "softmax.py", "--sandbox", "jail")
    assert "accepted" in said.lower()
    assert "damaged" in said
    assert len(list(store.parent.glob("*.aside-*"))) == 1


def test_a_read_only_home_is_told(invoke, monkeypatch):
    monkeypatch.setenv(PATH_VARIABLE, "/proc/mha-judge/p.sqlite3")  # not even root may write there
    assert "name another file" in invoke("next", expected=8)


def test_the_list_marks_what_is_begun_and_what_is_solved(invoke, store, begun, learner, tmp_path):
    invoke("start", "softmax")
    hand_in(learner, "softmax", path=tmp_path / "softmax.py", accepted=True)

    said = invoke("list")
    rows = [line for line in said.splitlines() if line.startswith("  ")]
    signs = {line[4:].split()[0]: line[2] for line in rows}

    assert (signs["sdpa"], signs["softmax"], signs["gqa"]) == ("●", "✓", " ")
    assert "✓ solved · ● begun" in said


@pytest.mark.slow
def test_a_report_names_a_mistake_once_a_hint_has(invoke, learner, tmp_path):
    invoke("start", "softmax")
    wrong = RIGHT.replace("x - x.max(axis, keepdims=True)", "x")
    (tmp_path / "softmax.py").write_text(wrong)

    before = invoke("run", "softmax.py", "--sandbox", "jail", expected=1)
    offered = invoke("hint", "softmax")
    revealed = invoke("run", "softmax.py", "--sandbox", "jail", "--reveal", "full", expected=1)
    invoke("hint", "softmax", "--yes")
    after = invoke("run", "softmax.py", "--sandbox", "jail", expected=1)

    name = "The exponentials overflow"
    assert name not in before and name not in offered
    assert "One mistake explains" in before
    assert "`mha-judge hint softmax` helps, for a price" in before
    assert name in revealed and name in after
