"""Judge the judge: every submission under tests/submissions gets what it declares, everywhere.

Each file is graded once in a process: what its report must say is several tests, which run in the
same process, and so do those of all answers to a problem: what the reference gives is remembered
there. Of a wrong answer that declares no diagnosis the verdict is all that is looked at.
"""

import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from gate import drawn_with
from sandboxes import miss, no_container
from seeds import SEEDS

from mha_judge.bank import Bank
from mha_judge.bank.which_problem import problem_of
from mha_judge.grading.calling.target import Target
from mha_judge.grading.checks.corners.pairwise import _Pairwise
from mha_judge.grading.covering import Row
from mha_judge.grading.expecting.memory import memory
from mha_judge.judge import grade
from mha_judge.outcomes import Outcome
from mha_judge.report.models import Report
from mha_judge.sandbox import Channel, SandboxOptions
from mha_judge.submission import Submission

FOLDER = Path(__file__).parent / "submissions"
FILES = sorted(FOLDER.glob("*/*.py"))
HELD_OUT = sorted(FOLDER.parents[1].glob("benchmarks/held_out/*/right_*.py"))
"""Right answers of an author who saw no grader."""
DECLARING = [p for p in FILES if "\n# diagnosis: " in p.read_text(encoding="utf-8")]
BANK = Bank.builtin()
RUN = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID"))  # the same in all its processes
IN_CONTAINER = [
    *sorted(FOLDER.glob("bad_input/*.py")),
    *(RUN.choice(sorted((FOLDER / one).glob("*.py"))) for one in BANK.ids),
]
"""All that is not an answer at all, and an answer to each problem, another in each run."""
FORGOTTEN = [RUN.choice(sorted((FOLDER / one).glob("*.py"))) for one in BANK.ids]
"""An answer to each problem, another in each run, that is graded without memory as well."""
NO_ROWS = {"beam-search", "complexity", "concepts", "paged-kv-cache", "sampling"}
"""Problems none of whose entries is asked in rows."""
ONE_OF_EACH = [RUN.choice(sorted((FOLDER / one).glob("right_*.py"))) for one in BANK.ids]
"""A right answer to each problem, another in each run."""
IN_A_HURRY = [
    *FOLDER.glob("*/*_own_path_*.py"),
    *(RUN.choice(sorted((FOLDER / one).glob("*.py"))) for one in BANK.ids),
]
"""Those that may be graded twice, and one of each problem, graded for the verdict alone as well."""
LOOKED_AT = {*DECLARING, *IN_CONTAINER, *FORGOTTEN, *IN_A_HURRY}
"""Those of whose report more is asked than the verdict."""
REPEATED = 3
"""The seed that a diagnosis is tried under again."""


def each(paths: list[Path]) -> pytest.MarkDecorator:
    """Run a test for each file, in one process with those of all answers to that problem."""
    return pytest.mark.parametrize(
        "path",
        [pytest.param(path, id=_name(path), marks=_marks(path)) for path in paths],
    )


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def _marks(path: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow, pytest.mark.xdist_group(path.parent.name), drawn_with(path)]


@pytest.fixture(scope="module")
def channel() -> Iterator[Channel]:
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


@pytest.fixture(scope="module")
def container() -> Iterator[Channel]:
    if reason := no_container():
        miss("container", reason)
    with closing(SandboxOptions("container").open()) as opened:
        yield opened


@pytest.fixture(scope="module")
def graded(channel) -> Callable[[Path], Report]:
    """Return a function that gives a file's report in the jail, under the run's seed."""
    reports: dict[Path, Report] = {}

    def report_of(path: Path) -> Report:
        if path not in reports:
            seed = SEEDS[problem_of(Submission.read(path), BANK)]
            brief = path.name.startswith("wrong_") and path not in LOOKED_AT
            reports[path] = grade_file(path, channel, seed=seed, verdict_only=brief)
        return reports[path]

    return report_of


def grade_file(path: Path, channel: Channel, **options) -> Report:
    submission = Submission.read(path)
    return grade(submission, BANK, BANK.problem(problem_of(submission, BANK)), channel, **options)


def declared(path: Path, name: str) -> str:
    found = re.search(rf"^# {name}: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{path} declares no {name}"
    return found.group(1).strip()


@each(FILES)
def test_submission_gets_its_declared_verdict(path, graded):
    report = graded(path)

    why = [(c.id, c.message, c.detail) for c in report.checks if c.outcome is not Outcome.PASSED]
    assert report.verdict == declared(path, "expect"), (report.load_problem, report.seed, why)
    assert (report.score == 100.0) is (report.verdict == "accepted"), (report.seed, why)


@each(HELD_OUT)
def test_a_right_answer_that_is_held_out_is_accepted(path, graded):
    assert graded(path).verdict == "accepted", graded(path).checks


@each(DECLARING)
def test_an_answer_is_named_by_the_mistakes_that_it_declares_and_no_other(path, graded, channel):
    wanted = {*declared(path, "diagnosis").split(", ")} - {"none"}

    named = {diagnosis.id for diagnosis in graded(path).diagnoses}
    if named != wanted:  # under a rare seed two mistakes answer alike
        named = {d.id for d in grade_file(path, channel, seed=REPEATED).diagnoses}

    assert named == wanted


@each(ONE_OF_EACH)
def test_numbers_in_a_source_make_no_right_answer_wrong(path, channel):
    problem = path.parent.name
    usual = [16, 32, 64, 96, 128, 256, 500, 512, 1000, 1024, 2048, 4096]
    sizes = random.Random(SEEDS[problem]).sample(usual, 4)
    source = f"{path.read_text()}\n_SIZES = {[*sizes, 1 << 16, 1 << 19, 1 << 20]}\n"
    submission = Submission.of(source, path.name)

    report = grade(submission, BANK, BANK.problem(problem), channel, seed=SEEDS[problem])

    failed = [(one.id, one.message) for one in report.checks if one.outcome is Outcome.FAILED]
    assert report.verdict == "accepted", (report.seed, sizes, failed)


@each(ONE_OF_EACH)
def test_every_row_asks_something(path, channel, monkeypatch):
    asked: list[bool] = []
    rows: list[tuple[Row, list[bool]]] = []
    of_row, of_target = _Pairwise._begin, Target.ask

    def ask_row(self, row, *rest):
        asked.clear()
        judged = of_row(self, row, *rest)
        rows.append((row, [*asked]))
        return judged

    def ask(self, *args):
        answered = of_target(self, *args)
        asked.append(answered is not None)  # else the reference refuses the call
        return answered

    monkeypatch.setattr(_Pairwise, "_begin", ask_row)
    monkeypatch.setattr(Target, "ask", ask)

    grade_file(path, channel, seed=SEEDS[path.parent.name])

    assert rows or path.parent.name in NO_ROWS
    silent = [row for row, answered in rows if not any(answered)]
    assert len(silent) <= len(rows) / 50, silent  # by chance numbers may be none that are graded


@each(FORGOTTEN)
def test_what_is_remembered_of_others_changes_no_report(path, graded, channel, monkeypatch):
    remembering = graded(path)
    monkeypatch.setattr(memory(), "_limit", 0)  # it keeps nothing, and recalls nothing

    forgetful = grade_file(path, channel, seed=remembering.seed)

    left_out = {
        "timings_s",
        "check_timings_s",
        "cost",
        "sandbox",
    }  # which says how many processes there are
    assert forgetful.model_dump(exclude=left_out) == remembering.model_dump(exclude=left_out)


@each(IN_CONTAINER)
def test_jail_and_container_agree_on(path, graded, container):
    in_jail = graded(path)

    in_container = grade_file(path, container, seed=in_jail.seed)

    assert essence(in_container) == essence(in_jail), in_jail.seed


@each(IN_A_HURRY)
def test_the_verdict_alone_is_the_same(path, graded, channel):
    whole = graded(path)

    alone = grade_file(path, channel, seed=whole.seed, verdict_only=True)

    assert alone.verdict == whole.verdict


def essence(report: Report) -> tuple[object, ...]:
    return report.verdict, report.score, [(c.id, c.outcome, c.points) for c in report.checks]


@pytest.mark.parametrize("problem_id", BANK.ids)
def test_problem_has_enough_wrong_and_right_answers(problem_id):
    names = [path.name for path in (FOLDER / problem_id).glob("*.py")]

    assert len(BANK.mistakes(problem_id)) >= 8
    assert sum(name.startswith("wrong_") for name in names) >= 4  # in other styles than those
    assert sum(name.startswith("right_") for name in names) >= 4


@pytest.mark.slow
def test_same_seed_gives_the_same_report(channel):
    path = FOLDER / "sdpa" / "wrong_no_scale.py"

    reports = [grade_file(path, channel, seed=7) for _ in range(2)]

    assert reports[0].checks == reports[1].checks
