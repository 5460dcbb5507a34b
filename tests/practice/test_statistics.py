"""What practice has come to: the numbers, how they are shown, and taking them elsewhere."""

import io
import json
import re
import shutil
import time
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from practising import BANK, hand_in
from rich.cells import cell_len
from rich.console import Console

from mha_judge.bank import LANGUAGES, Bank
from mha_judge.bank.ladder import read_ladders
from mha_judge.cli import main
from mha_judge.practice import statistics as module
from mha_judge.practice.progress import Attempt, Progress, StoredCard
from mha_judge.practice.statistics import LEFT, statistics
from mha_judge.render.practice import html, terminal

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b[31m[bold]{{ 7 * 7 }}&amp;"
VOID = {"meta", "br", "img", "link", "input", "hr"}


@pytest.fixture
def zone(monkeypatch):
    """Sets the time zone where the learner is."""

    def set_(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    set_("UTC")
    yield set_
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def story(learner, clock, zone, tmp_path):
    """Two weeks: a problem solved with a slip and a hint, one without, one begun, one that left."""
    learner.begin("sdpa", tmp_path / "sdpa.py")
    clock.wait(minutes=10)
    hand_in(learner, "sdpa", "no-scale", path=tmp_path / "sdpa.py")
    learner.take(learner.offer("sdpa", "en"))
    clock.wait(minutes=5)
    hand_in(learner, "sdpa", path=tmp_path / "sdpa.py", accepted=True)
    clock.wait(days=7)
    learner.begin("sdpa-numpy", tmp_path / "numpy.py")
    clock.wait(minutes=20)
    hand_in(learner, "sdpa-numpy", path=tmp_path / "numpy.py", accepted=True)
    learner.begin("softmax", tmp_path / "softmax.py")
    clock.wait(minutes=6)
    hand_in(learner, "softmax", path=tmp_path / "softmax.py")
    add(learner.progress, "left-the-bank", clock(), "some-mistake")
    return learner


def add(progress, problem, at, *mistakes):
    """Keep two minutes of work on a problem, which need not be in the bank."""
    round_ = progress.begin(problem, f"/tmp/{problem}.py", at, review=False)
    progress.add_attempt(
        Attempt(0, round_.id, at, "0" * 64, "", 1, "rejected", 40.0, 40.0, mistakes, 0.0, 120.0)
    )


def numbers(learner, clock):
    return statistics(learner.bank, learner.progress, clock())


def lines_of(found, bank, language):
    console = Console(width=80, record=True, file=io.StringIO(), highlight=False)
    terminal.show(found, bank, language, console)
    return console.export_text().splitlines()


class Page(HTMLParser):
    """Fails on a tag that is closed wrongly, and keeps what the page has."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.said = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.said.append(data)


def test_the_numbers_of_two_weeks(story, clock):
    found = numbers(story, clock)

    assert found.totals == {
        "solved": 2, "problems": len(BANK.ids), "points": 23.8, "of": found.totals["of"],
        "minutes": 43.0, "tries": 5,
    }  # fmt: skip
    assert len(found.weeks) == 12
    first, last = found.weeks[-2:]
    assert (first.monday, last.monday) == (date(2026, 3, 2), date(2026, 3, 9))
    assert (first.minutes, first.tries, first.solved, first.points) == (15.0, 2, 1, 9.8)
    assert (last.minutes, last.tries, last.solved, last.points) == (28.0, 3, 1, 23.8)
    assert all(not week.tries and not week.points for week in found.weeks[:-2])


def test_the_numbers_of_tracks(story, clock):
    tracks = {track.track: track for track in numbers(story, clock).tracks}

    basics, left = tracks["basics"], tracks[LEFT]
    assert (basics.solved, basics.points) == (2, 23.8)
    assert basics.minutes == (*[0.0] * 10, 15.0, 26.0)
    assert basics.tries == (*[0] * 10, 2, 2)
    assert (left.problems, left.solved, left.points, left.of) == (1, 0, 0.0, 0)
    assert left.minutes[-1] == 2.0
    assert list(tracks)[-1] == LEFT
    assert tracks["inference"].tries == (0,) * 12


def test_the_numbers_of_problems(story, clock):
    lines = {line.id: line for line in numbers(story, clock).problems}

    sdpa = lines["sdpa"]
    assert (sdpa.tries, sdpa.minutes, sdpa.best, sdpa.points) == (2, 15.0, 98.0, 9.8)
    assert sdpa.solved == datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
    due = story.progress.cards()["problem:sdpa"].due.astimezone().date()
    assert sdpa.due == max(due, date(2026, 3, 9))
    assert lines["softmax"].open
    assert lines["softmax"].solved is None
    assert lines["left-the-bank"].track == LEFT
    assert lines["rope"].tries == 0


def test_a_misconception_is_shown_and_then_asked_again(story, clock, tmp_path):
    found = {met.id: met for met in numbers(story, clock).misconceptions}

    no_scale = found["no-scale"]
    assert no_scale.shown == (*[0] * 10, 1, 0)
    assert no_scale.avoided == (*[0] * 10, 0, 1)  # the round that showed it asked only once
    assert (no_scale.problem, no_scale.mistake, no_scale.times) == ("sdpa", "no-scale", 1)
    assert "left-the-bank/some-mistake" in found


def test_what_was_solved_before_a_misconception_was_met_does_not_count(learner, clock, tmp_path):
    learner.begin("sdpa-numpy", tmp_path / "numpy.py")
    hand_in(learner, "sdpa-numpy", path=tmp_path / "numpy.py", accepted=True)
    clock.wait(days=1)
    add(learner.progress, "sdpa", clock(), "no-scale")

    [met] = numbers(learner, clock).misconceptions

    assert sum(met.avoided) == 0


def test_the_last_shown_comes_first_then_the_most_often(learner, clock, zone):
    add(learner.progress, "sdpa", clock(), "no-scale")
    for mistakes in (["argmax"], ["argmax", "mask-added"]):
        clock.wait(days=7)
        add(learner.progress, "sdpa", clock(), *mistakes)

    ids = [met.id for met in numbers(learner, clock).misconceptions]

    assert ids == ["argmax", "mask-added", "no-scale"]


@pytest.mark.parametrize(
    ("name", "weeks"), [("UTC", [1, 0]), ("Asia/Shanghai", [0, 1]), ("America/Los_Angeles", [1, 0])]
)
def test_weeks_are_those_of_where_the_learner_is(learner, clock, zone, name, weeks):
    zone(name)
    clock.time = datetime(2026, 3, 8, 20, 0, tzinfo=UTC)  # Sunday; in Shanghai it is Monday
    add(learner.progress, "sdpa", clock())
    clock.wait(days=2)

    assert [week.tries for week in numbers(learner, clock).weeks[-2:]] == weeks


def test_a_year_that_has_53_weeks(learner, clock, zone):
    clock.time = datetime(2021, 1, 3, 12, 0, tzinfo=UTC)
    add(learner.progress, "sdpa", clock())

    week = numbers(learner, clock).as_json()["weeks"][-1]

    assert (week["week"], week["from"]) == ("2020-W53", "2020-12-28")


def test_what_lies_far_back_or_ahead_is_still_counted(learner, clock, zone):
    add(learner.progress, "sdpa", clock() - timedelta(days=2000), "no-scale")
    add(learner.progress, "sdpa", clock() + timedelta(days=50))

    found = numbers(learner, clock)

    assert len(found.weeks) == 104
    assert [found.weeks[0].tries, found.weeks[-1].tries] == [1, 1]
    assert found.totals["minutes"] == 4.0
    assert found.weeks[0].points == found.weeks[-1].points == 4.0


def test_nothing_is_due_on_the_day_on_which_it_was_rated(learner, clock, zone):
    card = StoredCard("problem:sdpa", "", clock(), "", 3, clock())
    learner.progress.put_card(card)
    learner.progress.put_card(StoredCard("problem:left", "", clock(), "", 3, clock()))
    learner.progress.put_card(StoredCard("mistake:no-scale", "", clock(), "", 3, clock()))

    [due] = numbers(learner, clock).due

    assert (due.id, due.day) == ("sdpa", date(2026, 3, 3))
    clock.wait(days=30)
    [due] = numbers(learner, clock).due
    assert due.day == date(2026, 4, 1)  # overdue: today


def test_a_due_misconception_knows_a_problem_that_can_show_it(story, clock):
    [due] = [one for one in numbers(story, clock).due if one.kind == "misconception"]

    assert due.id == "no-scale"
    assert (due.problem, due.mistake) in {("sdpa", "no-scale"), ("sdpa-numpy", "no-scale")}


def test_every_key_of_the_json_is_described(story, clock):
    value = numbers(story, clock).as_json()

    def keys(one):
        if isinstance(one, dict):
            return set(one).union(*map(keys, one.values()))
        return set().union(*map(keys, one)) if isinstance(one, list) else set()

    missing = [key for key in keys(value) if not re.search(rf"\b{key}\b", module.__doc__)]
    assert missing == []
    assert json.loads(json.dumps(value)) == value
    assert value["totals"]["problems"] + 1 == len(value["problems"])
    assert value["now"] == "2026-03-09T09:41:00+00:00"
    [sdpa] = [line for line in value["problems"] if line["id"] == "sdpa"]
    assert sdpa["solved"] == "2026-03-02T09:15:00+00:00"


# the terminal


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_summary_fits_80_columns(story, clock, language):
    add(story.progress, "x" * 300, clock(), "漢" * 200)
    learner_sees_all = numbers(story, clock)

    lines = lines_of(learner_sees_all, story.bank, language)

    assert max(map(cell_len, lines)) <= 80
    title = read_ladders(BANK, "sdpa", language).mistakes["no-scale"].title
    assert any(line.strip().startswith(title) for line in lines)


def test_the_summary_reads_without_colour(story, clock):
    found = numbers(story, clock)

    lines = lines_of(found, story.bank, "en")

    assert f"2 of {len(BANK.ids)} problems solved · 24 of " in lines[0]
    [track] = [line for line in lines if line.startswith("  basics") and "━" in line]
    assert f"2 / {found.tracks[0].problems}" in track
    [work] = [line for line in lines if line.startswith("  basics") and "░" in line]
    assert work.split() == ["basics", *["·"] * 10, "░░", "▒▒", "41", "min"]
    [slip] = [line for line in lines if "divided by √D" in line and "·" in line]
    assert slip.split()[-3:] == ["·", "✗", "✓"]


def test_what_is_due_is_told_by_day(story, clock):
    clock.wait(days=1)
    lines = lines_of(numbers(story, clock), story.bank, "en")
    start = next(number for number, line in enumerate(lines) if line.startswith("What is due"))

    assert lines[start + 1].split()[:2] == ["today", "sdpa"]
    assert "today" not in " ".join(lines[start + 2 :])


@pytest.mark.parametrize(
    ("language", "said"), [("en", "names a first problem"), ("zh", "第一道题")]
)
def test_without_progress_one_is_told_how_to_begin(learner, clock, language, said):
    found = numbers(learner, clock)

    text = " ".join(" ".join(lines_of(found, learner.bank, language)).split())

    assert said in text
    assert "`mha-judge next`" in text
    assert said in html.render(found, learner.bank, language)


# the page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("empty", [False, True])
def test_the_page_is_whole_and_needs_nothing_else(request, learner, clock, language, empty):
    if not empty:
        request.getfixturevalue("story")

    text = html.render(numbers(learner, clock), learner.bank, language)

    page = Page(text)
    assert not re.search(r"https?:|//|url\(|@import", text)
    assert {"script", "link", "img", "iframe"}.isdisjoint(page.tags)
    assert {"src", "href"}.isdisjoint(name for name, _ in page.attributes)
    assert page.tags.count("caption") == page.tags.count("table") > 0
    assert page.tags.count("th") == sum(name == "scope" for name, _ in page.attributes)


def test_the_page_has_the_numbers(story, clock):
    page = Page(html.render(numbers(story, clock), story.bank, "en"))

    titles = [value for name, value in page.attributes if name == "title"]
    assert "basics, week of 2 Mar 2026: 15 min · 2 answers" in titles
    assert "week of 2 Mar 2026: shown in 1 answer" in titles
    assert "week of 9 Mar 2026: asked again and not shown: 1×" in titles
    assert "week of 9 Mar 2026: 23.8" in page.said
    assert "Points earned: 0 by" in dict(page.attributes)["aria-label"]
    text = " ".join(page.said)
    assert "Scaled dot-product attention" in text
    assert "2026-03-02" in text


@pytest.fixture
def hostile_bank(tmp_path):
    """A bank of one problem, whose author is up to no good."""
    root = tmp_path / "bank"
    for folder in ("problems/softmax", "graders", "reference/mistakes", "reference/hints"):
        (root / folder).mkdir(parents=True)
    for name in (
        "problems/softmax/problem.toml", "graders/test_softmax.py", "reference/softmax.py",
        "reference/mistakes/softmax.toml", "reference/mistakes/shared.toml",
    ):  # fmt: skip
        shutil.copy(BANK.root / name, root / name)
    path = root / "problems/softmax/problem.toml"
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        if line.startswith(("title", "track")):
            lines[number] = f"{line.split()[0]} = {json.dumps(HOSTILE)}"
    path.write_text("\n".join(lines))
    return Bank.at(root)


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_names_stay_text(hostile_bank, tmp_path, clock, zone, language):
    with Progress(tmp_path / "p") as progress:
        add(progress, "softmax", clock(), HOSTILE)
        add(progress, HOSTILE, clock(), HOSTILE)
        found = statistics(hostile_bank, progress, clock())

    page = Page(html.render(found, hostile_bank, language))
    lines = lines_of(found, hostile_bank, language)

    assert {"script", "img"}.isdisjoint(page.tags)
    assert not any(
        "\x1b" in text for text in [*page.said, *(value for _, value in page.attributes)]
    )
    assert any("<script>alert(1)</script>" in text for text in page.said)
    assert "[bold]" in "".join(lines)
    assert max(map(cell_len, lines)) <= 80


# the command


@pytest.fixture
def invoke(store, clock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mha_judge.practice.learner.now", clock)

    def invoke_(*args, expected=0, **options):
        result = CliRunner().invoke(main, ["progress", *map(str, args)], **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == expected, result.output
        return result.output

    return invoke_


def test_the_command_shows_prints_and_writes(invoke, story, tmp_path):
    assert f"2 of {len(BANK.ids)} problems solved" in invoke()
    assert json.loads(invoke("--json"))["totals"]["solved"] == 2
    assert invoke("--html", "page.html", "--lang", "zh") == "wrote page.html\n"
    Page((tmp_path / "page.html").read_text())
    assert invoke("--html", "-").startswith("<!DOCTYPE html>")
    assert json.loads(invoke("--json", "--html", "page.html"))["totals"]["tries"] == 5


def test_the_command_without_progress(invoke):
    assert invoke().count(".") == 1
    assert json.loads(invoke("--json"))["totals"]["tries"] == 0


@pytest.mark.parametrize(
    "args",
    [
        ("--json", "--html", "-"),
        ("--html", "no/such/folder/page.html"),
        ("--json", "export", "x.json"),
        ("export", "no/such/folder/x.json"),
        ("export", "."),
        ("import", "missing.json"),
        ("import", "."),
    ],
)
def test_what_does_not_fit_is_refused_with_a_remedy(invoke, story, args, tmp_path):
    said = invoke(*args, expected=2)

    assert re.search("; (give|name|leave)", said)
    assert not (tmp_path / "x.json").exists()


def test_an_export_overwrites_only_by_force(invoke, story, tmp_path):
    path = tmp_path / "x.json"
    path.write_text("mine")

    assert "--force" in invoke("export", path, expected=2)

    assert path.read_text() == "mine"
    invoke("export", path, "--force")
    assert path.read_text() == story.progress.export() + "\n"


@pytest.mark.parametrize("by_file", [True, False])
def test_an_export_is_taken_over_whole(invoke, story, clock, tmp_path, monkeypatch, by_file):
    before = numbers(story, clock)
    invoke("export", "x.json")
    text = invoke("export", "-")
    monkeypatch.setenv("MHA_JUDGE_PROGRESS", str(tmp_path / "elsewhere.sqlite3"))

    said = invoke("import", "x.json") if by_file else invoke("import", "-", input=text)

    assert said == "took over 4 rounds\n"
    assert invoke("export", "-") == text == (tmp_path / "x.json").read_text()
    with Progress(tmp_path / "elsewhere.sqlite3") as progress:
        assert statistics(BANK, progress, clock()) == before


def spoilt(spoil):
    def change(text):
        content = json.loads(text)
        spoil(content)
        return json.dumps(content).encode()

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"",
        lambda text: b"no JSON",
        lambda text: b"\xff\xfe\x00",
        lambda text: b"[" * 100_000,
        lambda text: text[:-20].encode(),
        spoilt(lambda content: content.update(mha_judge_progress=99)),
        spoilt(lambda content: content["attempt"][0].update(seed=10**40)),
        spoilt(lambda content: content["attempt"][0].update(seconds=float("inf"))),
        spoilt(lambda content: content["attempt"][0].update(score=float("nan"))),
        spoilt(lambda content: content["attempt"][0].update(source={})),
        spoilt(lambda content: content["attempt"][0].update(diagnoses="[[1]]")),
        spoilt(lambda content: content["card"][0].update(state="{}")),
        spoilt(lambda content: content["card"][0].update(rated="9999-12-31T00:00:00+00:00")),
    ],
)
def test_a_bad_import_takes_nothing_over(invoke, story, tmp_path, monkeypatch, change):
    (tmp_path / "x.json").write_bytes(change(story.progress.export()))
    monkeypatch.setenv("MHA_JUDGE_PROGRESS", str(tmp_path / "elsewhere.sqlite3"))
    empty = invoke("export", "-")

    said = invoke("import", "x.json", expected=2)

    assert re.search("name (another|a) file|export it|nothing was taken over", said)
    assert invoke("export", "-") == empty


def test_an_import_never_replaces_what_is_kept(invoke, story, tmp_path, monkeypatch):
    invoke("export", "x.json")
    assert "would be lost" in invoke("import", "x.json", expected=2)
    monkeypatch.setenv("MHA_JUDGE_PROGRESS", str(tmp_path / "elsewhere.sqlite3"))
    with Progress(tmp_path / "elsewhere.sqlite3") as progress:
        progress.put_note("sdpa", "mine", story._clock())  # no rounds, and still something

        assert "would be lost" in invoke("import", "x.json", expected=2)

        assert progress.note("sdpa") == "mine"
