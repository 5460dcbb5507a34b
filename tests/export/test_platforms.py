"""Each export, run as its platform runs it, by the script that the platform's pages name."""

import json
import re
import shutil
import zipfile
from datetime import datetime
from typing import Annotated, Literal

import pytest
from export.machine import CLASSROOM50, FILE, PROBLEM, action_steps
from pydantic import BaseModel, ConfigDict, Field

pytestmark = pytest.mark.slow

SAID = "does not answer"
"""In what is said where there is no sandbox."""


class _Model(BaseModel):
    """What a page documents; nothing else may be there."""

    model_config = ConfigDict(extra="forbid", strict=True)


class TestHarbor:
    def test_finds_the_score_in_one_reward_and_none_without_a_verdict(
        self, case, answer, world, exported, installed, machine, tmp_path
    ):
        logs = tmp_path / "verifier"
        logs.mkdir()
        task = exported["harbor"] / PROBLEM
        here = machine(
            {
                "/app": answer,
                "/tests": task / "tests",
                "/logs/verifier": logs,
                "/opt/mha-judge": installed,
            }
        )

        done = here.run("/tests/test.sh", env=world)

        reward = logs / "reward.json"
        assert not (logs / "reward.txt").exists()
        if case == "undecidable":
            assert (reward.exists(), done.returncode) == (False, 1)
            assert SAID in done.stderr
            return
        assert done.returncode == 0, done.stderr
        told = json.loads(reward.read_text("utf-8"))
        assert list(told) == ["reward"]
        assert told["reward"] == 1 if case == "right" else 0 <= told["reward"] < 1

    def test_oracle_hands_in_what_is_accepted(self, exported, installed, machine, tmp_path):
        task = exported["harbor"] / PROBLEM
        for name in ("app", "logs"):
            (tmp_path / name).mkdir()
        shutil.copy(task / "environment" / FILE, tmp_path / "app")
        here = machine(
            {
                "/app": tmp_path / "app",
                "/solution": task / "solution",
                "/tests": task / "tests",
                "/logs/verifier": tmp_path / "logs",
                "/opt/mha-judge": installed,
            }
        )

        here.run("/solution/solve.sh")
        here.run("/tests/test.sh")

        assert json.loads((tmp_path / "logs" / "reward.json").read_text("utf-8")) == {"reward": 1}


class GradescopeTest(_Model):
    name: str
    status: Literal["passed", "failed"] | None = None
    score: float
    max_score: float
    output: str
    tags: list[str] = []
    visibility: Literal["hidden", "after_due_date", "after_published", "visible"]


class GradescopeResults(_Model):
    """https://gradescope-autograders.readthedocs.io/en/latest/specs/"""

    score: float
    output: str
    stdout_visibility: Literal["hidden"]
    tests: list[GradescopeTest]


class TestGradescope:
    def test_finds_results_and_none_without_a_verdict(
        self, case, answer, world, exported, installed, machine, tmp_path
    ):
        grader = tmp_path / "autograder"
        (grader / "results").mkdir(parents=True)
        with zipfile.ZipFile(exported["gradescope"] / f"{PROBLEM}.zip") as bundle:
            bundle.extractall(grader / "source")
        program = grader / "run_autograder"
        shutil.copy(grader / "source" / program.name, program)
        program.chmod(0o755)
        shutil.copytree(answer, grader / "submission")
        here = machine({"/autograder": grader, "/opt/mha-judge": installed})

        done = here.run("/autograder/run_autograder", cwd="/autograder", env=world)

        path = grader / "results" / "results.json"
        if case == "undecidable":
            assert (path.exists(), done.returncode) == (False, 1)
            assert SAID in done.stderr
            return
        assert done.returncode == 0, done.stderr
        told = GradescopeResults.model_validate_json(path.read_text("utf-8"))
        assert told.score == 100 if case == "right" else 0 <= told.score < 100
        *shown, whole = told.tests
        assert {test.visibility for test in shown} == {"visible"}
        assert whole.visibility == "hidden"
        assert (case == "right") == all(test.status == "passed" for test in shown)
        assert not any(test.output for test in shown)  # --reveal checks


class PrairieTest(_Model):
    name: str
    description: str
    points: float
    max_points: float
    message: str


class PrairieResults(_Model):
    """https://docs.prairielearn.com/externalGrading/#grading-results"""

    gradable: bool
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    message: str
    format_errors: list[str] = []
    output: str = ""
    tests: list[PrairieTest] = []


class TestPrairieLearn:
    def test_finds_results_that_say_where_there_is_no_verdict(
        self, case, answer, world, exported, installed, machine, tmp_path
    ):
        job = tmp_path / "grade"
        job.mkdir()
        question = exported["prairielearn"] / "questions" / PROBLEM
        shutil.copytree(question / "tests", job / "tests")
        shutil.copytree(answer, job / "student")
        info = json.loads((question / "info.json").read_text("utf-8"))
        here = machine({"/grade": job, "/opt/mha-judge": installed})

        here.run(info["externalGradingOptions"]["entrypoint"], env=world)

        text = (job / "results" / "results.json").read_text("utf-8")
        told = PrairieResults.model_validate_json(text)
        assert len(text) < 1_000_000
        assert told.gradable == (case != "undecidable")
        if case == "undecidable":
            assert told.score is None
            assert SAID in told.message
            assert told.format_errors == [told.message]
            return
        assert told.score == 1 if case == "right" else 0 <= told.score < 1
        unasked = [test for test in told.tests if test.message == "not assessed"]
        assert {test.max_points for test in unasked} <= {0}

    def test_is_told_that_there_is_no_verdict_where_the_judge_does_not_start(
        self, exported, machine, tmp_path
    ):
        job = tmp_path / "grade"
        job.mkdir()
        shutil.copytree(exported["prairielearn"] / "questions" / PROBLEM / "tests", job / "tests")

        machine({"/grade": job}).run("/grade/tests/grade.sh")

        text = (job / "results" / "results.json").read_text("utf-8")
        assert not PrairieResults.model_validate_json(text).gradable


Whole = Annotated[int, Field(ge=0)]


class ClassroomTest(_Model):
    name: str = Field(alias="test-name", min_length=1)
    passed: bool
    score: Whole
    max_score: Whole = Field(alias="max-score")


class ClassroomResult(_Model):
    """The schema `classroom50/result/v1` of foundation50/classroom50."""

    schema_name: Literal["classroom50/result/v1"] = Field(alias="schema")
    classroom: Literal["ai"]
    assignment: Literal["attention"]
    assignment_type: Literal["individual"]
    owner: Literal["ada"]
    submission: str = Field(pattern="^submit/")
    commit: str
    release: str
    review: str
    when: str = Field(alias="datetime")
    graded_at: str
    score: Whole
    max_score: Whole = Field(alias="max-score")
    tests: list[ClassroomTest]


class TestClassroom50:
    def test_finds_a_result_and_an_exit_code_without_a_verdict(
        self, case, answer, world, exported, machine, tmp_path_factory
    ):
        temp = tmp_path_factory.getbasetemp() / "classroom"  # pip has less to do the second time
        temp.mkdir(exist_ok=True)
        program = exported["classroom50"] / PROBLEM / "autograder.py"
        env = {**CLASSROOM50, **world, "RUNNER_TEMP": str(temp)}

        done = machine({}).run("python3", str(program), cwd=str(answer), env=env)

        path = answer / "result.json"
        assert not (answer / "release-body.md").exists()
        if case == "undecidable":
            assert (path.exists(), done.returncode) == (False, 1)
            assert SAID in done.stderr
            return
        assert done.returncode == 0, done.stderr
        told = ClassroomResult.model_validate_json(path.read_text("utf-8"))
        datetime.strptime(told.when, "%Y-%m-%dT%H:%M:%SZ")
        assert told.score == 100 if case == "right" else told.score < 100
        assert told.score == sum(test.score for test in told.tests)
        assert told.max_score == sum(test.max_score for test in told.tests)
        assert (case == "right") == all(test.passed for test in told.tests)


class TestGitHubAction:
    def test_marks_lines_and_fails_the_step_without_a_verdict(
        self, case, answer, world, exported, machine, tmp_path_factory, tmp_path
    ):
        folder = exported["github-action"]
        temp = tmp_path_factory.getbasetemp() / "runner"  # the judge is installed once
        temp.mkdir(exist_ok=True)
        action = folder / ".github/actions/mha-judge"
        summary = tmp_path / "summary.md"

        for command, cwd, env in action_steps(folder, action, answer, temp):
            env = {"GITHUB_STEP_SUMMARY": str(summary), **env, **world}
            done = machine({}).run(*command, cwd=cwd, env=env)

        assert done.returncode == {"right": 0, "undecidable": 5}.get(case, 1), done.stderr
        marks = done.stdout.splitlines()
        assert "forged" not in done.stdout
        text = summary.read_text("utf-8")
        assert text.startswith("<pre>")
        if case == "undecidable":
            assert SAID in marks[0]
            assert SAID in text
            return
        assert (temp / "mha-judge.xml").read_text("utf-8").startswith("<?xml")
        assert bool(marks) == (case != "right")
        source = (answer / FILE).read_text("utf-8").splitlines()
        for mark in marks:
            found = re.fullmatch(rf"::error file={FILE},line=(\d+),title=mha-judge::.+", mark)
            assert source[int(found[1]) - 1].startswith("def softmax")
