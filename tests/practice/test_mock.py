"""The mock interview: what is asked, its clock, that it survives, and what it leaves behind."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from practising import BANK, report_of

from mha_judge.app import interview as terminal
from mha_judge.bank.listing import summaries
from mha_judge.cli import main
from mha_judge.cli import mock as command
from mha_judge.errors import JudgeError, UsageError
from mha_judge.packet import bundle
from mha_judge.practice import reviews
from mha_judge.practice.learner import Learner
from mha_judge.practice.mock import Mock, Over, free_folder, open_interview
from mha_judge.practice.mock_choice import Wishes, choose
from mha_judge.practice.order import known
from mha_judge.practice.progress import Progress
from mha_judge.practice.standing import Standing
from mha_judge.render.practice import mock_files
from mha_judge.report.models import SubmissionInfo
from mha_judge.submission import Submission

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LINES = {line.id: line for line in summaries(BANK)}
QUESTION = "why_sqrt_d"


# what is asked


def solved(days, **more):
    time = NOW - timedelta(days=days)
    return Standing(tries=1, best=100, solved=time, last_solved=time, **more)


def chosen(standing=None, weak=None, minutes=45, track=None, seed=1, now=NOW):
    return choose(BANK, standing or {}, weak or {}, Wishes(minutes, track, seed), now)


def test_the_same_seed_asks_the_same_and_another_one_something_else():
    first = chosen(seed=5)

    assert chosen(seed=5) == first
    assert len({chosen(seed=seed).problems for seed in range(20)}) > 5
    assert len({chosen(seed=seed).questions for seed in range(20)}) > 10


@pytest.mark.parametrize("minutes", [10, 20, 30, 45, 60, 240])
def test_what_is_asked_fits_the_time(minutes):
    for seed in range(5):
        found = chosen(minutes=minutes, seed=seed)
        assert sum(LINES[problem].minutes for problem in found.problems) <= minutes
        assert len(found.questions) == 3
        assert {bool(one.id) for one in found.questions} == {True, False}
        assert {one.problem for one in found.questions if not one.id} == {found.problems[-1]}


def test_who_is_new_gets_a_warm_up_and_a_level_more():
    for seed in range(10):
        warm_up, main_one = (LINES[problem] for problem in chosen(seed=seed).problems)
        assert (warm_up.level, main_one.level) == (1, 2)


def test_the_warm_up_is_what_was_solved_longest_ago_and_the_main_problem_a_level_above():
    standing = {"sdpa": solved(60), "split-merge-heads": solved(90), "mhsa": solved(30)}

    for seed in range(10):
        warm_up, main_one = chosen(standing, seed=seed).problems
        assert warm_up == "split-merge-heads"
        assert LINES[main_one].level == 3


def test_what_was_solved_lately_is_not_asked():
    everything = {problem: solved(100) for problem in LINES}
    first = chosen(everything)
    lately = everything | dict.fromkeys(first.problems, solved(3))

    assert set(chosen(lately).problems).isdisjoint(first.problems)
    assert chosen(lately, now=NOW + timedelta(days=30)).problems[0] not in first.problems


def test_what_is_being_worked_on_is_left_alone():
    first = chosen(minutes=20).problems[-1]
    again = chosen({first: Standing(is_open=True)}, minutes=20).problems[-1]

    assert again != first
    begun = {name: Standing(is_open=True) for name, line in LINES.items() if line.track == "masks"}
    with pytest.raises(UsageError, match="begun already"):
        chosen(begun, track="masks")


def test_the_main_problem_builds_on_what_is_known():
    standing = {"softmax": solved(1), "sdpa": solved(1), "split-merge-heads": solved(1)}
    names = known(LINES.values(), standing)

    for seed in range(10):
        assert set(LINES[chosen(standing, seed=seed).problems[-1]].requires) <= names


def test_a_misconception_that_was_shown_is_asked_about():
    mistakes = list(BANK.questions("concepts")[QUESTION].wrong_by_id)

    for seed in range(10):
        assert chosen(weak={"concepts": mistakes[:1]}, seed=seed).questions[0].id == QUESTION
    assert any(chosen(seed=seed).questions[0].id != QUESTION for seed in range(10))
    many = [name for one in BANK.questions("concepts").values() for name in one.wrong_by_id]
    of_many = chosen(weak={"concepts": many}).questions
    assert [bool(one.id) for one in of_many] == [True, True, False]


@pytest.mark.parametrize("track", ["masks", "掩码"])
def test_the_main_problem_is_of_the_track(track):
    assert LINES[chosen(track=track).problems[-1]].track == "masks"


def test_a_statement_s_own_questions_are_not_asked_again():
    standing = {"complexity": Standing(is_open=True)}
    found = chosen(standing, track="questions")

    assert found.problems[-1] == "concepts"
    assert all(not one.id for one in found.questions if one.problem == "concepts")


@pytest.mark.parametrize(
    ("wishes", "remedy"),
    [
        ({"track": "mask"}, "'masks'.*'heads and groups'"),
        ({"minutes": 5}, "the shortest takes 10: pass --minutes 10"),
        ({"minutes": 20, "track": "backward"}, "--minutes 30 or more, or another --track"),
    ],
)
def test_what_cannot_be_had_is_told_with_a_remedy(wishes, remedy):
    with pytest.raises(UsageError, match=remedy):
        chosen(**wishes)


# the clock, and what is kept


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mock"


@pytest.fixture
def begun(learner, clock, folder):
    return Mock.begin(learner, Wishes(45, None, 3), folder, clock)


def reopened(store, clock):
    """Go on in another program, after the first was killed."""
    learner = Learner(BANK, Progress(store), clock)
    found = open_interview(learner.progress)
    mock = Mock(learner, found, clock)
    mock.go_on()
    return mock


def graded(mock, source, *, accepted=False, score=40.0):
    """Hand in an answer to the problem whose turn it is."""
    task = mock.task
    Path(task.path).write_text(source)
    submission = Submission.read(Path(task.path))
    report = report_of(task.problem, accepted=accepted, score=score)
    return submission, with_hash(report, submission)


def with_hash(report, submission):
    about = SubmissionInfo(path=str(submission.path), sha256=submission.sha256)
    return report.model_copy(update={"submission": about})


def test_the_clock_goes_on_while_nobody_looks(begun, clock, store):
    clock.wait(minutes=10)
    begun.save()
    clock.wait(minutes=20)

    assert reopened(store, clock).left_s() == 15 * 60
    clock.wait(days=2)
    assert reopened(store, clock).left_s() == 0


def test_a_clock_that_was_set_back_gives_no_time(begun, clock, store):
    clock.wait(minutes=30)
    begun.save()
    clock.wait(minutes=-60)

    assert begun.left_s() == 15 * 60
    assert reopened(store, clock).left_s() == 15 * 60
    clock.wait(minutes=70)
    assert reopened(store, clock).left_s() == 5 * 60


def step(mock):
    """Do the next thing of an interview."""
    task, asked = mock.task, mock.question
    if task is not None:
        is_main = task is mock.state.tasks[-1]
        if not task.path:
            mock.enter(task)
        elif not task.tries:
            mock.keep(*graded(mock, f"# {task.problem}\n", accepted=is_main))
        elif not task.hints and not is_main:
            mock.take(task, mock.offer(task, "en"))
        else:
            mock.leave(task, Over.DONE)
    elif asked.id:
        question = mock.with_choices(asked)
        mock.choose(asked, question, question.right, "en")
    elif asked.answer is None:
        mock.answer(asked, mock.open_one(asked, "en"), "because")
    else:
        mock.mark(asked, 5 - asked.number)


def test_it_can_be_gone_on_with_after_each_step(begun, clock, store):
    mock, count = begun, 0
    while mock.task or mock.question:
        clock.wait(minutes=1)
        step(mock)
        again = reopened(store, clock)
        assert again.state == mock.state
        mock, count = again, count + 1

    assert count == 12
    assert mock.left_s() == 33 * 60
    assert [(task.tries, task.points, task.hints) for task in mock.state.tasks] == [
        (1, 40.0, 2.0),
        (1, 100.0, 0.0),
    ]
    assert [one.right for one in mock.state.questions] == [True, None, None]
    assert all(one.mark == 5 - one.number for one in mock.state.questions if not one.id)


@pytest.mark.parametrize("when", ["before the attempt is kept", "after it was kept"])
def test_an_answer_counts_once_whenever_the_program_is_killed(
    begun, clock, store, monkeypatch, when
):
    begun.enter(begun.task)
    answer = graded(begun, "# an answer\n", score=70.0)
    keep = Learner.keep

    def killed(learner, *args):
        if when.startswith("after"):
            keep(learner, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            begun.keep(*answer)
    for _ in range(2):
        mock = reopened(store, clock)

    task = mock.task
    assert (task.tries, task.points, task.best.source) == (1, 70.0, "# an answer\n")
    assert mock.state.unkept is None
    assert len(Progress(store).attempts()) == 1


def test_a_starter_is_not_written_twice(begun, clock, store, folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Mock, "save", lambda self: exec("raise KeyboardInterrupt"))
        with pytest.raises(KeyboardInterrupt):
            begun.enter(begun.task)
    mock = reopened(store, clock)
    mock.enter(mock.task)

    assert [str(path) for path in folder.iterdir()] == [mock.task.path]
    assert len(Progress(store).rounds()) == 1


def test_nothing_is_overwritten(begun, folder):
    name = f"{begun.task.problem.replace('-', '_')}.py"
    (folder / name).write_text("mine")
    begun.enter(begun.task)

    assert (folder / name).read_text() == "mine"
    assert Path(begun.task.path).read_text() == BANK.starter(begun.task.problem)
    assert free_folder(folder.parent, NOW).name == "mock-2026-03-02"
    free_folder(folder.parent, NOW).mkdir()
    assert free_folder(folder.parent, NOW).name == "mock-2026-03-02-2"


def test_the_best_answer_counts_with_what_hints_had_cost_by_then(begun):
    begun.enter(begun.task)
    task = begun.task
    begun.keep(*graded(begun, "# first\n", score=60.0))
    begun.take(task, begun.offer(task, "en"))
    begun.keep(*graded(begun, "# second\n", score=61.0))
    assert (task.points, task.best.source, task.tries) == (60.0, "# first\n", 2)
    begun.keep(*graded(begun, "# third\n", score=90.0))

    assert (task.points, task.best.source, task.hints) == (88.0, "# third\n", 2.0)
    assert [one.kept for one in begun._progress.attempts()] == [60.0, 59.0, 88.0]


def test_what_is_new_in_the_file_is_neither_the_starter_nor_graded(begun):
    begun.enter(begun.task)
    assert begun.news(begun.task) is None
    begun.keep(*graded(begun, "# first\n"))
    assert begun.news(begun.task) is None
    Path(begun.task.path).write_text("# second\n")
    assert begun.news(begun.task).source == "# second\n"


def test_a_problem_that_was_reset_meanwhile_can_be_answered(begun):
    begun.enter(begun.task)
    begun.keep(*graded(begun, "# first\n"))
    begun._progress.forget(begun.task.problem)
    begun.keep(*graded(begun, "# second\n", score=80.0))

    assert begun.task.points == 80.0
    assert len(begun._progress.attempts()) == 1


def test_two_terminals_do_not_write_over_each_other(begun, clock, store):
    other = reopened(store, clock)
    other.enter(other.task)

    with pytest.raises(UsageError, match="another terminal"):
        begun.save()
    assert reopened(store, clock).state == other.state


def test_a_new_one_ends_the_old_one_only_if_it_can_begin(begun, learner, clock, tmp_path):
    with pytest.raises(UsageError):
        Mock.begin(learner, Wishes(5, None, 1), tmp_path / "other", clock)
    assert open_interview(learner.progress).began == begun.began
    clock.wait(minutes=1)
    second = Mock.begin(learner, Wishes(45, None, 1), tmp_path / "other", clock)

    assert open_interview(learner.progress).began == second.began
    with pytest.raises(UsageError):
        begun.save()


def test_a_folder_that_cannot_be_written_is_told_before_the_clock_runs(learner, clock, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="name another folder"):
        Mock.begin(learner, Wishes(45, None, 1), tmp_path / "file" / "mock", clock)
    assert learner.progress.interviews() == []


def test_a_state_of_another_version_is_told(begun, learner, clock):
    interview = open_interview(learner.progress)
    interview.state["version"] = 2
    with pytest.raises(UsageError, match="--new"):
        Mock(learner, interview, clock)


def test_what_was_answered_wrong_is_a_misconception_that_comes_back(begun, learner, clock):
    question = BANK.questions("concepts")[QUESTION]
    [name, wrong] = next(iter(question.wrong_by_id.items()))
    asked = begun.state.questions[0].model_copy(update={"id": QUESTION, "problem": "concepts"})
    begun.state.questions[0] = asked
    card = reviews.of_mistake(f"concepts/{name}")

    assert not begun.choose(asked, question, wrong, "zh")
    assert asked.answer == wrong.text_zh
    first = learner.progress.card(card)
    assert first.rating == reviews.Rating.Again
    clock.wait(days=30)
    assert begun.choose(asked, question, question.right, "en")
    assert learner.progress.card(card).rating == reviews.Rating.Good
    assert len(learner.progress.cards()) == 1


def test_a_packet_writes_over_its_own_files_alone(begun, learner, folder, monkeypatch):
    begun.enter(begun.task)
    begun.keep(*graded(begun, "# first\n"))
    (folder / "mock.html").write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr(Mock, "save", lambda self, ended=False: ended and exec("raise OSError"))
        with pytest.raises(OSError):
            mock_files.write(begun, "en")
    written = mock_files.write(begun, "en")

    assert [path.name for path in written] == ["mock-2.html", "mock-2-questions.md"]
    assert (folder / "mock.html").read_text() == "mine"
    assert not (folder / "mock-3.html").exists()
    assert open_interview(learner.progress) is None


# in a terminal


class FakeJudge:
    """Knows from the first line what it has to say."""

    seed = 0

    def __init__(self, **_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def grade(self, submission, problem):
        word = submission.source.split()[1]
        if word == "stop":
            raise KeyboardInterrupt
        if word == "broken":
            raise JudgeError("the sandbox has broken; try again")
        FakeJudge.seed += 1
        report = report_of(problem, accepted=word == "right", score=60.0)
        return with_hash(report.model_copy(update={"seed": FakeJudge.seed}), submission)


class Typist:
    """Types lines, and writes answers meanwhile."""

    def __init__(self, store, tmp_path, monkeypatch):
        self.store, self.tmp_path = store, tmp_path
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("mha_judge.library.Judge", FakeJudge)
        monkeypatch.setattr(command, "_has_terminal", lambda: True)
        self._patch = monkeypatch

    def __call__(self, *args, typed="", writes=(), expected=0):
        """Run `mock`; before its file is read for the n-th time it gets the n-th of `writes`."""
        answers = iter(writes)

        def read(path, really=Submission.read):
            text = next(answers, None)
            if text is not None:
                Path(path).write_text(text)
            return really(path)

        self._patch.setattr("mha_judge.app.interview.Submission.read", staticmethod(read))
        result = CliRunner().invoke(main, ["mock", *map(str, args)], input=typed)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == expected, result.output
        return re.sub(r"\s+", " ", result.output)

    def state(self):
        with Progress(self.store) as progress:
            return progress.interviews()[-1]

    def minutes_go_by(self, minutes):
        with sqlite3.connect(self.store) as database:
            began = datetime.now(UTC) - timedelta(minutes=minutes)
            database.execute("UPDATE interview SET began = ?", (began.isoformat(),))


@pytest.fixture
def typist(store, tmp_path, monkeypatch):
    return Typist(store, tmp_path, monkeypatch)


WHOLE = "g\nh\ng\nh\ny\ng\nd\ng\ng\nd\nx\na\nit is so\nand so\n\n7\n3\n\n5\n"


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["45 minutes", "then Enter", "change the starter", "the sandbox has broken",
                "It costs 2 points", "Best so far: 98 points", "Question 3 of 3",
                "A good answer contains",
                "Own marks: 3, 5", "The interview is over"]),
        ("zh", ["45 分钟", "再按 Enter", "改动起始文件", "the sandbox has broken", "价格 2 分",
                "要看吗？ [y/N]：", "打几分（0 到 5）：",
                "最好成绩：98 分",
                "第 3 个问题（共 3 个）", "好的回答应包含", "自评：3、5", "面试结束"]),
    ],
)  # fmt: skip
def test_a_whole_interview(typist, language, words, tmp_path):
    said = typist(
        "--seed", 7, "--lang", language, "--folder", "mine",
        typed=WHOLE,
        writes=["# broken\n", "# wrong\n", "# right\n", None, "# stop\n", "# wrong again\n"],
    )  # fmt: skip

    for word in words:
        assert word in said
    ended = typist.state()
    assert ended.ended is not None
    warm_up, main_one = ended.state["tasks"]
    assert (warm_up["points"], warm_up["hints"], warm_up["tries"]) == (98.0, 2.0, 2)
    assert (main_one["points"], main_one["tries"], main_one["over"]) == (60.0, 1, "done")
    assert BANK.statement(warm_up["problem"], language).split("\n")[0].strip("# ") in said
    folder = tmp_path / "mine"
    evidence = bundle.read(folder / "mine.zip")
    assert {one.entry.problem for one in evidence.answers} == {
        warm_up["problem"],
        main_one["problem"],
    }
    assert all(one.entry.graded_with is not None for one in evidence.answers)
    assert "# right" in (folder / "mine.html").read_text()
    assert json.loads((folder / "mine.json").read_text())["language"] == language
    chosen = next(one for one in ended.state["questions"] if one["id"])
    asked = BANK.questions(chosen["problem"])[chosen["id"]]
    assert re.sub(r"\s+", " ", asked.explanation_in(language)) in said
    notes = (folder / "mine-questions.md").read_text()
    assert "    it is so\n    and so" in notes
    kept = json.loads((folder / "mine-questions.json").read_text())
    assert [one["mark"] for one in kept["questions"]] == [None, 3, 5]
    assert kept["questions"][0]["right"] is not None
    with Progress(typist.store) as progress:
        assert len(progress.attempts()) == 3


def test_who_leaves_goes_on_where_it_was(typist):
    assert "the clock goes on; minutes left: 45" in typist("--seed", 7, typed="q\n")
    assert "wrong" not in typist(typed="", writes=[])
    first = typist("--minutes", 60, typed="g\nd\n", writes=["# right\n"])
    assert "goes on; minutes left: 45" in first and "--minutes: only a new" in first
    assert typist.state().state["tasks"][0]["accepted"]
    typist(typed="d\ny\na\n")
    assert typist.state().state["questions"][0]["answer"]
    said = typist(typed="because\n\n")
    assert "Question 2 of 3" in said and "Question 1" not in said
    said = typist(typed="2\n\n2\n")
    assert "because" in said and "interview is over" in said
    assert typist.state().ended is not None


def test_time_that_is_up_ends_the_problems(typist):
    typist("--seed", 7, typed="q\n")
    path = Path(typist.state().state["tasks"][0]["path"])
    path.write_text("# right\n")
    typist.minutes_go_by(46)
    said = typist(typed="a\n\n1\n\n1\n")

    assert "Time is up" in said and "Time: 45 of 45 minutes" in said
    state = typist.state().state
    assert [task["over"] for task in state["tasks"]] == ["time is up"] * 2
    assert state["tasks"][0]["points"] == 100  # what was in the file counts
    assert state["tasks"][1]["path"] == ""
    assert "nothing was handed in" in said


def test_an_answer_that_cannot_be_graded_at_the_end_may_be_left(typist):
    typist("--seed", 7, typed="q\n")
    Path(typist.state().state["tasks"][0]["path"]).write_text("# broken\n")
    typist.minutes_go_by(46)

    assert "clock goes on" in typist(typed="n\n")
    assert "Question 1" in typist(typed="y\n")


def test_a_file_that_is_gone_is_told(typist):
    typist("--seed", 7, typed="q\n")
    Path(typist.state().state["tasks"][0]["path"]).unlink()
    said = typist(typed="g\nd\nn\n")
    assert "there is no such file" in said and "Go on all the same" in said
    assert typist.state().state["tasks"][0]["over"] is None


def test_an_interview_without_an_answer_has_its_questions_alone(typist, tmp_path):
    typed = "d\nn\nd\ny\nd\ny\na\n\n0\n\n0\n"
    said = typist("--seed", 7, "--folder", "mine", typed=typed)
    assert said.count("There are no points for it yet") == 3
    names = sorted(path.name for path in (tmp_path / "mine").glob("mine*"))
    assert names == ["mine-questions.json", "mine-questions.md"]


def test_what_has_left_the_bank_is_left_out(typist, learner):
    typist("--seed", 7, typed="q\n")
    interview = typist.state()
    interview.state["tasks"][0]["problem"] = "no-such-problem"
    interview.state["questions"][0]["id"] = "no_such_question"
    interview.state["questions"][1]["number"] = 99
    learner.progress.put_interview(interview.id, interview.state)
    said = typist(typed="d\ny\n\n1\n")

    assert said.count("not in the bank any more") == 3
    assert "Question 3 of 3" in said and "interview is over" in said


def test_hints_that_were_paid_for_are_told_again(typist):
    typist("--seed", 7, typed="g\nh\ny\n", writes=["# wrong\n"])
    task = typist.state().state["tasks"][0]["problem"]
    with Progress(typist.store) as progress:
        [(_, hint)] = Learner(BANK, progress).told(task, "en")
    assert hint[:60] in typist(typed="q\n")


def test_a_new_interview_can_be_asked_for(typist):
    typist("--seed", 7, typed="q\n")
    typist("--new", "--minutes", 20, "--folder", "other", typed="q\n")
    with Progress(typist.store) as progress:
        old, new = progress.interviews()
    assert old.ended is not None and new.ended is None
    assert new.state["minutes"] == 20


def test_a_folder_can_be_changed_on_the_way(typist, tmp_path):
    typist("--seed", 7, typed="q\n")
    typist("--folder", "later", typed="d\ny\nd\ny\na\n\n0\n\n0\n")
    assert (tmp_path / "later" / "later-questions.md").exists()


def test_json_tells_how_it_stands_and_begins_nothing(typist, tmp_path):
    def told(*args):
        result = CliRunner().invoke(main, ["mock", "--json", *args])
        assert result.exit_code == 0, result.output
        return json.loads(result.output)

    planned = told("--seed", "7", "--minutes", "60")
    assert (planned["began"], planned["left_minutes"]) == (None, 60)
    with Progress(typist.store) as progress:
        assert progress.interviews() == []
    assert list(tmp_path.glob("mock-*")) == []
    typist("--seed", 7, "--minutes", 60, typed="g\nq\n", writes=["# wrong\n"])
    typist.minutes_go_by(20)
    stands = told()
    assert stands["began"] is not None and 39 < stands["left_minutes"] <= 40
    assert [one["problem"] for one in stands["problems"]] == [
        one["problem"] for one in planned["problems"]
    ]
    assert stands["problems"][0]["points"] == 60
    assert all(not one["question"] for one in stands["questions"])


@pytest.mark.parametrize(
    ("args", "remedy"),
    [
        (["--minutes", "4"], "5<=x<=240"),
        (["--minutes", "241"], "5<=x<=240"),
        (["--minutes", "5"], "pass --minutes 10"),
        (["--track", "mask"], "'masks'"),
        (["--folder", "file/mock"], "name another folder"),
    ],
)
def test_bad_wishes_are_told(typist, tmp_path, args, remedy):
    (tmp_path / "file").write_text("")
    assert remedy in typist(*args, expected=2)


def test_without_a_terminal_there_is_no_interview(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["mock"])
    assert result.exit_code == 2
    assert "needs a terminal" in result.output and "--json" in result.output
    assert not store.exists()


def test_waiting_for_a_line_ends_with_the_time(monkeypatch):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        left = iter([0.02, 0.01, 0.0])
        assert terminal._line("> ", lambda: next(left)) is None
        os.write(ours, b"g\n")
        assert terminal._line("> ", lambda: 9.0) == "g"
    os.close(ours)


PROGRAM = """
import sys
sys.path[:0] = {folders!r}
import mha_judge.library
from mha_judge.cli import entry
from test_mock import FakeJudge
mha_judge.library.Judge = FakeJudge
sys.argv = ["mha-judge", "mock", *{args!r}]
entry()
"""


class Terminal:
    """A `mock` in a terminal of its own."""

    def __init__(self, *args):
        self._judge, other = pty.openpty()
        here = Path(__file__).parent
        program = PROGRAM.format(folders=[str(here.parent), str(here)], args=args)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=other, stdout=other, stderr=other,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "200"}, start_new_session=True,
        )  # fmt: skip
        os.close(other)
        self._text = ""

    def until(self, words, within_s=60):
        deadline = time.monotonic() + within_s
        while words not in self._text:
            assert time.monotonic() < deadline, self._text[-2000:]
            if select.select([self._judge], [], [], 1)[0]:
                try:
                    new = os.read(self._judge, 1 << 16)
                except OSError:  # the other end is gone
                    new = b""
                assert new, self._text[-2000:]
                self._text += new.decode("utf-8", "replace")
        self._text = self._text[self._text.index(words) + len(words) :]

    def interrupt(self, words):
        """Press Ctrl-C until there are these words: `input` hears none that comes as it begins."""
        for _ in range(10):
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(AssertionError):
                return self.until(words, within_s=5)
        raise AssertionError(self._text[-2000:])

    def type(self, line):
        os.write(self._judge, f"{line}\n".encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._judge)


@pytest.mark.slow
def test_an_interview_survives_kill_9(store, tmp_path):
    folder = tmp_path / "mine"
    first = Terminal("--seed", "7", "--folder", str(folder), "--minutes", "20")
    first.until("min > ")
    [path] = folder.iterdir()
    path.write_text("# wrong\n")
    first.type("g")
    first.until("Best so far: 60")
    first.process.send_signal(signal.SIGKILL)
    first.close()
    second = Terminal()
    second.until("goes on; minutes left: 20")
    second.until("min > ")
    path.write_text("# right\n")
    for line, answer in [("g", "Best so far: 100"), ("d", "Question 1"), ("a", "Question 2")]:
        second.type(line)
        second.until(answer)
    second.until("Ctrl-C leaves.")
    second.interrupt("Everything is kept")
    assert second.process.wait(30) == 0
    second.close()
    third = Terminal()
    third.until("Ctrl-C leaves.")
    for line in ("mine", "", "4"):
        third.type(line)
    third.until("Question 3")
    for line in ("", "0"):
        third.type(line)
    third.until("Own marks: 4, 0")
    assert third.process.wait(30) == 0
    third.close()
    assert bundle.read(folder / "mine.zip").answers[0].report.score == 100
