"""Commands, their output and their exit codes."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.bank.listing import TRACKS
from mha_judge.cli import main
from mha_judge.practice.progress import PATH_VARIABLE, Progress, default_path

BANK = Bank.builtin()
ROOT = Path(__file__).parents[2]
FAST = ("--problem", "sdpa", "--only", "output-shape", "--only", "values")
RIGHT = """\
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights
"""


def invoke(*args, **options):
    result = CliRunner().invoke(main, [str(arg) for arg in args], **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def judge(*args, cwd=None):
    command = [sys.executable, "-m", "mha_judge", *map(str, args)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=cwd, check=False
    )


@pytest.fixture
def right(tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(RIGHT, encoding="utf-8")
    return path


@pytest.fixture
def wrong(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(RIGHT.replace("** 0.5", "** 1.5"), encoding="utf-8")
    return path


class TestServing:
    def test_list_names_every_problem(self):
        result = invoke("list", env={"COLUMNS": "150"})

        assert result.exit_code == 0
        assert all(problem_id in result.output for problem_id in BANK.ids)

    def test_list_has_chinese_titles(self):
        titles = [problem.title_zh for problem in BANK.problems()]

        output = invoke("list", "--lang", "zh", env={"COLUMNS": "150"}).output

        assert all(title in output for title in titles)

    def test_list_groups_problems_by_track_from_basics_to_questions(self):
        lines = invoke("list").output.splitlines()
        headings = [line for line in lines[1:] if line and line[0] != " " and "·" not in line]

        assert headings == list(TRACKS)
        row = next(line.split() for line in lines if line.split()[:1] == ["gqa"])
        assert row[-3:] == ["3", "25", "30"]  # level, minutes, points

    def test_list_shows_a_track_of_another_bank_after_the_known_ones(self, tmp_path):
        shutil.copytree(BANK.root / "problems", tmp_path / "problems")
        for name in ("graders", "reference"):
            (tmp_path / name).mkdir()
        toml = tmp_path / "problems" / "sdpa" / "problem.toml"
        text = toml.read_text(encoding="utf-8")
        toml.write_text(text.replace('track = "basics"', 'track = "a new one"'), encoding="utf-8")

        lines = invoke("--bank", tmp_path, "list").output.splitlines()

        assert lines.index("a new one") > lines.index("questions")

    @pytest.mark.parametrize("language", ["en", "zh"])
    def test_show_interviewer_asks_and_answers(self, language):
        output = invoke("show", "sdpa", "--interviewer", "--lang", language, "--raw").output

        assert output == BANK.follow_ups("sdpa", language)
        assert invoke("show", "sdpa", "--interviewer", "--lang", language).exit_code == 0

    def test_show_says_what_to_do_before_and_after(self):
        output = invoke("show", "gqa").output

        assert "Before this one: masked-mha" in output
        assert "Go on with: kv-cache-step, mla" in output

    def test_show_interviewer_of_a_problem_without_questions_says_where_they_would_be(
        self, tmp_path
    ):
        for name in ("problems", "graders", "reference"):
            shutil.copytree(BANK.root / name, tmp_path / name)
        (tmp_path / "problems" / "sdpa" / "interviewer.md").unlink()

        result = invoke("--bank", tmp_path, "show", "sdpa", "--interviewer")

        assert result.exit_code == 2
        assert "sdpa has no follow-up questions; write them in" in result.output

    @pytest.mark.parametrize("language", ["en", "zh"])
    def test_show_raw_is_the_statement_as_it_is(self, language):
        result = invoke("show", "gqa", "--lang", language, "--raw")

        assert result.output == BANK.statement("gqa", language)

    @pytest.mark.parametrize(("language", "heading"), [("en", "Fine print"), ("zh", "细则")])
    def test_show_tells_the_task_and_all_of_it_the_fine_print(self, language, heading):
        env = {"MHA_JUDGE_LANG": language}

        task, whole = invoke("show", "gqa", env=env).output, invoke("show", "gqa", "--all", env=env)

        assert "mha-judge show gqa --all" in task
        assert heading not in [line.strip() for line in task.splitlines()]
        assert heading in [line.strip() for line in whole.output.splitlines()]
        assert "<!--" not in whole.output

    @pytest.mark.parametrize("typed", ["SDPA", "Masked_MHA"])
    def test_ids_are_found_in_capitals_and_with_underscores(self, typed):
        assert invoke("show", typed).exit_code == 0

    @pytest.mark.parametrize(("typed", "near"), [("spda", "sdpa"), ("gqaa", "gqa")])
    def test_of_other_ids_those_are_named_that_are_near(self, typed, near):
        assert f"no problem '{typed}'; did you mean {near}" in invoke("show", typed).output

    def test_try_without_a_call_reads_it_from_stdin(self):
        result = invoke("try", BANK.reference("sdpa"), "--problem", "sdpa", input="1 +")

        assert result.exit_code == 2
        assert "the call is not Python" in result.output
        nothing = invoke("try", BANK.reference("sdpa"), "--problem", "sdpa", input="\n")
        assert (nothing.exit_code, "say what is called" in nothing.output) == (2, True)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("import einops_x", "beside the standard library there are torch, numpy and einops"),
            ("sdpa(1, 2, 3)", "line 5 calls it while the file is imported"),
        ],
    )
    def test_a_file_that_raises_while_it_is_imported_says_how_to_go_on(self, tmp_path, line, told):
        path = tmp_path / "sdpa.py"
        path.write_text(f"def sdpa(q, k, v, mask=None):\n    return q.x\n\n\n{line}\n")

        said = " ".join(invoke("run", path, "--sandbox", "jail").output.split())

        assert told in said

    @pytest.mark.slow
    def test_try_shows_both_and_says_in_its_exit_code_whether_they_agree(self, tmp_path):
        (tmp_path / "sdpa.py").write_text(
            "def sdpa(q, k, v, mask=None):\n    return v[..., :1, :], None\n"
        )
        code = ("--call", "sdpa(ones(1, 2), ones(2, 2), [[1., 2.], [3., 4.]])", "--sandbox", "jail")

        wrong = invoke("try", tmp_path / "sdpa.py", *code)
        right = invoke("try", BANK.reference("sdpa"), "--problem", "sdpa", *code)
        chinese = invoke("try", tmp_path / "sdpa.py", *code, "--lang", "zh").output

        assert wrong.exit_code == 1
        assert "应为      [[2., 3.]]" in chinese and "您的      [[1., 2.]]" in chinese
        assert "expected  [[2., 3.]]" in wrong.output
        assert "yours     [[1., 2.]]" in wrong.output
        assert right.exit_code == 0
        assert "✓ output is right" in right.output

    def test_try_tells_what_hides_which_problem_a_file_answers(self, tmp_path):
        path = tmp_path / "broken.py"
        path.write_text("x = 1\ny = (\n", encoding="utf-8")

        result = invoke("try", path, "--call", "f(1)")

        assert result.exit_code == 2
        assert f"{path}: line 2: '(' was never closed; mend this first" in result.stderr

    def test_show_renders_the_statement(self):
        output = invoke("show", "sdpa").output

        assert "Scaled dot-product attention" in output
        assert "```" not in output

    def test_start_writes_the_starter_and_says_where(self, tmp_path):
        result = invoke("start", "masked-mha", tmp_path / "new" / "folder")

        path = tmp_path / "new" / "folder" / "masked_mha.py"
        assert path.read_text(encoding="utf-8") == BANK.starter("masked-mha")
        assert str(path) in result.output

    def test_start_overwrites_only_by_force(self, tmp_path, tmp_path_factory):
        path = tmp_path / "sdpa.py"
        path.write_text("my work", encoding="utf-8")

        refused = invoke("start", "sdpa", tmp_path, "--no-progress")

        assert (refused.exit_code, path.read_text(encoding="utf-8")) == (2, "my work")
        assert "exists; pass --force" in refused.stderr
        assert invoke("start", "sdpa", tmp_path, "--force").exit_code == 0
        assert default_path(BANK).is_relative_to(tmp_path_factory.getbasetemp())  # nobody's own
        assert path.read_text(encoding="utf-8") == BANK.starter("sdpa")

    def test_start_where_nothing_can_be_written_is_a_usage_error(self, tmp_path):
        (tmp_path / "file").write_text("", encoding="utf-8")

        result = invoke("start", "sdpa", tmp_path / "file" / "inner")

        assert result.exit_code == 2
        assert "cannot be written" in result.stderr

    @pytest.mark.parametrize("command", ["show", "start"])
    def test_an_unknown_problem_suggests_the_near_one(self, command, tmp_path):
        result = invoke(command, "spda", *([tmp_path] if command == "start" else []))

        assert result.exit_code == 2
        assert "did you mean sdpa" in result.stderr

    def test_another_bank_is_served_and_a_folder_that_is_none_refused(self, tmp_path):
        for name in ("problems", "graders", "reference"):
            (tmp_path / name).mkdir()
        shutil.copytree(BANK.root / "problems" / "gqa", tmp_path / "problems" / "gqa")

        output = invoke("--bank", tmp_path, "list", env={"COLUMNS": "150"}).output

        assert "gqa" in output
        assert "sdpa" not in output
        assert invoke("--bank", tmp_path / "problems", "list").exit_code == 2

    @pytest.mark.parametrize("command", [["list"], ["run", "sdpa.py"], ["start", "sdpa"]])
    def test_a_folder_that_is_no_bank_is_a_usage_error(self, tmp_path, command):
        (tmp_path / "sdpa.py").write_text(RIGHT, encoding="utf-8")

        result = judge(*command, "--bank", "nowhere", cwd=tmp_path)

        assert result.returncode == 2
        assert "--bank: nowhere is not a bank" in result.stderr

    def test_no_help_has_a_command_broken_at_its_hyphen(self):
        commands = [
            main.get_command(main.context_class(main), name) for name in main.list_commands(None)
        ]

        told = "".join(" ".join((command.help or "").split()) for command in commands)

        assert "mha- judge" not in told
        assert "`mha-judge mock`" in told

    @pytest.mark.parametrize(
        "arguments", [["--help"], ["-h"], ["run", "--help"], ["list", "--help"]]
    )
    def test_help_is_there(self, arguments):
        result = invoke(*arguments)

        assert result.exit_code == 0
        assert "Usage:" in result.output

    def test_a_file_in_place_of_a_command_is_told_the_command(self):
        result = invoke("answer.py")

        assert result.exit_code == 2
        assert "mha-judge run answer.py" in result.stderr

    @pytest.mark.parametrize(
        "arguments",
        [
            ["list"],
            ["--help"],
            ["run", "--help"],
            ["score", "--help"],
            ["packet", "--help"],
            ["regrade", "--help"],
            ["bank", "new", "--help"],
            ["show", "sdpa"],
        ],
    )
    def test_torch_is_not_imported_to_serve(self, arguments):
        code = (
            "import sys; from mha_judge.cli import main\n"
            f"main({arguments!r}, standalone_mode=False)\n"
            "large = ('torch', 'numpy', 'pytest', 'docker')\n"
            "print('TORCH', any(name in sys.modules for name in large))"
        )

        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
        )

        assert found.stdout.endswith("TORCH False\n")

    def test_list_marks_what_is_kept_and_imports_no_models_for_it(self, tmp_path):
        path = tmp_path / "progress.sqlite"
        with Progress(path) as progress:
            progress.begin("softmax", "softmax.py", datetime.now(UTC), review=False)
        code = (
            "import sys; from mha_judge.cli import main\n"
            "main(['list'], standalone_mode=False)\n"
            "print('MODELS', 'pydantic' in sys.modules)"
        )

        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True,
            env={**os.environ, PATH_VARIABLE: str(path)},
        )  # fmt: skip

        assert "  ● softmax " in found.stdout
        assert found.stdout.endswith("MODELS False\n")

    def test_list_marks_no_problem_of_another_bank(self, tmp_path, monkeypatch):
        monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "progress.sqlite3"))
        other = tmp_path / "other"
        for folder in ("graders", "reference"):
            (other / folder).mkdir(parents=True)
        shutil.copytree(BANK.root / "problems" / "softmax", other / "problems" / "softmax")
        with Progress(default_path(BANK)) as progress:
            progress.begin("softmax", "softmax.py", datetime.now(UTC), review=False)
            progress.begin("sdpa", "sdpa.py", datetime.now(UTC), review=False)

        assert "●" not in invoke("--bank", other, "list").output
        with Progress(default_path(Bank.at(other))) as progress:
            progress.begin("softmax", "softmax.py", datetime.now(UTC), review=False)
        assert "● softmax " in invoke("--bank", other, "list").output

    def test_reviews_are_not_imported_for_a_file_that_was_not_begun(self, tmp_path):
        path = tmp_path / "progress.sqlite"
        Progress(path).close()
        (tmp_path / "sdpa.py").write_text("import torch\nx = [\n", encoding="utf-8")
        code = (
            "import sys; from mha_judge.cli import main\n"
            "main(['run', 'sdpa.py'], standalone_mode=False)\n"
            "print('REVIEWS', 'fsrs' in sys.modules)"
        )

        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path,
            env={**os.environ, PATH_VARIABLE: str(path)},
        )  # fmt: skip

        assert found.stdout.endswith("REVIEWS False\n"), found.stderr


@pytest.mark.slow
class TestRun:
    def test_a_right_answer_exits_with_0_and_says_accepted(self, right):
        result = judge("run", right)

        assert result.returncode == 0, result.stderr
        assert "ACCEPTED" in result.stdout
        assert "100 / 100" in result.stdout

    def test_a_wrong_answer_exits_with_1_and_says_what_is_wrong(self, wrong):
        result = judge("run", wrong, *FAST)

        assert result.returncode == 1
        assert "REJECTED" in result.stdout
        assert "differs from the reference" in result.stdout
        assert result.stderr == ""

    def test_json_on_stdout_is_json_with_every_field(self, wrong):
        report = json.loads(invoke("run", wrong, *FAST, "--json", "-").stdout)

        assert report["schema_version"] == 2
        assert {
            "problem",
            "submission",
            "verdict",
            "score",
            "max_score",
            "seed",
            "device",
            "sandbox",
            "checks",
            "diagnoses",
            "policy",
            "cost",
            "output",
            "timings_s",
        } <= report.keys()
        assert report["submission"].keys() == {"path", "sha256"}
        assert report["sandbox"].keys() == {"backend", "tier", "details"}
        assert [check["id"] for check in report["checks"]] == ["output-shape", "values"]
        assert {
            "id",
            "title",
            "category",
            "outcome",
            "points",
            "max_points",
            "message",
            "diagnosis",
            "advisory",
        } <= report["checks"][0].keys()
        assert report["sandbox"]["backend"] in ("container", "jail")

    def test_the_seed_of_a_report_repeats_it(self, wrong):
        first = json.loads(invoke("run", wrong, *FAST, "--json", "-").stdout)
        second = json.loads(
            invoke("run", wrong, *FAST, "--json", "-", "--seed", first["seed"]).stdout
        )
        other = json.loads(invoke("run", wrong, *FAST, "--json", "-", "--seed", 1).stdout)

        assert second["checks"] == first["checks"]
        assert other["checks"] != first["checks"]

    def test_junit_is_written_beside_what_the_terminal_shows(self, right, tmp_path):
        path = tmp_path / "report.xml"

        result = invoke("run", right, *FAST, "--junit", path)

        assert "ACCEPTED" in result.stdout
        cases = ET.parse(path).getroot().iter("testcase")
        names = [case.get("name").partition(":")[0] for case in cases]
        assert names == ["output-shape", "values"]

    def test_lines_are_read_by_the_task_of_the_editor(self, tmp_path):
        [task] = json.loads((ROOT / "examples" / "vscode" / "tasks.json").read_text())["tasks"]
        pattern = task["problemMatcher"]["pattern"]
        path = ROOT / "examples" / "forgets_to_scale.py"
        broken = tmp_path / "sdpa.py"
        broken.write_text("x = 1\ndef sdpa(:\n", encoding="utf-8")

        found = {}
        for file in (path, broken):
            done = invoke(*(file if one == "${file}" else one for one in task["args"]))
            [line] = done.stdout.splitlines()
            found[file] = re.fullmatch(pattern["regexp"], line)
            assert (done.exit_code, found[file][pattern["file"]]) == (1, str(file))

        assert found[broken][pattern["line"]] == "2"
        source = path.read_text(encoding="utf-8").splitlines()
        assert source[int(found[path][pattern["line"]]) - 1].startswith("class ")
        assert "not divided by √D" in found[path][pattern["message"]]

    def test_a_file_that_does_not_load_exits_with_1_and_names_the_line(self, tmp_path):
        path = tmp_path / "sdpa.py"
        path.write_text("import torch\nx = [\n", encoding="utf-8")

        result = invoke("run", path)

        assert result.exit_code == 1
        assert "line 2" in result.stdout

    def test_the_verdict_alone_ends_at_the_first_failure_and_says_so(self, wrong):
        result = invoke("run", wrong, "--problem", "sdpa", "--verdict-only")
        shown = invoke("run", wrong, "--problem", "sdpa", "--verdict-only", "--reveal", "checks")
        report = json.loads(
            invoke("run", wrong, "--problem", "sdpa", "--verdict-only", "--json", "-").stdout
        )
        failed = [c["id"] for c in report["checks"] if c["outcome"] in ("failed", "error")]
        left = [c["message"] for c in report["checks"] if c["outcome"] == "not_assessed"]

        assert result.exit_code == 1
        told = "".join(result.stdout.split())  # a long path is wrapped
        assert re.fullmatch(f"[^:]*REJECTED{re.escape(str(wrong))}·sdpaseed.*", told)
        assert "checks not run: only the verdict was asked for" in shown.stdout
        assert "Mend first" not in shown.stdout
        assert report["verdict_only"] is True
        assert len(failed) == 1
        assert "not run: only the verdict was asked for" in left
        assert report["diagnoses"] == []
        assert report["score"] == report["strict_score"] == 0

    def test_the_verdict_alone_of_a_right_answer_takes_every_check(self, right):
        report = json.loads(invoke("run", right, "--verdict-only", "--json", "-").stdout)

        counting = [c["outcome"] for c in report["checks"] if not c["advisory"]]
        assert report["verdict"] == "accepted"
        assert report["score"] == 100
        assert {*counting} == {"passed"}

    def test_a_memory_that_is_no_number_is_a_usage_error(self, right, monkeypatch):
        monkeypatch.setenv("MHA_JUDGE_REMEMBER", "all")

        result = judge("run", right, *FAST)

        assert result.returncode == 2
        assert "MHA_JUDGE_REMEMBER=all is no number of MiB; 0 keeps nothing" in result.stderr

    def test_an_unknown_check_is_a_usage_error(self, right):
        result = invoke("run", right, "--only", "values", "--only", "output-shap")

        assert result.exit_code == 2
        assert "no check 'output-shap'; did you mean output-shape" in result.stderr

    def test_a_check_of_right_answers_cannot_be_asked_for_alone(self, right):
        result = invoke("run", right, "--only", "any-length")

        assert result.exit_code == 2
        assert "any-length is asked only where all else is right" in result.stderr

    def test_no_grade_of_some_checks_is_handed_back(self, right, tmp_path):
        result = invoke("run", right, *FAST, "--as", "harbor", tmp_path / "reward.json")

        assert (result.exit_code, [*tmp_path.glob("reward.json")]) == (2, [])
        assert "--only leaves checks out" in result.stderr

    def test_a_broken_bank_exits_with_4(self, right, tmp_path):
        for name in ("problems", "graders", "reference"):
            shutil.copytree(BANK.root / name, tmp_path / name)
        (tmp_path / "problems" / "sdpa" / "problem.toml").write_text("id = ", encoding="utf-8")

        result = judge("--bank", tmp_path, "run", right)

        assert result.returncode == 4
        assert "not valid TOML" in result.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["missing.py"], "missing.py: there is no such file"),
            (["sdpa.py", "--problem", "spda"], "did you mean sdpa"),
            (["sdpa.py", "--sandbox", "none"], "unconfined; add --unsafe\n"),
            (["sdpa.py", "--sandbox", "cage"], "cage"),
            (["sdpa.py", "--seed", "-1"], "--seed"),
            (["sdpa.py", "--reveal", "all"], "--reveal"),
            (["sdpa.py", "--json", "nowhere/x.json"], "nowhere/x.json cannot be written"),
            (["sdpa.py", "--json", "."], "cannot be written"),
            (["sdpa.py", "--json", "-", "--junit", "-"], "name the same place"),
            (
                ["unheard_of.py"],
                "which problem is this? Write a line `# problem: ID` into it, or "
                "add --problem ID; it defines nothing",
            ),
            (
                ["broken.py"],
                "line 2: '(' was never closed; mend this first. Which problem is this?"
                " Write a line `# problem: ID` into it, or add --problem ID; what it defines can",
            ),
            (
                ["half.py"],
                "line 1: '(' was never closed; mend this first. Which problem is this?"
                " Write a line `# problem: ID` into it, or add --problem ID; it may answer ",
            ),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_what_cannot_be_graded_is_a_usage_error_without_a_traceback(
        self, right, tmp_path, monkeypatch, arguments, message
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "unheard_of.py").write_text("x = 1\n")
        (tmp_path / "broken.py").write_text("x = 1\ny = (\n")
        (tmp_path / "half.py").write_text("class MultiHeadAttention(\n    pass\n")

        result = invoke("run", *arguments)

        assert result.exit_code == 2
        assert message in result.stderr

    def test_a_directory_is_a_usage_error(self, tmp_path):
        result = invoke("run", tmp_path, "--problem", "sdpa")

        assert result.exit_code == 2
        assert "is a directory" in result.stderr

    def test_unconfined_is_marked_in_the_report(self, right):
        report = json.loads(
            invoke("run", right, *FAST, "--sandbox", "none", "--unsafe", "--json", "-").stdout
        )

        assert report["sandbox"]["backend"] == "none"
        assert "UNSAFE" in report["sandbox"]["tier"]
