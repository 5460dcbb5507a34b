"""Every attack, on every backend that works here: its verdict, its evidence, and who comes next."""

import threading
from contextlib import closing
from pathlib import Path

import pytest
from attacks.corpus import ATTACKS, CLASSES, COUNTS, EVIDENCE, FILES, MADE, RIGHT, WRONG
from attacks.court import ATTACKS_A_CONTROL, Court
from attacks.table import BEGIN, END
from attacks.world import BANK, MEMORY_GROWTH, acting
from sandboxes import gone

from mha_judge.errors import SubmissionUnreadable
from mha_judge.judge import grade
from mha_judge.sandbox.limits import Limits
from mha_judge.sandbox.unconfined import Unconfined
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gets_a_declared_verdict_and_leaves_no_evidence(
    attack, court, tmp_path, record_property
):
    record_property("attack", [attack.kind, court.backend.name])
    path = tmp_path / "sdpa.py"
    path.write_text(court.world.placed(attack.text), encoding="utf-8")
    report = court.grade_attack(attack.name, Submission.read(path), attack.limits)

    why = [(c.id, str(c.outcome), c.message) for c in report.checks if c.outcome != "passed"]
    assert report.verdict in attack.expect, (report.load_problem, why, report.output.text[:500])
    assert (report.score == 100) is (report.verdict == "accepted")
    assert court.world.signs(report) == []
    assert acting(report) == []
    assert court.memory_growth < MEMORY_GROWTH
    assert court.disturbers() == []


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_a_file_that_is_no_plain_text_is_refused_or_graded(made, court, tmp_path, record_property):
    record_property("attack", [made.kind, court.backend.name])
    path = made.make(tmp_path)
    try:
        submission = Submission.read(path)
    except SubmissionUnreadable:
        assert made.expect == ("refused",)
        return
    report = court.grade_attack(made.name, submission, Limits(call_s=4, load_s=2, total_s=12))

    assert report.verdict in made.expect, (report.load_problem, report.output.text[:500])
    assert court.world.signs(report) == []
    assert acting(report) == []
    assert court.memory_growth < MEMORY_GROWTH
    assert court.disturbers() == []


def test_what_is_graded_is_what_was_read(court, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(WRONG, encoding="utf-8")
    submission = Submission.read(path)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            path.write_text(RIGHT, encoding="utf-8")

    swapper = threading.Thread(target=swap)
    swapper.start()
    report = court.grade(submission, only=["output-shape", "values"])
    stop.set()
    swapper.join()

    assert report.verdict == "rejected"
    assert report.submission.sha256 == submission.sha256


@pytest.mark.parametrize(
    "attack", [a for a in ATTACKS if a.shows_unconfined], ids=lambda attack: attack.name
)
def test_the_evidence_is_seen_where_nothing_confines(attack, world, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(world.placed(attack.text), encoding="utf-8")
    problem = BANK.problem("sdpa").model_copy(update={"limits": attack.limits})
    try:
        with closing(Unconfined().open()) as channel:
            channel.start(Limits())
            report = grade(Submission.read(path), BANK, problem, channel, only=["output-shape"])
            signs = world.signs(report)
    finally:
        world.clean_up()
        world.signs(None)  # takes the calls that wait

    assert signs
    assert not gone(lambda: world.signs(None), set(world.signs(None)))


def test_the_corpus_is_whole_and_says_what_it_expects():
    assert len(FILES) >= 80
    for attack in ATTACKS:
        assert attack.kind == attack.name.split("/")[0], attack.name
        assert set(attack.expect) <= {"accepted", "rejected", "error", "timeout", "crashed"}
        assert attack.evidence in EVIDENCE, attack.name
        assert bool(attack.why) is ("accepted" in attack.expect), attack.name


def test_the_table_in_security_lists_these_classes_and_counts():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = text.partition(BEGIN)[2].partition(END)[0]

    found = [row.split("|")[1:3] for row in table.splitlines() if row.startswith("| ")][1:]

    assert [(kind.strip(), int(count)) for kind, count in found] == [
        (kind, COUNTS[kind]) for kind in CLASSES
    ], "write it anew; see tests/attacks/table.py"


def test_no_memory_of_a_supervisor_is_shared_with_its_workers():
    with closing(Unconfined().open()) as channel:
        channel.start(Limits())
        pid = channel._transport._process.pid
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()

    assert [line for line in maps if "w" in line.split()[1] and "s" in line.split()[1]] == []


class Remembering(Court):
    """A court whose channel fails its controls once the bad one of its attacks was made in it."""

    def __init__(self, bad):
        self._bad, self._made, self._since_control = bad, [], []

    def grade(self, submission, limits=None, **options):
        self._made.append(submission)

    def controls(self):
        return ["accepted became rejected"] if self._bad in self._made else []

    def close(self):
        self._made.clear()


@pytest.mark.parametrize("count", [ATTACKS_A_CONTROL, ATTACKS_A_CONTROL + 4])
def test_the_attack_that_disturbs_what_follows_is_found_among_others(count):
    court, found = Remembering(bad=3), []

    for number in range(count):
        court.grade_attack(f"attack {number}", number, Limits())
        found += court.disturbers()

    assert found == ["attack 3: accepted became rejected"]
    assert court.disturbers(now=True) == []
