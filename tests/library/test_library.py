"""`from mha_judge import Judge`: answers in, reports out, whatever the program around it does."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

import mha_judge
from mha_judge import (
    Graded,
    Judge,
    JudgeError,
    SandboxOptions,
    SandboxUnavailable,
    SubmissionUnreadable,
    UsageError,
    Verdict,
)

pytestmark = pytest.mark.slow
SOON_S = 4.0
"""Well below the 30 s that a submission which hangs has."""


def test_public_names_are_sorted_and_documented():
    assert mha_judge.__all__ == sorted(mha_judge.__all__)
    assert {name for name in mha_judge.__all__ if not getattr(mha_judge, name).__doc__} == set()
    with pytest.raises(AttributeError, match="no attribute 'grader'"):
        mha_judge.grader  # noqa: B018


def test_a_text_and_its_file_get_the_same_report(judge, right):
    told = []

    by_path = judge.grade(right, "softmax", seed=7)
    by_text = judge.grade(right.read_text("utf-8"), "softmax", seed=7, on_check=told.append)

    assert by_path.verdict is by_text.verdict is Verdict.ACCEPTED
    assert by_path.checks == by_text.checks
    assert [check.id for check in told] == [check.id for check in by_text.checks]


def test_a_wrong_answer_is_a_report_and_no_error(judge, wrong):
    report = judge.grade(str(wrong), "softmax")

    assert report.verdict is Verdict.REJECTED
    assert report.diagnoses
    assert judge.grade(wrong, "softmax", verdict_only=True).verdict_only


def test_a_problem_is_found_where_the_answer_says_it(judge, right):
    text = f"# problem: softmax\n{right.read_text('utf-8')}"

    assert judge.grade(text, verdict_only=True).problem == "softmax"
    assert judge.grade("def softmax(x):\n    return x\n", verdict_only=True).problem == "softmax"
    with pytest.raises(UsageError, match="pass its id; it defines"):
        judge.grade("def answer(x):\n    return x\n")
    with pytest.raises(UsageError, match="did you mean softmax"):
        judge.grade(text, "sofmax")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("nowhere.py", "there is no such file"),
        ("\n\n", "is empty"),
        ("x = '\ud800'\n", "not Unicode"),
        ("x = 1\0\n", "NUL bytes"),
        ("x = 1\0", "is no path"),
        ("", "is empty; write an answer first"),
        ("x = '\ud800'", "is no path"),
        ("x" * 5_000, "cannot be opened"),
        ("#\n" * 200_000, "larger than 256 KiB"),
    ],
)
def test_what_cannot_be_read_is_refused(judge, answer, words):
    with pytest.raises(SubmissionUnreadable, match=words):
        judge.grade(answer, "softmax")


def test_what_is_no_answer_at_all_is_refused(judge, right):
    with pytest.raises(UsageError, match="not a bytes"):
        judge.grade(b"x = 1\n", "softmax")
    with pytest.raises(UsageError, match="in a list"):
        list(judge.grade_many(str(right)))
    graded = list(judge.grade_many([("x\0", "softmax"), (b"x", "softmax"), (right, "softmax")]))
    assert [one.report is None for one in graded] == [True, True, False]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "must be 1 or more"),
        ({"sandbox": "none"}, "unconfined; pass unsafe=True"),
        ({"sandbox": "jial"}, "no sandbox 'jial'"),
        ({"device": "tpu"}, "no device 'tpu'"),
        ({"sandbox": SandboxOptions("jail"), "device": "cpu"}, "say the rest in it"),
        ({"bank": "/"}, "is not a bank"),
    ],
)
def test_what_does_not_fit_together_is_refused(options, words):
    with pytest.raises(JudgeError, match=words):
        Judge(**options)


@pytest.mark.parametrize("seed", [-1, 2**53])
def test_a_seed_that_json_cannot_hold_is_refused(judge, right, seed):
    with pytest.raises(UsageError, match="the seed is"):
        judge.grade(right, "softmax", seed=seed)


def test_many_answers_come_in_their_order_and_one_without_a_verdict_stops_no_other(
    judge, right, wrong
):
    told = []
    answers = [(right, "softmax"), "nowhere.py", (wrong, "softmax"), (right, "sofmax")]

    graded = list(judge.grade_many(answers, progress=told.append))

    assert [one.report and one.report.verdict.value for one in graded] == [
        "accepted", None, "rejected", None,
    ]  # fmt: skip
    assert [type(one.error) for one in graded if one.error] == [SubmissionUnreadable, UsageError]
    assert len({one.report.seed for one in graded if one.report}) == 1
    assert sorted(told, key=repr) == sorted(graded, key=repr)


def test_answers_are_taken_as_there_is_room(judge, right):
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield right, "softmax"

    some = judge.grade_many(endless(), verdict_only=True)
    first = next(some)
    some.close()

    assert isinstance(first, Graded)
    assert len(taken) <= 40
    assert judge.grade(right, "softmax", verdict_only=True).verdict is Verdict.ACCEPTED


def test_a_judge_that_is_warmed_up_has_started_what_grades_the_first_answer(right):
    with Judge(sandbox="jail", workers=1, quiet=True) as judge:
        judge.warm_up()
        judge.warm_up()
        (process,) = judge._workforce._idle
        assert judge.grade(right, "softmax", verdict_only=True).verdict is Verdict.ACCEPTED
        assert judge._workforce._idle == [process]
        assert process.grades == 1


def test_a_judge_that_is_closed_while_it_warms_up_leaves_nothing_behind():
    judge = Judge(sandbox="jail", workers=1)
    judge.warm_up()
    (process,) = judge._workforce._idle

    judge.close()

    assert process.has_ended
    judge.warm_up()
    assert not judge._workforce._idle


def test_several_threads_may_use_one_judge(judge, right, wrong):
    with ThreadPoolExecutor(8) as threads:
        asked = [right, wrong] * 8
        reports = list(threads.map(lambda one: judge.grade(one, "softmax", seed=1), asked))

    assert [report.verdict.value for report in reports] == ["accepted", "rejected"] * 8


def test_a_process_that_dies_is_no_verdict():
    with Judge(sandbox="jail", workers=1) as judge:
        asked = judge.submit("# problem: softmax\nwhile True:\n    pass\n")
        while asked.started_at is None:
            time.sleep(0.05)
        asked._process._process.kill()
        with pytest.raises(JudgeError, match="ended"):
            asked.future.result(timeout=SOON_S)


def test_an_idle_process_that_was_killed_costs_nobody_a_verdict(right):
    with Judge(sandbox="jail", workers=1) as judge:
        judge.grade(right, "softmax", verdict_only=True)
        (process,) = judge._workforce._idle
        process._process.kill()
        process._process.wait()

        assert judge.grade(right, "softmax", verdict_only=True).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("error", [OSError(24, "Too many open files"), MemoryError()])
def test_a_process_that_cannot_be_started_is_no_verdict_and_no_end(right, monkeypatch, error):
    with Judge(sandbox="jail", workers=1) as judge:
        with monkeypatch.context() as patch:

            def refuse(*_):
                raise error

            patch.setattr("multiprocessing.Pipe", refuse)
            with pytest.raises((JudgeError, MemoryError)):
                judge.submit(right, "softmax").future.result(timeout=SOON_S)

        assert judge.grade(right, "softmax", verdict_only=True).verdict is Verdict.ACCEPTED


def test_who_is_told_checks_may_fail(judge, right):
    def leave(_):
        raise SystemExit("enough")

    for _ in range(3):
        with pytest.raises(SystemExit):
            judge.submit(right, "softmax", on_check=leave).future.result(timeout=60)
    assert judge.grade(right, "softmax", verdict_only=True).verdict is Verdict.ACCEPTED


def test_closing_wakes_who_awaits_a_turn(hangs, right):
    judge = Judge(sandbox="jail", workers=1)
    judge.submit(hangs)

    async def main():
        with pytest.raises(JudgeError, match="the judge was closed"):
            await judge.agrade(right, "softmax")

    closing = threading.Timer(1.0, judge.close)
    closing.start()
    anyio.run(main)


def test_closing_ends_what_is_being_graded(hangs, right):
    judge = Judge(sandbox="jail", workers=1)
    waiting = [judge.submit(hangs), judge.submit(right, "softmax")]
    found = []

    def wait():
        with pytest.raises(JudgeError, match="the judge was closed") as caught:
            judge.grade(hangs)
        found.append(caught)

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.5)
    judge.close()
    waiter.join()

    assert found
    assert all(one.future.cancelled() or one.future.exception() for one in waiting)
    with pytest.raises(JudgeError, match="is closed"):
        judge.grade(right, "softmax")


def test_a_sandbox_that_cannot_be_had_is_an_error(right):
    from mha_judge.sandbox import Settings

    with (
        Judge(sandbox=SandboxOptions("container", container=Settings(image="none:here"))) as judge,
        pytest.raises(SandboxUnavailable),
    ):
        judge.grade(right, "softmax")


@pytest.mark.parametrize("backend", ["asyncio"])
def test_many_may_be_awaited_at_once(judge, right, wrong, backend):
    verdicts = {}

    async def grade(number, answer):
        verdicts[number] = (await judge.agrade(answer, "softmax", verdict_only=True)).verdict.value

    async def main():
        async with anyio.create_task_group() as group:
            for number in range(60):  # more than anyio has threads for others
                group.start_soon(grade, number, wrong if number % 2 else right)
        many = judge.agrade_many([(right, "softmax"), "nowhere.py"], verdict_only=True)
        return [one.report is not None async for one in many]

    assert anyio.run(main, backend=backend) == [True, False]
    assert [verdicts[number] for number in range(60)] == ["accepted", "rejected"] * 30


def test_cancelling_ends_a_grade(judge, hangs, right):
    async def main():
        with anyio.move_on_after(1.0) as scope:
            await judge.agrade(hangs)
        return scope.cancelled_caught

    assert anyio.run(main)
    assert judge.grade(right, "softmax", verdict_only=True).verdict is Verdict.ACCEPTED


def test_problems_and_statements_can_be_read(judge):
    found = {one.id: one for one in judge.problems()}

    assert found["sdpa"].title and found["sdpa"].track == "basics"
    assert "softmax" in judge.statement("sdpa")
    assert judge.statement("sdpa", "zh") != judge.statement("sdpa")
    with pytest.raises(UsageError, match="no language 'fr'"):
        judge.statement("sdpa", "fr")
    with pytest.raises(UsageError, match="no problem 'sdap'"):
        judge.statement("sdap")


FORGETFUL = """
    import sys, time
    from mha_judge import Judge

    judge = Judge(sandbox="jail", workers=1)
    print(judge.grade({right!r}, "softmax", verdict_only=True).verdict, flush=True)
    assert "torch" not in sys.modules
    asked = judge.submit({hangs!r})
    while asked.started_at is None:
        time.sleep(0.01)
    print(asked._process._process.pid, flush=True)
    {end}
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "time.sleep(60)"])
def test_no_process_is_left_however_a_program_ends(tmp_path, right, hangs, end):
    """The program has no `if __name__ == "__main__"`, and its folder has a file to stumble over."""
    (tmp_path / "random.py").write_text("raise SystemExit('imported from the folder')\n", "utf-8")
    program = textwrap.dedent(FORGETFUL).format(right=str(right), hangs=hangs, end=end)
    with subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as started:
        verdict, process = (started.stdout.readline().strip() for _ in range(2))
        if "sleep" in end:
            started.send_signal(signal.SIGKILL)
        code = started.wait(SOON_S)

    assert verdict == "accepted"
    assert code == {"": 0, "raise SystemExit(3)": 3}.get(end, -signal.SIGKILL)
    deadline = time.monotonic() + SOON_S
    while _is_alive(int(process)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _is_alive(int(process))


def _is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat").read_text("ascii")
    return status.rsplit(")", 1)[1].split()[0] != "Z"
