"""Hostile text stays text; tables say what is missing; pictures are small."""

import csv as reader
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from mha_judge.outcomes import Sample
from mha_judge.render.score import candidates, csv, html, junit, terminal
from mha_judge.render.score.heatmap import pictures
from mha_judge.report.models import (
    CheckResult,
    Diagnosis,
    FailingCall,
    LoadProblem,
    Output,
    Report,
    Reveal,
    SandboxInfo,
    SubmissionInfo,
)
from mha_judge.report.reveal import revealed
from mha_judge.scoring.answers import CandidateFile, HandedIn
from mha_judge.scoring.models import Fault, LeftOut, Result
from mha_judge.scoring.ranking import rank
from mha_judge.scoring.results import Results
from mha_judge.submission import Submission

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>]]>"


def report(problem, score, text="", **fields):
    def check(name, category, points, outcome):
        bad = outcome == "failed"
        return CheckResult(
            id=name, title=f"title {name}", category=category, outcome=outcome,
            points=points, max_points=50.0,
            message=f"message {text}" if bad else "", detail=f"detail {text}" if bad else "",
            sample=Sample(label=f"out {text}", place="[0:1, 0:2]", expected=[[1.0, None]],
                          actual=[[2.0, 3.0]]) if bad else None,
            diagnosis=f"diagnosis {text}" if bad else None,
        )  # fmt: skip

    good = score == 100
    return Report(
        problem=problem, title="Title", score=score, strict_score=score,
        submission=SubmissionInfo(path=f"secret-folder/{problem}.py", sha256="0" * 64), seed=7,
        sandbox=SandboxInfo(backend="jail", tier="landlock"),
        checks=[
            check("one", "shape", 50.0, "passed"),
            check("two", "values", 50.0 if good else score - 50, "passed" if good else "failed"),
        ],
        diagnoses=[] if good else [
            Diagnosis(id="d", title=f"diagnosis {text}", explanation=f"why {text}", hint="a hint")
        ],
        output=Output(text=f"printed {text}"),
        **{"verdict": "accepted" if good else "rejected", **fields},
    )  # fmt: skip


class Table:
    """Candidates with reports, ranked."""

    def __init__(self, results, bank):
        self.results, self._bank = results, bank
        self.answers, self.left_out = [], []

    def add(self, candidate, problem, made, source="x = 1"):
        submission = Submission.of(source, f"{problem}.py")
        self.answers.append(CandidateFile(candidate, problem, Path(f"{problem}.py"), submission))
        fault = None if made else Fault(kind="BankError", message=f"broken {HOSTILE}", exit_code=4)
        self.results.add(
            Result(
                candidate=candidate, problem=problem, path="p", key="k", report=made, fault=fault
            )
        )

    @property
    def found(self):
        return HandedIn(self.answers, self.left_out)

    def board(self, **weights):
        return rank(self.found, self.results, weights, self._bank)


@pytest.fixture
def table(tmp_path, bank):
    path = tmp_path / "results.jsonl"
    with closing(Results.open(path, resume=False, seed=7, fresh_seed=7)) as results:
        yield Table(results, bank)


def test_the_page_says_when_and_with_which_bank_it_was_made_and_tells_of_the_same_file_once(table):
    table.add("alice", "sdpa", report("sdpa", 60, "twice"), source="x = 1")
    table.add("bob", "sdpa", report("sdpa", 60, "twice"), source="x = 1")
    table.add("carol", "sdpa", report("sdpa", 60, "other"), source="x = 2")
    board = table.board()

    page = html.render(board, table.found, table.results)

    assert f"bank <code>{board.bank}</code>" in page
    assert len(board.bank) == 12
    assert re.search(r"· 20\d\d-\d\d-\d\d · seed 7", page)
    assert page.count("why twice") == 1
    assert page.count("why other") == 1
    assert 'The same file as <a href="#c1">alice</a>' in page


def test_the_ranking_goes_by_weighted_total_and_equal_totals_share_a_rank(table):
    table.add("alice", "sdpa", report("sdpa", 100))
    table.add("alice", "gqa", report("gqa", 60))
    table.add("bob", "sdpa", report("sdpa", 60))
    table.add("bob", "gqa", report("gqa", 100))
    table.add("carol", "gqa", report("gqa", 60))

    def ranks(board):
        return [(row.rank, row.candidate, row.total) for row in board.rows]

    even = [(1, "alice", 80.0), (1, "bob", 80.0), (3, "carol", 30.0)]
    by_points = [(1, "bob", 90.0), (2, "alice", 70.0), (3, "carol", 45.0)]  # gqa 30, sdpa 10
    assert ranks(table.board(sdpa=1.0, gqa=1.0)) == even
    assert ranks(table.board()) == by_points


def test_a_missing_answer_counts_0_in_total_and_categories(table):
    table.add("alice", "sdpa", report("sdpa", 100))
    table.add("alice", "gqa", report("gqa", 100))
    table.add("bob", "sdpa", report("sdpa", 60))

    row = table.board(sdpa=1.0, gqa=1.0).rows[1]

    assert (row.problems["gqa"].standing, row.problems["gqa"].score, row.total) == (
        "missing",
        0,
        30,
    )
    assert row.categories == {"shape": 50.0, "values": 10.0}


def test_who_was_not_graded_has_no_rank_and_comes_last(table, capsys):
    table.add("alice", "sdpa", None)
    table.add("bob", "sdpa", report("sdpa", 60))
    table.left_out.append(LeftOut(candidate="carol", path="carol.py", reason="may answer two"))

    board = table.board()
    terminal.show(board, Console())

    assert [(row.rank, row.candidate) for row in board.rows] == [
        (1, "bob"), (None, "alice"), (None, "carol")
    ]  # fmt: skip
    shown = capsys.readouterr().out
    assert "Not graded, and not ranked: carol" in shown
    assert "60 rejected" in shown
    assert csv.render(board).splitlines()[3] == ",carol,,,0.0,,missing,,,"
    page = html.render(board, table.found, table.results)
    assert page.index("Not graded, and not ranked") < page.index("carol")


def test_why_a_file_did_not_load_stands_below_the_table_and_in_junit(table, capsys):
    why = LoadProblem(message=f"raises Oops {HOSTILE}")
    table.add("eve", "sdpa", report("sdpa", 0, verdict="error", load_problem=why))

    terminal.show(table.board(), Console(width=200))

    assert f"Error: eve on sdpa: {why.message}" in capsys.readouterr().out
    failure = ET.fromstring(junit.render(table.board())).find("*//failure")
    assert failure.get("message").startswith(f"error, 0 of 100; {why.message}")


def test_points_stand_beside_those_of_what_passes_as_it_stands(table):
    made = report("sdpa", 85)
    table.add("alice", "sdpa", made.model_copy(update={"strict_score": 14.1}))

    board = table.board()

    rows = list(reader.DictReader(io.StringIO(csv.render(board))))
    assert (rows[0]["sdpa"], rows[0]["sdpa: strict"]) == ("85.0", "14.1")
    assert (rows[0]["sdpa: verdict"], rows[0]["sdpa: mistakes"]) == ("rejected", "diagnosis ")
    assert "(14.1)" in html.render(board, table.found, table.results)


def test_what_is_granted_adds_nothing_to_a_category(table):
    made = report("sdpa", 60)
    checks = [made.checks[0], made.checks[1].model_copy(update={"granted": ["d"]})]
    table.add("alice", "sdpa", made.model_copy(update={"checks": checks}))

    assert table.board().rows[0].categories == {"shape": 100.0, "values": 20.0}


def test_a_weighted_problem_that_nobody_answered_is_missing_for_all(table):
    table.add("alice", "sdpa", report("sdpa", 100))

    (row,) = table.board(gqa=10.0).rows

    assert (row.problems["gqa"].standing, row.total) == ("missing", 50.0)


def test_a_fault_of_the_judge_counts_neither_way(table):
    table.add("alice", "sdpa", report("sdpa", 80))
    table.add("alice", "gqa", None)

    board = table.board()

    assert (board.rows[0].total, board.rows[0].provisional) == (80.0, True)
    assert [(f.candidate, f.problem) for f in board.failures] == [("alice", "gqa")]


def test_hostile_text_is_text_on_the_page(table):
    table.add(f"eve {HOSTILE}", "sdpa", report("sdpa", 60, HOSTILE), f"# </pre>{HOSTILE}")
    table.add(f"eve {HOSTILE}", "gqa", None)
    table.left_out.append(LeftOut(candidate=None, path=HOSTILE, reason=HOSTILE))

    page = html.render(table.board(), table.found, table.results)

    assert "<script" not in page
    assert "<img src=x" not in page
    assert page.count("<img ") == page.count('<img src="data:image/png;base64,') == 3
    assert "&lt;script&gt;" in page
    assert "http" not in page


def test_the_page_shows_the_call_that_goes_wrong_line_by_line(table):
    call = FailingCall(
        code="x = 1\nf(x)", name="output", expected="[[2.]]", got=f"[[3.,\n 4.]] {HOSTILE}"
    )
    table.add("eve", "sdpa", report("sdpa", 60, failing_call=call))

    page = html.render(table.board(), table.found, table.results)

    told = "<pre>x = 1\nf(x)\n# output, expected:    [[2.]]\n# output, this answer: [[3., 4.]]"
    assert told in page
    assert "<script" not in page


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", " ="])
def test_no_cell_is_a_formula(table, start):
    table.add(f"{start}1+1", "sdpa", report("sdpa", 60))

    rows = list(reader.reader(io.StringIO(csv.render(table.board()))))

    assert rows[1][1] == f"'{start}1+1"
    assert rows[0][:5] == ["rank", "candidate", "total", "provisional", "sdpa"]


def test_junit_has_a_suite_a_candidate(table):
    table.add("alice", "sdpa", report("sdpa", 100))
    table.add(f"eve {HOSTILE}", "sdpa", report("sdpa", 60, HOSTILE))
    table.add("alice", "gqa", None)

    suites = {s.get("name"): s for s in ET.fromstring(junit.render(table.board()))}

    assert suites["alice"].get("errors") == "1"
    assert suites[f"eve {HOSTILE}"].get("failures") == "2"  # one rejected, one missing


@pytest.mark.parametrize(
    ("level", "told", "hidden"),
    [
        (Reveal.SCORE, ["verdict"], ["title one", "message", "detail", "diagnosis", "secret"]),
        (Reveal.CHECKS, ["title one", "title two"], ["message", "detail", "diagnosis", "seed"]),
        (Reveal.HINTS, ["message t", "diagnosis t", "a hint"], ["detail", "why t", "seed"]),
        (Reveal.FULL, ["detail t", "why t", "expected"], ["secret-folder"]),
    ],
)
def test_a_candidate_sees_what_the_level_allows(level, told, hidden):
    text = json.dumps(revealed(report("sdpa", 60, "t"), level))

    assert [word for word in told if word not in text] == []
    assert [word for word in hidden if word in text] == []


def test_each_candidate_has_a_file_that_says_nothing_of_the_others(table, tmp_path):
    table.add("alice", "sdpa", report("sdpa", 100))
    table.add("../bob", "sdpa", report("sdpa", 60))
    table.add("alice", "gqa", None)

    candidates.write(table.board(), table.results, tmp_path / "seen", Reveal.CHECKS)

    files = sorted((tmp_path / "seen").iterdir())
    sheets = {s["candidate"]: s for s in (json.loads(f.read_text("utf-8")) for f in files)}
    assert sheets.keys() == {"alice", "../bob"}
    assert "bob" not in json.dumps(sheets["alice"])
    assert sheets["alice"]["problems"]["gqa"]["verdict"] == "not_graded"
    assert sheets["../bob"]["problems"]["gqa"]["verdict"] == "missing"


def test_names_of_files_are_plain_and_never_the_same():
    taken = candidates.file_name("a b").removesuffix(".json")
    names = [taken, "a b", "a_b", "a/b", "..", ".", "", "张伟", "x" * 300, "x" * 301, "-rf"]

    files = [candidates.file_name(name) for name in names]

    assert len(set(files)) == len(names)
    assert all("/" not in file and file[0] not in "-." for file in files)
    assert all(len(file.encode()) < 255 for file in files)


@pytest.mark.parametrize(
    "row", [[1.0, 2.0], [None, None], [0.0], [1e308, -1e308], [math.ulp(0.0), 0.0], []]
)
def test_any_sample_can_be_drawn(row):
    drawn = pictures(Sample(label="out", place="[]", expected=[row], actual=[row[::-1]]))

    assert [grid.title for grid in drawn.grids] == ["expected", "actual", "difference"]
    assert all(grid.uri.startswith("data:image/png;base64,iVBOR") for grid in drawn.grids)
