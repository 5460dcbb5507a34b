"""What a packet says of an answer, and what it asks."""

import json
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from mha_judge.bank import LANGUAGES
from mha_judge.errors import UsageError
from mha_judge.packet.answers import by_candidate, from_report
from mha_judge.packet.build import build
from mha_judge.packet.folder import make_folder
from mha_judge.packet.models import Notes
from mha_judge.packet.notes import read_notes
from mha_judge.packet.questions import follow_ups
from mha_judge.render.packet import html
from mha_judge.render.packet.files import write
from mha_judge.report.models import Diagnosis, LoadProblem

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>]]>{{ 7 * 7 }}&amp;"


class Page(HTMLParser):
    """The tags and attributes of a page, and what it says."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.said, self.values = Counter(), Counter(), [], set()
        self._unsaid = False
        self.feed(text)
        self.text = " ".join("".join(self.said).split())

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        self.values.update(attrs)
        self._unsaid = tag in ("style", "script")

    def handle_data(self, data):
        self.said.append("" if self._unsaid else data)
        self._unsaid = False


def near_misses(answer, bank):
    return build("alice", [answer], bank).answers[0].questions.near_misses


def leaves(value):
    """Yield every text of some JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)


def test_each_mistake_is_asked_about_without_its_name(make_answer, bank):
    answer = make_answer(failed=["scale"], mistakes=["no-scale"])

    sheet = build("alice", [answer], bank).answers[0]

    [asked] = sheet.questions.mistakes
    assert asked.question.startswith("Look at no-scale .")
    assert "mistake no-scale" not in asked.question
    assert (asked.mistake, asked.good_answer) == ("no-scale", ["why no-scale "])
    assert sheet.mistakes[0].checks == ["title of scale "]
    assert sheet.failures == []


def test_a_mistake_that_the_bank_does_not_list_is_asked_about_by_name(make_answer, bank):
    made = Diagnosis(id="derived-1", title="+ is −", explanation="look", hint="Compare this step.")

    sheet = build("alice", [make_answer(failed=["scale"], diagnoses=[made])], bank).answers[0]

    [asked] = sheet.questions.mistakes
    assert asked.question.startswith("“+ is −”: does your code do that")
    assert (asked.about, asked.good_answer) == ("", ["look"])


def test_what_no_mistake_explains_is_told_by_itself(make_answer, bank):
    answer = make_answer(failed=["scale", "mask"], mistakes=["no-scale"])

    failures = build("alice", [answer], bank).answers[0].failures

    assert [(check.id, check.message) for check in failures] == [("mask", "message ")]


def test_near_misses_are_the_same_for_the_same_source_and_others_for_others(make_answer, bank):
    sources = [f"x = {number}\n" for number in range(12)]

    first = [[q.mistake for q in near_misses(make_answer(source=s), bank)] for s in sources]
    again = [[q.mistake for q in near_misses(make_answer(source=s), bank)] for s in sources]

    assert first == again
    assert all(len(set(names)) == 3 for names in first)
    assert len(set(map(tuple, first))) > 3


def test_a_near_miss_was_avoided_and_has_a_check_of_its_own(make_answer, bank):
    known = {mistake.id: mistake for mistake in bank.mistakes("sdpa")}
    named = Counter(mistake.killed_by for mistake in known.values())
    alone = [m for m in known.values() if named[m.killed_by] == 1]
    failed = ["float64", "bad-widths"]
    ruled_out = [*failed, "written-from-scratch"]
    made = [next(m.id for m in alone if m.killed_by not in ruled_out)]

    asked = [
        question
        for number in range(20)
        for question in near_misses(
            make_answer(failed=failed, mistakes=made, source=f"x = {number}\n"), bank
        )
    ]

    assert len(asked) > 20
    for question in asked:
        mistake = known[question.mistake]
        assert mistake in alone
        assert mistake.id not in made
        assert mistake.killed_by not in ruled_out
        assert mistake.title in question.question
        assert f"title of {mistake.killed_by}" in question.good_answer[0]
        assert question.good_answer[1] == mistake.explanation.strip()


def test_an_answer_that_did_not_load_avoided_nothing(make_answer, bank):
    answer = make_answer(checks=[], verdict="error", load_problem=LoadProblem(message="no", line=2))

    packet = build("alice", [answer], bank)

    assert packet.answers[0].questions.near_misses == []
    assert packet.answers[0].load_problem == "line 2: no"
    assert packet.dimensions[0].evidence[0].text.startswith("The file did not load")


@pytest.mark.parametrize("language", LANGUAGES)
def test_general_questions_are_all_that_the_bank_has_in_the_language(bank, language):
    for problem in bank.ids:
        text = bank.follow_ups(problem, language)

        found = follow_ups(text)

        kept = " ".join(" ".join((one.question, *one.good_answer)) for one in found)
        plain = "\n".join(line.strip().removeprefix("- ") for line in text.splitlines())
        assert kept.split() == plain.replace("## ", "").split(), problem
        assert all(one.good_answer for one in found), problem


def test_the_sheet_has_evidence_where_the_judge_measured_and_no_mark(make_answer, bank):
    answer = make_answer(failed=["scale", "mask"], mistakes=["no-scale"])

    rows = {row.name: row for row in build("alice", [answer], bank).dimensions}

    assert list(rows) == [
        "Correctness", "Masking", "Numerics", "Efficiency", "Code quality", "Understanding",
    ]  # fmt: skip
    said = {name: " ".join(one.text for one in row.evidence) for name, row in rows.items()}
    assert "values 2 of 3" in said["Correctness"]
    assert "Mistake: mistake no-scale  (−15)." in said["Correctness"]
    assert said["Masking"] == "Checks passed: masking 2 of 3. Failed: “title of mask ”."
    assert "0.25 s of processor time" in said["Efficiency"]
    assert "200 MiB" in said["Efficiency"]
    assert (said["Code quality"], said["Understanding"]) == ("", "")
    assert [row.measured for row in rows.values()] == [True] * 4 + [False] * 2
    assert build("alice", [answer], bank).interviewer == Notes(candidate="alice")


def test_page_and_json_say_the_same(make_answer, bank):
    answer = make_answer(
        failed=["scale", "mask"], mistakes=["no-scale"], text="text", wrong_where="L is 1"
    )
    ungraded = replace(
        answer, candidate="alice", problem="gqa", report=None, failure="the judge broke"
    )

    packet = build("alice", [answer, ungraded], bank, "zh").model_copy(update={"bundle": "a.zip"})

    page = Page(html.render(packet)).text
    document = json.loads(packet.model_dump_json())
    assert document["schema_version"] == 1
    missing = [
        text for text in leaves({**document, "language": ""}) if " ".join(text.split()) not in page
    ]
    assert missing == []
    assert "80 / 100" in page
    assert "strict 60.5" in page
    assert "1def scaled_dot_product_attention(q, k, v, mask=None):2 return v" in page


def test_hostile_text_stays_text(make_answer, bank):
    answer = make_answer(
        failed=["scale", "mask"], mistakes=["no-scale"], text=HOSTILE, source=f"# {HOSTILE}\x1b\n"
    )

    page = Page(html.render(build(HOSTILE, [answer], bank)))

    assert page.text.count("{{ 7 * 7 }}&amp;") > 10
    assert "\\u{1b}" in page.text
    plain = Page(html.render(build("alice", [answer], bank)))
    assert page.tags == plain.tags
    assert page.attributes == plain.attributes


def test_a_page_needs_nothing_beside_it(make_answer, bank):
    text = html.render(build("alice", [make_answer()], bank))

    assert [word for word in ("src=", "href=", "url(", "@import", "http") if word in text] == []
    assert text.count('type="radio"') == 6 * 6 + 4


def test_what_an_interviewer_typed_is_in_the_next_page_and_nothing_of_it_is_lost(
    make_answer, bank, tmp_path
):
    answer = make_answer(failed=["scale"], mistakes=["no-scale"])
    [asked] = build("alice", [answer], bank).answers[0].questions.mistakes
    typed = {
        "candidate": "alice",
        "recommendation": "no hire",
        "summary": "knows the shapes",
        "marks": {"Masking": 4},
        "notes": {
            "Masking": HOSTILE,
            f"sdpa: {asked.question}": "found it at once",
            "gqa: Why?": "of another day",
        },
    }
    (tmp_path / "a.json").write_text(json.dumps(typed), encoding="utf-8")

    packet = build(
        "alice", [answer], bank, notes=read_notes([tmp_path / "a.json"], ["alice"])["alice"]
    )

    page = Page(html.render(packet))
    assert json.loads(packet.model_dump_json())["interviewer"] == typed
    assert {("value", "no hire"), ("checked", None)} <= page.values
    assert page.attributes["checked"] == 2
    for text in ("knows the shapes", HOSTILE, "found it at once", "of another day", "gqa: Why?"):
        assert text in page.text


def test_characters_that_turn_the_direction_of_writing_are_visible_in_notes():
    notes = Notes(candidate="alice", summary="a\u202eb", notes={"Masking": "\u2066注\n"})

    assert (notes.summary, notes.notes) == ("a\\u{202e}b", {"Masking": "\\u{2066}注\n"})


@pytest.mark.parametrize(
    ("texts", "why"),
    {
        "no JSON": (["x"], "is no notes that a packet's page saved"),
        "a list": (["[]"], "is no notes that a packet's page saved"),
        "another key": (['{"candidate": "alice", "mark": 1}'], "mark: Extra inputs"),
        "no candidate": (["{}"], "candidate: Field required"),
        "a mark of 7": (['{"candidate": "alice", "marks": {"Masking": 7}}'], "marks.Masking: "),
        "text": (['{"candidate": "alice", "marks": {"Masking": "4"}}'], "marks.Masking: "),
        "no dimension": (
            ['{"candidate": "alice", "marks": {"Charm": 4}}'], "there is no dimension 'Charm'",
        ),
        "nobody": (['{"candidate": "bob"}'], "the notes are on 'bob', who has no answer here"),
        "twice": (['{"candidate": "alice"}'] * 2, "there are notes on 'alice' already"),
        "large": (["[" * 2**21], "is larger than 1 MiB"),
    }.values(),
)  # fmt: skip
def test_notes_that_are_none_are_refused(tmp_path, texts, why):
    paths = [tmp_path / f"{number}.json" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError) as refused:
        read_notes(paths, ["alice"])

    assert why in str(refused.value)


def test_candidates_get_files_of_their_own(make_answer, bank, tmp_path):
    names = ["alice", "../alice", "a/b", "张伟"]

    make_folder(tmp_path / "packets")
    pages = write([make_answer(candidate=n) for n in names], bank, tmp_path / "packets", "en")

    files = sorted(path.name for path in (tmp_path / "packets").iterdir())
    assert len(pages) == 4
    assert len(files) == 12
    assert {"alice.html", "alice.json", "alice.zip"} <= set(files)
    assert [path.name for path in tmp_path.iterdir()] == ["packets"]
    read = [json.loads(page.with_suffix(".json").read_text("utf-8")) for page in pages]
    assert sorted(packet["candidate"] for packet in read) == sorted(names)


def test_two_answers_of_a_candidate_to_one_problem_are_refused(make_answer):
    with pytest.raises(UsageError, match="are both alice's answer to sdpa"):
        by_candidate([make_answer(), make_answer(source="x = 1\n")])


@pytest.mark.parametrize(
    ("now", "why"),
    [("x = 1\n", ""), ("x = 2\n", "has changed since"), (None, "there is no such file")],
)
def test_the_source_of_a_report_is_that_of_its_file_if_that_is_the_same(
    make_answer, bank, tmp_path, now, why
):
    graded = make_answer(source="x = 1\n")
    file = tmp_path / "bob" / "sdpa.py"
    file.parent.mkdir()
    if now is not None:
        file.write_text(now, encoding="utf-8")
    about = graded.report.submission.model_copy(update={"path": str(file)})
    report = graded.report.model_copy(update={"submission": about})
    path = tmp_path / "report.json"
    path.write_text(report.model_dump_json(), encoding="utf-8")

    answer = from_report(path, bank)

    assert answer.candidate == "bob"
    assert (answer.submission is None) == bool(why)
    assert why in answer.no_source
    sheet = build("bob", [answer], bank).answers[0]
    assert sheet.source == ([] if why else ["x = 1"])


def test_a_report_of_some_checks_alone_is_refused(make_answer, bank, tmp_path):
    path = tmp_path / "report.json"
    report = make_answer().report.model_copy(update={"only": ["values"]})
    path.write_text(report.model_dump_json(), encoding="utf-8")

    with pytest.raises(UsageError, match="write it again without --only"):
        from_report(path, bank)


@pytest.mark.parametrize("text", ["", "{}", "[" * 100_000, '{"schema_version": 1}'])
def test_what_is_no_report_is_refused(bank, tmp_path, text):
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match="is no report of this version"):
        from_report(path, bank)
