"""`mha-judge export`: what it writes, and what it refuses without writing anything."""

import json
import tomllib
import zipfile

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.cli import main
from mha_judge.export import FORMATS
from mha_judge.export.hand_back import hand_back
from mha_judge.export.platforms import PLATFORMS
from mha_judge.export.shown import Shown
from mha_judge.report.models import Reveal


def export(*args, expect=0):
    result = CliRunner().invoke(main, ["export", *map(str, args)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == expect, result.output
    return result.output


def test_each_format_has_a_platform():
    assert tuple(PLATFORMS) == FORMATS


@pytest.mark.parametrize("name", FORMATS)
def test_every_problem_can_be_exported(name, tmp_path):
    ids = Bank.builtin().ids

    export(name, *ids, "-o", tmp_path / "out")

    told = " ".join(str(path.relative_to(tmp_path)) for path in (tmp_path / "out").rglob("*"))
    if name == "github-action":
        workflow = tmp_path / "out" / ".github" / "workflows" / "mha-judge.yml"
        told = workflow.read_text("utf-8")
    assert [one for one in ids if one not in told] == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("moodle", "sdpa"), r"'harbor', 'gradescope', 'prairielearn', 'classroom50', 'github"),
        (("harbor", "spda"), "no problem 'spda'; did you mean sdpa"),
        (("harbor", "sdpa", "--judge", "no.whl"), "no.whl: there is no such file; build it"),
        (("harbor", "sdpa", "--judge", "-r x"), "name a requirement, an address or a wheel"),
        (("harbor", "sdpa", "--bank", "."), "has the built-in bank only"),
    ],
)
def test_what_cannot_be_exported_is_refused(args, message, tmp_path):
    output = export(*args, "-o", tmp_path / "out", expect=2)

    assert message in output
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_a_folder_stays(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine", encoding="utf-8")

    output = export("harbor", "sdpa", "-o", tmp_path / "out", expect=2)

    assert "is not empty; name a new folder" in output
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "mine"]


def test_what_fails_halfway_leaves_nothing(tmp_path, monkeypatch):
    def broken(exercises, choices):
        yield from files(exercises, choices)
        raise OSError(28, "No space left on device")

    files = PLATFORMS["harbor"].files
    monkeypatch.setattr(PLATFORMS["harbor"], "files", broken)

    output = export("harbor", "sdpa", "-o", tmp_path / "out", expect=2)

    assert "cannot be written: No space left on device" in output
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_is_copied_and_installed_from_there(tmp_path):
    wheel = tmp_path / "mha_judge-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")

    export("gradescope", "sdpa", "-o", tmp_path / "out", "--judge", wheel, "--torch-index", "U R")

    with zipfile.ZipFile(tmp_path / "out" / "sdpa.zip") as bundle:
        assert bundle.read(f"judge/{wheel.name}") == b"wheel"
        setup = bundle.read("setup.sh").decode()
    assert f"--extra-index-url 'U R' /autograder/source/judge/{wheel.name}\n" in setup


def test_statements_are_in_the_language_that_is_asked_for(tmp_path):
    bank = Bank.builtin()

    for name in ("harbor", "prairielearn"):
        export(name, "sdpa", "-o", tmp_path / name, "--lang", "zh")

    instruction = (tmp_path / "harbor" / "sdpa" / "instruction.md").read_text("utf-8")
    assert instruction.startswith(bank.task("sdpa", "zh"))
    assert "把答案写进 `/app/sdpa.py`" in instruction
    info = tmp_path / "prairielearn" / "questions" / "sdpa" / "info.json"
    assert json.loads(info.read_text("utf-8"))["title"] == bank.problem("sdpa").title_zh
    grade = tmp_path / "prairielearn" / "questions" / "sdpa" / "tests" / "grade.sh"
    assert "--lang zh" in grade.read_text("utf-8")


def test_a_harbor_task_keeps_judge_and_agent_apart(tmp_path):
    export("harbor", "sdpa", "-o", tmp_path / "out")

    task = tmp_path / "out" / "sdpa"
    settings = tomllib.loads((task / "task.toml").read_text("utf-8"))
    assert settings["verifier"]["environment_mode"] == "separate"
    assert settings["artifacts"] == ["/app/sdpa.py"]
    assert "mha-judge" not in (task / "environment" / "Dockerfile").read_text("utf-8")
    assert (task / "tests" / "Dockerfile").is_file()


def test_a_verdict_needs_the_problem_that_was_set(tmp_path):
    answer = tmp_path / "sdpa.py"
    answer.write_text("# problem: softmax\n", encoding="utf-8")

    args = ["run", str(answer), "--as", "harbor", str(tmp_path / "reward.json")]
    result = CliRunner().invoke(main, args)

    assert result.exit_code == 2
    assert "--as needs --problem" in result.output


def test_what_cannot_be_read_has_no_points_and_no_link_is_followed(tmp_path):
    mine, reward = tmp_path / "mine", tmp_path / "reward.json"
    mine.write_text("mine", encoding="utf-8")
    reward.symlink_to(mine)

    args = ["run", str(tmp_path / "none.py"), "--problem", "sdpa", "--as", "harbor", str(reward)]
    result = CliRunner().invoke(main, args)

    assert result.exit_code == 1, result.output
    assert json.loads(reward.read_text("utf-8")) == {"reward": 0}
    assert mine.read_text("utf-8") == "mine"


def test_the_log_of_a_step_obeys_nothing_that_a_submission_wrote(monkeypatch):
    for name in ("CLASSROOM", "ASSIGNMENT", "ASSIGNMENT_TYPE", "OWNER"):
        monkeypatch.setenv(name, "x")
    for name in ("SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "REVIEW_URL"):
        monkeypatch.setenv(name, "x")
    shown = Shown(
        title="",
        path="",
        accepted=False,
        verdict="",
        score=0,
        max_score=100,
        rows=[],
        places=[],
        text="::error::forged",
        whole="",
    )

    first, inner, last, _ = PLATFORMS["classroom50"].verdict(shown).printed.split("\n")

    assert inner == "::error::forged"
    assert first == f"::stop-commands::{last.strip(':')}"
    assert len(last) > 32


def test_a_platform_knows_before_grading_that_there_is_no_verdict_yet(tmp_path):
    def killed():
        assert not json.loads(result.read_text("utf-8"))["gradable"]
        raise KeyboardInterrupt

    result = tmp_path / "results.json"
    with pytest.raises(KeyboardInterrupt):
        hand_back("prairielearn", result, killed, Bank.builtin(), Reveal.CHECKS, "en")

    assert "the judge ended before it had a verdict" in result.read_text("utf-8")
