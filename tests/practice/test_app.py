"""The app by its keys: what one sees, and what is kept."""

import functools
import os
import shlex
import stat
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from practising import BANK, hand_in
from practising_app import RIGHT, WRONG, CountingJudge, FakeJudge, Opened, use

from mha_judge import Judge
from mha_judge.app.app import PracticeApp
from mha_judge.app.editor import Manner, plan
from mha_judge.app.session import Session
from mha_judge.cli import main
from mha_judge.errors import JudgeError, ProgressUnavailable
from mha_judge.practice.learner import Learner
from mha_judge.practice.progress import PATH_VARIABLE, End, Progress

pytestmark = pytest.mark.slow

OVERFLOW = "The exponentials overflow"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def app(store, clock, folder):
    """Run the app with some steps; each test's has a store and a folder of its own."""
    return functools.partial(use, store=store, clock=clock, folder=folder)


def kept(store):
    with Progress(store) as progress:
        return progress.rounds(), progress.attempts()


# choosing and beginning


def test_it_opens_on_what_is_next_and_on_a_problem_that_is_named(app):
    async def proposed(one):
        await one.see("Next: A stable softmax", "A good first problem")
        assert one.session.current.id == "softmax"
        await one.see("turns any numbers into weights")

    async def named(one):
        await one.see("sdpa · level 1")
        assert one.session.current.id == "sdpa"

    app(proposed)
    app(named, first="sdpa")


def test_enter_shows_a_problem_and_enter_again_begins_it(app, folder, store):
    async def steps(one):
        await one.until(lambda: one.session.current is not None)
        await one.press("down", "down", "enter")
        await one.until(lambda: one.session.current.id == "sdpa", "choosing sdpa")
        assert not (folder / "sdpa.py").exists()
        await one.press("enter")
        await one.until((folder / "sdpa.py").exists, "writing the starter")
        await one.see("sdpa.py is written", "sdpa.py · 0 min")

    app(steps)
    assert (folder / "sdpa.py").read_text("utf-8") == BANK.starter("sdpa")
    assert [one.problem for one in kept(store)[0]] == ["sdpa"]


def test_a_starter_is_no_answer(app, folder):
    async def steps(one):
        await one.hand_in(await one.begin("softmax"), WRONG)
        await one.graded()
        await one.begin("sdpa")  # in the folder that is watched already
        await one.hand_in(folder / "sdpa.py", "def sdpa(): ...\n")

    assert app(steps).asked == [WRONG, "def sdpa(): ...\n"]


def test_a_file_that_lies_there_is_never_overwritten(app, folder, store):
    (folder / "softmax.py").write_text("mine\n", "utf-8")

    async def steps(one):
        assert await one.begin() == folder / "softmax.py"
        await one.see("was there already and stays as it is")
        await one.hand_in(folder / "softmax.py", RIGHT)
        await one.graded()
        await one.press("b")  # a review, from a fresh starter
        await one.until((folder / "softmax_2.py").exists)

    app(steps)
    assert (folder / "softmax.py").read_text("utf-8") == RIGHT
    assert (folder / "softmax_2.py").read_text("utf-8") == BANK.starter("softmax")
    assert [one.review for one in kept(store)[0]] == [False, True]


def test_a_file_that_was_deleted_is_written_anew_and_the_round_goes_on(app, folder, store):
    async def steps(one):
        path = await one.begin()
        await one.hand_in(path, WRONG)
        await one.graded()
        path.unlink()
        await one.app.main_screen._open("softmax")
        await one.see("is not there any more")
        await one.press("b")
        await one.until(path.exists)

    app(steps)
    rounds, attempts = kept(store)
    assert len(rounds) == len(attempts) == 1
    assert rounds[0].is_open


def test_a_folder_that_cannot_be_written_is_told_with_a_remedy(app, folder):
    (folder / "file").write_text("", "utf-8")

    async def steps(one):
        await one.until(lambda: one.session.current is not None)
        await one.press("b")
        await one.see("cannot be written", "name another folder")

    app(steps, folder=folder / "file")


def test_marks_say_how_one_stands(app, store, clock, folder):
    with Progress(store) as progress:
        learner = Learner(BANK, progress, clock)
        learner.begin_afresh("sdpa", folder)
        path = learner.begin_afresh("softmax", folder)
        hand_in(learner, "softmax", path=path, accepted=True)

    async def today(one):
        await one.see("● Scaled dot-product attention", "✓ A stable softmax", "· Cross-attention")

    async def later(one):
        await one.see("● Scaled dot-product attention", "↻ A stable softmax")

    app(today)
    clock.wait(days=40)
    app(later)


def test_a_problem_that_left_the_bank_is_not_shown_and_breaks_nothing(app, store, clock, folder):
    with Progress(store) as progress:
        progress.begin("old-one", str(folder / "old.py"), clock(), review=False)

    async def steps(one):
        await one.see("Next: A stable softmax")
        assert "old-one" not in one.text

    app(steps)


# handing in


def test_a_wrong_answer_shows_checks_then_what_explains_them(app, store):
    async def steps(one):
        path = await one.begin()
        one.judge.go_on.clear()
        await one.hand_in(path, WRONG)
        await one.see(
            "✓ Returns weights", "✗ Does not overflow", "– A vector is one row", "grading …"
        )
        assert kept(store)[1] == []
        one.judge.go_on.set()
        await one.see("REJECTED  70 / 100", "✗ Does not overflow", "(−15)", "h offers a hint")
        assert OVERFLOW not in one.text  # there is something left to think about
        await one.see("expected   actual", "attempt 1 · 0 min · 70 points")
        await one.press("2")
        await one.see("1 of 3 passed", "values 0/1")

    judge = app(steps)
    (attempt,) = kept(store)[1]
    assert (attempt.source, attempt.diagnoses) == (WRONG, ("no-max-subtraction",))
    assert judge.is_warm and judge.is_closed


def test_grading_is_stopped_and_is_no_attempt(app, store):
    async def steps(one):
        path = await one.begin()
        await one.press("x")
        await one.see("Nothing is being graded here.")
        one.judge.go_on.clear()
        await one.hand_in(path, WRONG)
        await one.see("grading …", "x Stop")
        await one.press("x")
        await one.see("There is no verdict: you stopped it")
        await one.until(lambda: one.judge.cancelled == [WRONG])
        assert "x Stop" not in one.footer
        one.judge.go_on.set()
        await one.hand_in(path, RIGHT)
        await one.see("ACCEPTED")

    app(steps)
    assert [attempt.source for attempt in kept(store)[1]] == [RIGHT]


def test_a_report_is_kept_before_it_is_shown(app, store, monkeypatch):
    seen = []

    async def steps(one):
        monkeypatch.setattr(Learner, "keep", lambda *_: seen.append("REJECTED" in one.text) or None)
        await one.hand_in(await one.begin(), WRONG)
        await one.see("REJECTED")

    app(steps)
    assert seen == [False]


def test_a_right_answer_ends_the_round_and_can_be_rated_otherwise(app, store):
    async def steps(one):
        await one.hand_in(await one.begin(), RIGHT)
        await one.see("ACCEPTED  100 / 100", "✓ solved", "v Rating", "Next: Scaled dot-product")
        await one.press("v")
        await one.see("How well did you know", "1  Again: I did not know it")
        await one.press("1")
        await one.see("Rated “Again”")

    app(steps)
    with Progress(store) as progress:
        assert progress.rounds()[0].end is End.SOLVED
        assert progress.card("problem:softmax").rating == 1


def test_a_file_that_does_not_load_shows_line_and_message(app):
    async def steps(one):
        await one.hand_in(await one.begin(), "def (\n")
        await one.see("DOES NOT LOAD", "line 1: invalid syntax", "    ^", "attempt 1")

    app(steps)


def test_a_file_that_cannot_be_read_is_told_and_is_no_attempt(app, store):
    async def steps(one):
        path = await one.begin()
        path.write_bytes(b"\xff\xfe")
        await one.press("r")
        await one.see("is not UTF-8 text", "save it as UTF-8")
        await one.hand_in(path, RIGHT)
        await one.see("ACCEPTED")

    app(steps)
    assert len(kept(store)[1]) == 1


def test_a_new_save_cancels_the_grade_before(app, store):
    async def steps(one):
        path = await one.begin()
        one.judge.go_on.clear()
        await one.hand_in(path, WRONG)
        await one.hand_in(path, RIGHT)
        await one.until(lambda: one.judge.cancelled == [WRONG], "cancelling")
        one.judge.go_on.set()
        await one.see("ACCEPTED")

    app(steps)
    assert [one.source for one in kept(store)[1]] == [RIGHT]


def test_that_there_is_no_verdict_is_a_sentence_and_the_app_goes_on(app, store):
    async def steps(one):
        path = await one.begin()
        one.judge.error = JudgeError("the sandbox is gone; start it again")
        await one.hand_in(path, WRONG)
        await one.see("There is no verdict: the sandbox is gone; start it again")
        one.judge.error = None
        await one.press("r")
        await one.see("REJECTED")

    app(steps)
    assert len(kept(store)[1]) == 1


def test_a_judge_that_cannot_be_had_is_a_sentence(app):
    async def steps(one):
        def refuse():
            raise JudgeError("no sandbox works here; see `mha-judge doctor`")

        one.session.background._open_grader = refuse
        one.session.background._grader = None
        path = await one.begin()
        path.write_text(WRONG, "utf-8")
        await one.press("r")
        await one.see("There is no verdict: no sandbox works here")

    app(steps)


def test_the_file_of_another_problem_that_is_saved_is_graded_and_shown(app, folder, store):
    async def steps(one):
        path = await one.begin()
        await one.app.main_screen._open("sdpa")
        await one.hand_in(path, RIGHT)
        await one.see("ACCEPTED")
        assert one.session.current.id == "softmax"

    app(steps)


# hints, solution, notes


def test_a_hint_names_its_price_first_and_is_paid_once(app, store):
    async def steps(one):
        await one.begin()
        await one.press("h")
        await one.see("A hint comes after a try: change the starter")
        await one.hand_in(one.session.state().path, WRONG)
        await one.graded()
        await one.press("h")
        await one.see("Hint 1 of 3", "a question to ask yourself", "costs 2 points")
        assert OVERFLOW not in one.text
        await one.press("escape")
        assert one.session.state().price == 0
        await one.press("h")
        await one.see("Hint 1 of 3")
        await one.press("y")
        await one.see("Which number may be subtracted", "68 points after hints (−2)")
        await one.press("h")
        await one.see("Hint 2 of 3", f"for “{OVERFLOW}", "hints have cost 2 so far")
        await one.press("enter")  # which agrees to nothing
        assert one.session.state().price == 2
        await one.press("h", "y")
        await one.see("63 points after hints (−7)")
        await one.press("3")
        await one.see(f"✗ {OVERFLOW}", "└ Does not overflow")

    app(steps)
    with Progress(store) as progress:
        assert [hint.price for hint in progress.hints(1)] == [2.0, 5.0]


def test_a_key_that_can_do_nothing_now_says_why(app):
    async def steps(one):
        await one.until(lambda: one.session.current is not None)
        await one.press(*"ehrs")
        assert one.told.count("It is not begun; b begins.") == 4
        await one.press("v")
        await one.see("It has not been rated yet; solve it first.")
        await one.begin()
        await one.press("b")
        await one.see("It is begun, in ")
        await one.press("s", "y")
        await one.until(lambda: one.app.screen is not one.app.main_screen, "the solution")
        await one.press("escape", "h")
        await one.see("This round is over")

    app(steps)


def test_the_solution_is_shown_after_giving_up_and_not_before(app, store):
    async def steps(one):
        await one.hand_in(await one.begin(), WRONG)
        await one.graded()
        await one.press("s")
        await one.see("Giving up ends the round")
        await one.press("n")
        await one.press("s", "enter")
        assert one.session.state().is_open
        await one.press("s", "y")
        await one.see("Solution: A stable softmax", "def softmax(x: np.ndarray", "It is given up")
        await one.press("end")
        await one.see("stable_softmax")
        await one.press("escape")
        await one.see("given up")
        await one.press("s")
        await one.see("Solution: A stable softmax")

    app(steps)
    assert kept(store)[0][0].end is End.GIVEN_UP


def test_notes_survive_a_restart_and_letters_in_them_are_no_keys(app, folder):
    async def write(one):
        await one.until(lambda: one.session.current is not None)
        await one.press("n")
        await one.see("Your notes on A stable softmax")
        await one.press(*"bqres 最大")
        await one.press("escape")

    async def read(one):
        await one.until(lambda: one.session.current is not None)
        await one.press("5")
        await one.see("bqres 最大")

    app(write)
    app(read)
    assert list(folder.iterdir()) == []


def test_notes_are_kept_when_one_quits_at_once(app, store):
    async def write(one):
        await one.until(lambda: one.session.current is not None)
        await one.press("n", *"now", "ctrl+q")

    app(write)
    with Progress(store) as progress:
        assert progress.note("softmax") == "now"


# language, window, help


def test_the_fine_print_comes_and_goes(app):
    async def steps(one):
        await one.begin()
        await one.press("enter", "end")
        await one.see("f shows the fine print")
        await one.press("f", "end")
        await one.see("are not graded.")
        await one.press("f", "end")
        await one.see("f shows the fine print")

    app(steps)


def test_the_language_changes_everywhere(app):
    async def steps(one):
        await one.hand_in(await one.begin(), WRONG)
        await one.see("REJECTED")
        await one.press("l")
        await one.see(
            "题目", "接下来", "未通过", "按 h 获取提示", "第 1 次", "退出", "缩放点积注意力"
        )
        await one.press("2")
        await one.see("✗ Does not overflow", "一维向量当作一行处理")
        await one.press("h")
        await one.see("第 1 条提示", "是")
        await one.press("escape", "question_mark")
        await one.see("左边按专题列出全部题目")
        await one.press("escape", "l")
        await one.see("Next:", "Task", "q Quit")

    app(steps)


def test_a_window_that_is_too_small_says_so_until_it_is_larger(app):
    async def steps(one):
        await one.see("Next:")
        await one.pilot.resize_terminal(50, 12)
        await one.see("This window is 50×12; the app needs 60×16.")
        assert "Next:" not in one.text
        await one.press("b")
        assert one.session.state().path is None
        await one.pilot.resize_terminal(55, 12)
        await one.see("This window is 55×12")
        await one.pilot.resize_terminal(80, 24)
        await one.see("Next:")

    async def from_the_start(one):
        await one.see("This window is 40×10")

    app(steps)
    app(from_the_start, size=(40, 10))


def test_all_keys_are_seen_in_80_columns_and_the_list_makes_room(app):
    async def steps(one):
        await one.see("Next:")
        await one.press("enter", "enter")
        await one.until(lambda: one.session.state().path is not None)
        await one.see("q Quit")
        for key in ("Esc Problems", "e Edit", "r Grade", "h Hint", "s Solution", "n Notes"):
            assert key in one.footer
        assert "Next:" not in one.text
        await one.press("escape")
        await one.see("Next:")
        await one.hand_in(one.session.state().path, RIGHT)
        await one.graded()
        await one.see("✓ solved")
        await one.until(lambda: "v Rating" in one.footer)
        assert "q Quit" in one.footer

    app(steps, size=(80, 24))


def test_in_80_columns_problems_are_told_apart_and_code_is_whole(app):
    async def steps(one):
        await one.see("· sdpa-numpy", "· mha-numpy", "· Split and merge heads")
        await one.until(lambda: "j over one axis of x" in " ".join(one.text.split()))

    app(steps, size=(80, 24))


def test_help_explains_the_keys(app):
    async def steps(one):
        await one.see("Next:")
        await one.press("question_mark")
        await one.see("next hint, for a price that is named first")
        await one.press("q")
        await one.see("Next:")

    app(steps, size=(60, 16))


# editors


def editor(folder, body):
    path = folder / "an editor"
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_an_editor_that_has_a_window_is_not_waited_for(app, tmp_path, folder, monkeypatch):
    code = tmp_path / "code"
    editor(tmp_path, "open(sys.argv[2], 'a').write('# edited')").rename(code)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    async def steps(one):
        path = await one.begin()
        await one.press("e")
        await one.until(lambda: path.read_text("utf-8").endswith("# edited"), "editing")

    app(steps, edit_cmd="code -g {file}")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-editor", "there is no program `no-such-editor`"),
        ("tmux no-such-command", "`tmux` ended with status 1"),
    ],
)
def test_an_editor_that_fails_is_a_sentence_and_nothing_is_lost(
    app, tmp_path, monkeypatch, command, words
):
    editor(tmp_path, "sys.exit(1)").rename(tmp_path / "tmux")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    async def steps(one):
        path = await one.begin()
        await one.press("e")
        await one.see(words, "pass --edit-cmd")
        await one.hand_in(path, RIGHT)
        await one.see("ACCEPTED")

    app(steps, edit_cmd=command)


def test_where_no_terminal_can_be_lent_an_editor_with_a_window_is_asked_for(app, folder):
    path = editor(folder, "")

    async def steps(one):
        await one.begin()
        await one.press("e")
        await one.see("There is no terminal here", "--edit-cmd")

    app(steps, edit_cmd=f"'{path}'")


@pytest.mark.parametrize(
    ("variables", "size", "command"),
    [
        ({"EDITOR": "vim -p"}, (80, 24), "vim -p FILE"),
        ({"VISUAL": "code --wait", "EDITOR": "vim"}, (80, 24), "code --wait FILE"),
        ({"EDITOR": "vim", "TMUX": "x"}, (140, 24), "tmux split-window -h"),
        ({"EDITOR": "vim", "TMUX": "x"}, (80, 50), "tmux split-window -v"),
        ({"EDITOR": "vim", "TMUX": "x"}, (80, 24), "tmux new-window -n softmax.py"),
        ({"EDITOR": "code", "TMUX": "x"}, (140, 24), "code FILE"),
        ({"EDITOR": "vim", "ZELLIJ": "0"}, (80, 24), "zellij run --close-on-exit"),
    ],
)
def test_an_editor_opens_where_it_has_room(tmp_path, variables, size, command):
    for name in ("vim", "code", "tmux", "zellij"):
        editor(tmp_path, "").rename(tmp_path / name)
    path = Path("/home/ada/softmax.py")

    made = plan(path, None, size, "en", {**variables, "PATH": str(tmp_path)})

    assert " ".join(made.command).replace(str(path), "FILE").startswith(command)
    assert (made.manner is Manner.WINDOW) == command.startswith("code")


def test_what_a_name_holds_is_no_command_to_tmux(tmp_path):
    for name in ("vim", "tmux"):
        editor(tmp_path, "").rename(tmp_path / name)
    path = Path("/a #(touch x)/soft max;#(y).py")

    environment = {"EDITOR": "vim", "TMUX": "x", "PATH": str(tmp_path)}
    *made, opened = plan(path, None, (80, 24), "en", environment).command

    assert not [word for word in made if "#(" in word.replace("##", "")]
    assert shlex.split(opened) == ["vim", str(path)]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("code -g {file}:1", ("code", "-g", "/home/ada/a b.py:1")),
        ("code --wait", ("code", "--wait", "/home/ada/a b.py")),
    ],
)
def test_a_command_of_ones_own_names_the_file_or_has_it_last(tmp_path, command, words):
    editor(tmp_path, "").rename(tmp_path / "code")

    made = plan(Path("/home/ada/a b.py"), command, (80, 24), "en", {"PATH": str(tmp_path)})

    assert made.command == words


# progress that cannot be kept, or is kept by another


def test_without_progress_everything_works_in_memory(app, store):
    async def steps(one):
        await one.hand_in(await one.begin(), WRONG)
        await one.see("attempt 1")
        await one.press("h", "y")
        await one.see("68 points after hints")

    app(steps, store=None)
    assert not store.exists()


def test_progress_that_cannot_be_kept_in_the_middle_is_said_and_the_app_goes_on(app, store):
    async def steps(one):
        path = await one.begin()
        one.session._progress._database.execute("PRAGMA query_only = ON")
        await one.hand_in(path, WRONG)
        await one.see("REJECTED", "! progress cannot be kept")
        one.session._progress._database.execute("PRAGMA query_only = OFF")
        await one.press("r")
        await one.see("attempt 1")
        await one.until(lambda: "! progress" not in one.text, "keeping again")

    app(steps)
    assert len(kept(store)[1]) == 1


def test_what_another_program_did_meanwhile_is_seen(app, store, clock):
    async def steps(one):
        path = await one.begin()
        await one.hand_in(path, WRONG)
        await one.graded()
        with Progress(store) as progress:
            assert progress.forget("softmax") == 1
        await one.app.on_app_focus()
        await one.see("· A stable softmax")
        await one.hand_in(path, RIGHT)  # begins again in the file that is there
        await one.see("ACCEPTED", "attempt 1")

    app(steps)
    rounds, attempts = kept(store)
    assert [one.end for one in rounds] == [End.SOLVED]
    assert len(attempts) == 1


def test_two_apps_use_one_store_and_keep_a_save_once(app, store, clock, folder):
    async def first(one):
        path = await one.begin()
        await one.hand_in(path, WRONG)
        await one.graded()
        other = FakeJudge()
        with Progress(store) as progress:
            session = Session(BANK, progress, lambda: other, folder=folder, clock=clock)
            beside = PracticeApp(session)
            async with beside.run_test(size=(100, 30)) as pilot:
                two = Opened(beside, pilot, other)
                await two.see("● A stable softmax", "answers so far: 1.")
                one.judge.go_on.clear()
                await two.hand_in(path, RIGHT)
                await two.see("ACCEPTED", "attempt 2")
                with Progress(store) as third:  # the clock stands still in tests
                    at = (clock() + timedelta(seconds=1)).isoformat()
                    third._database.execute("UPDATE attempt SET at = ? WHERE id = 2", (at,))
                one.judge.go_on.set()
                await one.see("ACCEPTED", "attempt 2", "✓ A stable softmax")
            session.close()

    app(first)
    rounds, attempts = kept(store)
    assert [one.end for one in rounds] == [End.SOLVED]
    assert [one.source for one in attempts] == [WRONG, RIGHT]


def test_what_belongs_to_a_round_that_was_forgotten_cannot_be_kept_and_says_so(store, clock):
    with Progress(store) as progress:
        round_ = progress.begin("softmax", "/a.py", clock(), review=False)
        progress.forget("softmax")
        with pytest.raises(ProgressUnavailable, match="has forgotten the round"):
            progress.add_hint(round_.id, "", 0, 2.0, clock())


# the command, and a judge that is none of ours


def test_without_a_terminal_it_says_what_next_says(store):
    run = functools.partial(CliRunner().invoke, main)

    practice, following = run(["practice"]), run(["next"])

    assert practice.exit_code == following.exit_code == 0
    assert practice.output.startswith(following.output)
    assert "needs a terminal" in practice.output
    assert "需要在终端中运行" in run(["practice", "--lang", "zh"]).output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sofmax"], "did you mean softmax"),
        (["--edit-cmd", "vim '"], "close its quotation marks"),
        (["--edit-cmd", " "], "name a program"),
    ],
)
def test_what_is_asked_wrongly_is_told_with_a_remedy(store, arguments, words):
    done = CliRunner().invoke(main, ["practice", *arguments])

    assert done.exit_code == 2
    assert words in done.output


def test_progress_that_cannot_be_read_is_a_sentence_and_can_be_left_out(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "file" / "p.sqlite3"))

    done = CliRunner().invoke(main, ["practice"])

    assert done.exit_code == 8
    assert "pass --no-progress" in done.output
    assert CliRunner().invoke(main, ["practice", "--no-progress"]).exit_code == 0


def test_a_judge_grades_a_wrong_answer_and_explains_it(app, store):
    wrong = Path(__file__).parents[1] / "submissions" / "softmax" / "wrong_no_maximum.py"
    judge = Judge(sandbox="jail", device="cpu", workers=1)
    counted = CountingJudge(judge)

    async def steps(one):
        await one.hand_in(await one.begin(), wrong.read_text("utf-8"))
        await one.see("REJECTED  85 / 100", "(−15)", "A small call that goes wrong")

    app(steps, judge=counted)
    assert kept(store)[1][0].diagnoses == ("no-max-subtraction",)
    assert not counted.processes()
