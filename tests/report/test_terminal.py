"""What a person sees: as much as the level allows, and nothing that a submission's text does."""

import io

import pytest
from rich.console import Console

from mha_judge.bank import Bank
from mha_judge.outcomes import Outcome, Sample
from mha_judge.render.report import terminal
from mha_judge.report.models import FailingCall, LoadProblem, Reveal
from mha_judge.report.translation import translated


def shown(
    report, reveal=Reveal.FULL, every_check=False, named=None, language="en", **options
) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=200, highlight=False, **options)
    terminal.show(report, console, reveal, every_check=every_check, named=named, language=language)
    return stream.getvalue()


# words that a level shows, each level all of those before it
TOLD = {
    Reveal.SCORE: ["REJECTED", "12.5 / 100", "seed 7", "jail: landlock"],
    Reveal.CHECKS: ["Title of bad", "shape 1"],
    Reveal.HINTS: [
        "message of bad",
        "✗ a diagnosis",
        "a hint on x",
        "Mend first: Title of bad",
        "diagnosis of bad",
    ],
    Reveal.FULL: ["detail of bad", "why", "a note", "Policy: line 3: a finding", "printed"],
}


@pytest.mark.parametrize("reveal", Reveal)
def test_a_level_tells_what_it_allows_and_no_more(make_report, reveal):
    text = shown(make_report(), reveal)

    levels = list(Reveal)
    for level in levels:
        for words in TOLD[level]:
            assert (words in text) is (levels.index(level) <= levels.index(reveal)), words


def test_without_a_diagnosis_the_category_gives_the_hint(make_report):
    report = make_report()
    for check in report.checks:
        check.diagnosis = None

    assert "a hint on values" in shown(report)
    assert "a hint on values" not in shown(make_report())


def test_what_one_diagnosis_explains_is_told_in_full_once(make_report):
    report = make_report()
    again = report.checks[1].model_copy(update={"id": "again", "message": "told before"})
    report.checks.append(again)

    assert "told before" not in shown(report)
    assert shown(report).count(f"→ {again.diagnosis}") == 2


def test_a_mistake_comes_first_with_its_price(make_report):
    text = shown(explained(make_report()))
    lines = [line.strip() for line in text.splitlines()]

    at = next(n for n, line in enumerate(lines) if line.startswith("✗ a diagnosis"))
    assert lines[at].endswith("−15")
    assert text.index("a diagnosis") < text.index("Fails all the same")
    assert text.index("Fails all the same") < text.index("shape 1")


def test_one_sentence_says_what_the_mistakes_come_to(make_report):
    text = shown(explained(make_report()))

    assert "One mistake explains 1 of 4 failures (−15). With it granted, the other 2 checks" in text
    assert "; 3 still do not." in text
    assert "As it stands: 10." in text


def test_where_all_is_explained_everything_else_is_right(make_report):
    report = explained(make_report())
    checks = [check for check in report.checks if check.outcome == "passed" or check.granted]

    text = shown(report.model_copy(update={"checks": checks}))

    assert "explains the one failure (−15)" in text
    assert "everything else is right" in text


def test_while_claims_wait_nothing_is_said_to_be_right(make_report):
    report = explained(make_report())
    checks = [check for check in report.checks if check.outcome == "passed" or check.granted]
    claim = checks[-1].model_copy(
        update={"id": "any", "outcome": Outcome.NOT_ASSESSED, "granted": [], "only_if_right": True}
    )

    text = shown(report.model_copy(update={"checks": [*checks, claim]}))

    assert "nothing else was found so far" in text
    assert "everything else is right" not in text


def test_advice_is_no_part_of_what_is_counted(make_report):
    report = explained(make_report())
    bad = next(check for check in report.checks if check.id == "bad")
    changes = {"id": "advice", "title": "Title of advice", "advisory": True}
    waits = {"outcome": Outcome.NOT_ASSESSED, "granted": []}
    advice = [bad.model_copy(update=changes), bad.model_copy(update=changes | waits)]
    checks = [check for check in report.checks if check.outcome == "passed" or check.granted]
    own = [report.diagnoses[0].model_copy(update={"id": name}) for name in ("x", "y")]
    diagnoses = [one.model_copy(update={"checks": ["bad", "advice"]}) for one in own]
    changed = {"checks": [*checks, *advice], "diagnoses": diagnoses}

    text = shown(report.model_copy(update=changed))

    assert "2 mistakes together explain the one failure" in text
    assert "fails “Title of bad”" in text
    assert "Title of advice”" not in text and "1 more" not in text
    assert "cannot be told" not in text


def test_of_lines_that_no_check_reached_nothing_is_said_to_be_right(make_report):
    report = explained(make_report())
    checks = [check for check in report.checks if check.outcome == "passed" or check.granted]
    changes = {"checks": checks, "never_ran": [(32, 32), (39, 41)]}

    text = shown(report.model_copy(update=changes))

    assert "explains the one failure (−15)" in text
    assert "everything else is right" not in text
    assert "Nothing is known of what no check reached: 32, 39–41." in text


def test_every_check_is_shown_with_its_points_where_that_is_asked_for(make_report):
    report = make_report()
    grid = [[0.0, 1.0]]
    report.checks[1].sample = Sample(
        label="output", place="[0]", expected=grid, actual=[[1.0, None]]
    )

    text = shown(report, every_check=True)

    for check in report.checks:
        assert check.title in text
    assert "10/10" in text
    assert "█" in text
    assert "?" in text
    assert "10/10" not in shown(report)


CALL = FailingCall(code="x = 1\nf(x)", name="output", expected="[[2.]]", got="[[3.,\n 4.]]")


@pytest.mark.parametrize("reveal", Reveal)
def test_the_smallest_call_is_shown_with_hints_and_to_learners(make_report, reveal):
    report = make_report().model_copy(update={"failing_call": CALL})

    told = "output, yours:    [[3., 4.]]" in shown(report, reveal)

    assert told is (reveal in (Reveal.HINTS, Reveal.FULL))
    assert "try FILE --call -" in shown(report, Reveal.CHECKS, named=())


def test_a_learner_is_told_how_it_fails_where_no_call_shows_it_and_no_mistake(make_report):
    report = make_report()
    report.checks[3].diagnosis = None

    text = shown(report, Reveal.CHECKS, named=())

    assert "message of raised" in text  # which no mistake explains
    assert "Mend first: Title of bad" in text and "message of bad" in text
    assert "a diagnosis" not in text and "diagnosis of bad" not in text
    assert "message of" not in shown(report, Reveal.CHECKS)


def test_of_some_checks_alone_no_score_and_nothing_of_the_rest_is_told(make_report):
    report = explained(make_report())
    checks = [check for check in report.checks if check.outcome == "passed" or check.granted]
    report = report.model_copy(update={"checks": checks, "only": ["bad", "good"]})

    text = shown(report)

    assert "only these were run, so this is no verdict on the file: bad, good" in text
    assert "One mistake explains the one failure (−15)." in text
    assert "everything else is right" not in text and "/ 100" not in text


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (FailingCall(code="f()", got="raises X: y"), "    raises X: y"),
        (FailingCall(code="f()", name="weights", fault="returns no w", got=""), "    returns no w"),
        (
            FailingCall(code="f()", name="o", fault="o has dtype y", expected="[1.]", got="[1.]"),
            "    o, yours:    o has dtype y",
        ),
    ],
)
def test_what_came_is_told_where_no_numbers_show_it(make_report, call, told):
    report = make_report().model_copy(update={"failing_call": call})

    assert told in [line.rstrip() for line in shown(report).splitlines()]


def test_a_learner_reads_the_names_of_mistakes_that_hints_have_told(make_report):
    report = explained(make_report())

    before, after = (shown(report, Reveal.CHECKS, named=named) for named in ((), ("x",)))

    assert "a diagnosis" not in before
    assert "Title of bad" in before
    assert "One mistake explains 1 of 4 failures (−15)" in before
    assert "✗ a diagnosis" in after
    assert "why" in after


def test_of_many_failures_the_first_are_listed(make_report):
    report = make_report()
    bad = report.checks[1].model_copy(update={"diagnosis": None})
    many = [bad.model_copy(update={"id": f"n{n}", "title": f"Number {n}"}) for n in range(9)]
    report = report.model_copy(update={"checks": many, "diagnoses": []})

    text = shown(report)

    assert "Number 5" in text and "Number 6" not in text.replace("Number 0", "")
    assert "and 3 more; -v shows all" in text
    assert "Number 8" in shown(report, every_check=True)


def explained(report):
    """Return a report in which a mistake explains a failure and what was not assessed."""
    for check in (report.checks[1], report.checks[5]):
        check.granted = ["x"]
    mistake = report.diagnoses[0].model_copy(update={"checks": ["bad"], "cost": 15.0})
    return report.model_copy(update={"diagnoses": [mistake]})


def test_a_passed_check_tells_no_message(make_report):
    assert "message of good" not in shown(make_report())


def test_an_accepted_report_asks_to_mend_nothing(make_report):
    report = make_report()
    report = report.model_copy(update={"verdict": "accepted", "checks": report.checks[:1]})

    assert "Mend first" not in shown(report)


@pytest.mark.parametrize(
    "text", ["[red]x[/red]", "[/]", "[link=https://x]y[/link]", ":smile:", "<b>&amp;"]
)
def test_markup_of_a_submission_is_plain_text(make_report, text):
    output = shown(make_report(text), force_terminal=True, color_system="truecolor")

    for words in ("message of bad", "detail of bad", "a note", "a finding", "printed", "sdpa.py"):
        assert f"{words} {text}" in output or f"{words}{text}" in output


def test_a_load_problem_shows_its_line_and_a_mark_under_the_column(make_report):
    problem = LoadProblem(message="SyntaxError: oh [red]", line=3, column=5, source="x = [\n")

    lines = shown(make_report(verdict="error", checks=[], load_problem=problem)).splitlines()

    at = lines.index("line 3: SyntaxError: oh [red]")
    assert lines[at + 1] == "    x = ["
    assert lines[at + 2] == "        ^"


def test_a_flood_of_output_is_cut(make_report):
    report = make_report(
        output={"text": "\n".join(f"line {n}" for n in range(999)), "truncated": True}
    )

    text = shown(report)

    assert "line 4" in text
    assert "line 5" not in text
    assert "…" in text


def test_a_long_line_of_output_says_that_it_is_cut(make_report):
    text = shown(make_report(output={"text": "word " * 60, "truncated": False}))

    assert f"{('word ' * 40).rstrip()} …" in " ".join(text.split())


def test_advisory_checks_are_marked_as_such(make_report):
    [line] = [line for line in shown(make_report()).splitlines() if "Title of extra" in line]

    assert line.startswith("i ")
    assert "advisory" in line


def test_a_wrong_file_is_told_the_answers_that_it_got_wrong(make_report):
    report = make_report()
    for check in report.checks:
        check.explanation = f"because of {check.id}"

    assert "because of bad" in shown(report)
    assert "because of good" not in shown(report)
    assert "1 more you answered rightly" in shown(report)
    assert "because of good" in shown(report, every_check=True)


def test_what_is_ruled_out_is_told_once_for_a_line(make_report):
    report = make_report()
    report.policy.append(report.policy[0].model_copy(update={"message": "what that runs"}))

    assert "what that runs" not in shown(report)
    assert "what that runs" in shown(report, every_check=True)
    first = next(check for check in report.checks if check.id == "bad")
    first.message = report.policy[0].message
    assert "Mend first" not in shown(report)


def test_numbers_are_left_out_where_a_call_shows_more(make_report):
    report = make_report(diagnoses=[])
    for check in report.checks:
        check.diagnosis = None

    assert "detail of bad" in shown(report)
    report.failing_call = CALL
    assert "detail of bad" not in shown(report)
    assert "detail of bad" in shown(report, every_check=True)


def test_the_answers_to_questions_are_told_in_chinese(make_report):
    bank = Bank.builtin()
    report = make_report(problem="concepts")
    question = bank.questions("concepts")["why_sqrt_d"]
    for check in report.checks:
        check.explanation = question.told("en")

    told = translated(report, bank, "zh")

    assert {check.explanation for check in told.checks} == {question.told("zh")}


def test_a_report_is_told_in_chinese(make_report):
    bank = Bank.builtin()
    [mistake] = [one for one in bank.mistakes("sdpa") if one.id == "no-scale"]
    report = make_report()
    report.diagnoses[0].id, report.diagnoses[0].title = mistake.id, mistake.title
    titles = bank.titles("zh")
    bad = next(check for check in report.checks if check.id == "bad")
    bad.title, bad.diagnosis = next(iter(titles)), mistake.title
    unasked = next(check for check in report.checks if check.id == "open")
    report.checks.append(unasked.model_copy(update={"id": "last", "only_if_right": True}))

    text = shown(translated(report, bank, "zh"), language="zh")

    assert "缩放点积注意力  未通过" in text
    assert titles[bad.title] in text
    assert "没有除以" in text  # the mistake
    assert mistake.title not in text
    assert "规则：第 3 行：a finding" in text
    assert "未评：1 项依赖于失败的检查，1 项要等其余全对才评" in text
    assert translated(report, bank, "en") is report
