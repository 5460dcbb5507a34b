"""A mock interview at a desk, with a clock that is set and a judge that says what it is told."""

import asyncio
import json
from pathlib import Path

import pytest
from practising import BANK, Clock
from practising_app import FakeJudge, report_on

from mha_judge.app.session import Session
from mha_judge.practice.progress import Progress
from mha_judge.report.models import SubmissionInfo
from mha_judge.web_practice.desk import Desk
from mha_judge.web_practice.messages import read
from mha_judge.web_practice.words import PAGE_WORDS

WRONG = "def answer(x):\n    return x\n"
RIGHT = "def answer(x):\n    return right(x)\n"


class Judge(FakeJudge):
    """Its reports say which text they are on, as an interview wants to know."""

    def _grade(self, grading, on_check):
        submission = grading.job.submission
        report = report_on(submission.source, grading.job.problem)
        told = SubmissionInfo(path="answer.py", sha256=submission.sha256)
        grading.future.set_result(report.model_copy(update={"submission": told}))


class AtTheDesk:
    """A page, and what it is told."""

    def __init__(self, desk):
        self.desk = desk
        self.page = desk.enter()
        self.heard = []

    def say(self, **message):
        self.desk.take(self.page, read(json.dumps(message)))

    async def next(self, kind, fits=lambda _: True):
        async with asyncio.timeout(20):
            while True:
                message = json.loads(await self.page.next())
                self.heard.append(message)
                if message["kind"] == kind and fits(message):
                    return message

    async def state(self, fits):
        return await self.next("state", lambda one: one.get("interview") and fits(one["interview"]))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def session(tmp_path, clock):
    with Progress(tmp_path / "progress.sqlite3") as progress:
        made = Session(
            BANK, progress, Judge, folder=tmp_path, first="softmax", clock=clock, words=PAGE_WORDS
        )
        yield made
        made.close()


def held(session, talk):
    """Hold a conversation at a desk that is running."""

    async def all_of_it():
        desk = Desk(session, tries=None)
        running = asyncio.create_task(desk.run())
        await asyncio.sleep(0)  # it listens before anybody asks
        await talk(AtTheDesk(desk))
        running.cancel()

    asyncio.run(all_of_it())


def test_an_interview_goes_from_problems_to_questions_to_its_files(session):
    async def talk(at):
        at.say(kind="interview", minutes=45, track=None)
        for number in (1, 2):
            shown = await at.state(lambda one, n=number: one["task"] and one["task"]["number"] == n)
            at.say(kind="run", problem=shown["problem"], text=RIGHT, over=shown["file"]["version"])
            graded = await at.state(lambda one: one["task"] and one["task"]["points"] == 100)
            assert not any(check.get("message") for check in graded["run"]["report"]["checks"])
            at.say(kind="open", problem="gqa")
            assert "going on" in (await at.next("refused"))["why"]
            at.say(kind="hand in")
        while True:
            told = (await at.state(lambda one: one["question"] or one["said"] or one["ended"]))[
                "interview"
            ]
            if told["ended"]:
                break
            if told["said"]:
                assert told["said"]["told"]
                at.say(kind="next")
            elif "choices" in told["question"]:
                at.say(kind="choose", letter="z")
                await at.next("refused")
                at.say(kind="choose", letter="a")
            elif told["question"]["answer"] is None:
                assert not told["question"]["good"]
                at.say(kind="answer", text="because")
            else:
                assert told["question"]["good"]
                at.say(kind="mark", mark=4)
        assert all(Path(path).exists() for path in told["ended"]["paths"])
        at.say(kind="open", problem="gqa")
        await at.next("state", lambda one: one["problem"] == "gqa" and one["interview"] is None)

    held(session, talk)


def test_when_time_is_up_what_was_saved_counts(session, clock):
    async def talk(at):
        at.say(kind="interview", minutes=45, track=None)
        shown = await at.state(lambda one: one["task"])
        Path(shown["path"]).write_text(WRONG, "utf-8")  # and nobody has it graded
        clock.wait(minutes=46)
        await at.state(lambda one: one["task"] and one["left_s"] == 0)
        clock.wait(seconds=10)
        after = await at.state(lambda one: one["task"] is None)
        assert after["interview"]["question"]
        [attempt] = session.learner.progress.attempts()
        assert (attempt.source, attempt.score) == (WRONG, 70)

    held(session, talk)


def test_an_interview_that_was_left_goes_on(session, clock):
    async def talk(at):
        at.say(kind="interview", minutes=45, track=None)
        await at.state(lambda one: one["task"])
        at.say(kind="leave")
        await at.next("contents", lambda one: one["interview"])
        clock.wait(minutes=5)
        at.say(kind="resume")
        there = await at.state(lambda one: one["task"])
        assert there["interview"]["left_s"] == 40 * 60

    held(session, talk)


def test_nothing_but_its_problem_is_shown_and_no_question_before_its_turn(session):
    async def talk(at):
        at.say(kind="open", problem="gqa")
        at.say(kind="begin")
        other = await at.next("state", lambda one: one["problem"] == "gqa" and one["file"])
        at.say(kind="interview", minutes=45, track=None)
        shown = await at.state(lambda one: one["task"])
        Path(other["path"]).write_text(WRONG, "utf-8")  # in an editor that is still open
        await asyncio.sleep(1)
        for asked in (
            {"kind": "run", "problem": "gqa", "text": RIGHT, "over": other["file"]["version"]},
            {"kind": "choose", "letter": "a"},
            {"kind": "answer", "text": "because"},
        ):
            at.say(**asked)
            await at.next("refused", lambda one, what=asked["kind"]: one["what"] == what)
        at.say(kind="run", problem=shown["problem"], text=RIGHT, over=shown["file"]["version"])
        graded = await at.state(lambda one: one["task"] and one["task"]["points"] == 100)
        since = at.heard[at.heard.index(shown) :]
        assert {one["problem"] for one in since if one["kind"] == "state"} == {graded["problem"]}

    held(session, talk)


def test_a_track_is_chosen_in_either_language(session):
    async def talk(at):
        at.say(kind="language")
        contents = await at.next("contents", lambda one: one["tracks"][0][1] == "基础")
        at.say(kind="interview", minutes=45, track=contents["tracks"][0][0])
        await at.state(lambda one: one["task"])

    held(session, talk)


def test_there_is_none_to_go_on_with(session):
    async def talk(at):
        at.say(kind="resume")
        assert "No interview" in (await at.next("refused"))["why"]
        at.say(kind="interview", minutes=45, track="no such track")
        assert "no such track" in (await at.next("refused"))["why"]

    held(session, talk)
