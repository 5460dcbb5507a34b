"""`packet`, `score --packets` and `regrade`, from answers to exit codes."""

import hashlib
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.cli import main

ROOT = Path(__file__).parents[2]


def invoke(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def judge(*args, cwd, expect=0):
    command = [sys.executable, "-m", "mha_judge", *map(str, args)]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=250, cwd=cwd, check=False
    )
    assert result.returncode == expect, result.stderr + result.stdout
    return result


def regrade(bundle, *args, cwd, bank=None, expect=0):
    chosen = ["--bank", bank] if bank is not None else []
    options = ("--sandbox", "jail", "--json", "again.json", *args)
    result = judge(*chosen, "regrade", bundle, *options, cwd=cwd, expect=expect)
    return result.stdout, json.loads((cwd / "again.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with the packet of one candidate, who forgot to divide by √D."""
    folder = tmp_path_factory.mktemp("packets")
    alice = folder / "answers" / "alice"
    alice.mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "forgets_to_scale.py", alice / "sdpa.py")
    judge(
        "packet", "answers", "-o", "out", "--sandbox", "jail", "-j", 1, "--seed", 11, cwd=folder
    )  # fmt: skip
    return folder


@pytest.mark.slow
class TestPacket:
    def test_of_an_answer_without_a_scale_asks_about_it(self, place):
        packet = json.loads((place / "out" / "alice.json").read_text("utf-8"))
        page = (place / "out" / "alice.html").read_text("utf-8")

        [answer] = packet["answers"]
        assert (answer["verdict"], answer["score"], answer["seed"]) == ("rejected", 85.0, 11)
        assert answer["strict_score"] < 20
        assert answer["sentence"].startswith("One mistake explains all")
        assert [made["id"] for made in answer["mistakes"]] == ["no-scale"]
        assert answer["failures"] == []
        assert answer["source"] == (place / "answers/alice/sdpa.py").read_text().splitlines()
        asked = answer["questions"]
        [scale] = asked["mistakes"]
        assert "what happens to the spread of q · k?" in scale["question"]
        assert "its spread grows with √D" in scale["good_answer"][0]
        assert len(asked["near_misses"]) == 3
        assert "no-scale" not in [question["mistake"] for question in asked["near_misses"]]
        assert asked["general"][0]["question"] == "Why divide by √D, and not by D or by nothing?"
        assert "The scores are not divided by √D" in page
        assert packet["bundle"] == "alice.zip"

    def test_of_a_report_is_that_of_the_answer_but_for_figures(self, place, tmp_path):
        judge(
            "run", "answers/alice/sdpa.py", "--sandbox", "jail", "--seed", 11,
            "--json", tmp_path / "report.json", cwd=place, expect=1,
        )  # fmt: skip

        judge("packet", tmp_path / "report.json", "-o", tmp_path, "--lang", "zh", cwd=place)

        before = json.loads((place / "out" / "alice.json").read_text("utf-8"))
        after = json.loads((tmp_path / "alice.json").read_text("utf-8"))
        general = [packet["answers"][0]["questions"].pop("general") for packet in (before, after)]
        assert after["answers"][0].pop("bank") == ""  # which a report does not say
        assert before["answers"][0].pop("bank")
        assert after["answers"] == before["answers"]
        assert general[1][0]["question"].startswith("为什么")

    def test_score_writes_packets_beside_what_candidates_see(self, place, tmp_path):
        judge(
            "score", "answers", "--sandbox", "jail", "-j", 1, "--seed", 11,
            "--results", tmp_path / "results.jsonl", "--candidate-dir", tmp_path / "seen",
            "--packets", tmp_path / "packets", cwd=place,
        )  # fmt: skip

        [seen] = (tmp_path / "seen").iterdir()
        names = sorted(path.name for path in (tmp_path / "packets").iterdir())
        assert names == ["alice.html", "alice.json", "alice.zip"]
        assert "questions" not in seen.read_text("utf-8")
        packet, other = (
            json.loads((folder / "alice.json").read_text("utf-8"))
            for folder in (tmp_path / "packets", place / "out")
        )
        assert packet["answers"] == other["answers"]


@pytest.mark.slow
class TestRegrade:
    def test_a_fresh_bundle_agrees(self, place, tmp_path):
        shown, again = regrade(place / "out" / "alice.zip", cwd=tmp_path)

        assert shown == (
            "alice\nsdpa: agrees; rejected, 85 / 100\n  · nothing that it depends on has changed\n"
        )
        assert again["agrees"]
        assert again["answers"][0]["differences"] == again["answers"][0]["changes"] == []

    def test_another_bank_that_grades_otherwise_is_named(self, place, tmp_path):
        bank = tmp_path / "bank"
        for name in ("problems", "graders", "reference"):
            shutil.copytree(Bank.builtin().root / name, bank / name)
        mistakes = bank / "reference" / "mistakes" / "sdpa.toml"
        text = mistakes.read_text("utf-8")
        assert text.count('id = "no-scale"') == 1
        mistakes.write_text(text.replace('id = "no-scale"', 'id = "scale-forgotten"'), "utf-8")

        shown, again = regrade(place / "out" / "alice.zip", cwd=tmp_path, bank=bank, expect=1)

        [answer] = again["answers"]
        assert answer["differences"] == [
            {"what": "diagnoses", "then": "no-scale", "now": "scale-forgotten"}
        ]
        assert answer["changes"] == [
            "the problem's files are others: it is another bank, or it has been changed"
        ]
        assert "  diagnoses: no-scale then, scale-forgotten now\n" in shown

    def test_a_grade_that_was_made_up_differs_though_nothing_has_changed(self, place, tmp_path):
        with zipfile.ZipFile(place / "out" / "alice.zip") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        report = json.loads(members["sdpa/report.json"]) | {"verdict": "accepted", "score": 100}
        members["sdpa/report.json"] = json.dumps(report).encode()
        manifest = json.loads(members["manifest.json"])
        manifest["sha256"]["sdpa/report.json"] = hashlib.sha256(
            members["sdpa/report.json"]
        ).hexdigest()
        members["manifest.json"] = json.dumps(manifest).encode()
        made_up = io.BytesIO()
        with zipfile.ZipFile(made_up, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        (tmp_path / "alice.zip").write_bytes(made_up.getvalue())

        shown, again = regrade("alice.zip", cwd=tmp_path, expect=1)

        assert [d["what"] for d in again["answers"][0]["differences"]] == ["verdict", "score"]
        assert "  verdict: accepted then, rejected now\n" in shown
        assert "nothing that it depends on has changed" in shown


class TestUsage:
    def test_packets_are_never_written_where_candidates_look(self, tmp_path):
        result = invoke(
            "score", tmp_path, "--candidate-dir", tmp_path, "--packets", tmp_path / "inner"
        )  # fmt: skip

        assert result.exit_code == 2
        assert "name a folder outside it" in result.stderr

    def test_a_bundle_that_is_refused_exits_with_2(self, tmp_path):
        bundle = tmp_path / "alice.zip"
        bundle.write_bytes(b"PK\x03\x04")

        result = invoke("regrade", bundle)

        assert result.exit_code == 2
        assert result.stderr == (
            f"mha-judge: {bundle} is refused: it is cut short or damaged; "
            "ask for the bundle again\n"
        )

    def test_a_bundle_that_is_not_there_exits_with_2(self, tmp_path):
        result = invoke("regrade", tmp_path / "alice.zip")

        assert result.exit_code == 2
        assert "there is no such file; check the path" in result.stderr

    def test_marks_of_a_page_are_in_the_next_packet_and_others_stop_it(self, make_answer, tmp_path):
        report, notes = tmp_path / "report.json", tmp_path / "alice.notes.json"
        graded = make_answer(failed=["scale"]).report
        about = graded.submission.model_copy(update={"path": "answers/alice/sdpa.py"})
        text = graded.model_copy(update={"submission": about}).model_dump_json()
        report.write_text(text, encoding="utf-8")
        notes.write_text('{"candidate": "alice", "marks": {"Numerics": 3}}', encoding="utf-8")
        write = ("packet", report, "-o", tmp_path / "out", "--marks", notes)

        written = invoke(*write)

        assert written.exit_code == 0
        assert "no source: alice on sdpa: " in written.stderr
        packet = json.loads((tmp_path / "out" / "alice.json").read_text("utf-8"))
        assert packet["interviewer"]["marks"] == {"Numerics": 3}
        notes.write_text('{"candidate": "bob"}', encoding="utf-8")
        result = invoke(*write)
        assert result.exit_code == 2
        assert "the notes are on 'bob', who has no answer here; answers have alice" in result.stderr

    @pytest.mark.parametrize("name", ["report.json", "missing.json", "missing.py"])
    def test_what_is_no_answer_and_no_report_exits_with_2(self, tmp_path, name):
        (tmp_path / "report.json").write_text("{}", encoding="utf-8")

        result = invoke("packet", tmp_path / name, "-o", tmp_path / "out")

        assert result.exit_code == 2
        assert name in result.stderr
        assert not (tmp_path / "out").exists()
