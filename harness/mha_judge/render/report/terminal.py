"""The report as a person reads it in a terminal: what matters first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mha_judge.outcomes import Outcome, Sample, Verdict
from mha_judge.render.marks import MARKS
from mha_judge.render.report.picture import picture
from mha_judge.report.models import (
    NOTHING_RUN,
    CheckResult,
    Diagnosis,
    FailingCall,
    LoadProblem,
    Report,
    Reveal,
)
from mha_judge.report.summary import (
    Summary,
    explained_by,
    in_one_sentence,
    look_at,
    summarise,
)
from mha_judge.report.words import WORDS, Words, category_in
from mha_judge.sanitising import clean

_COLOURS: dict[Outcome, str] = {
    Outcome.PASSED: "green",
    Outcome.NOT_ASSESSED: "yellow",
}
_STYLES = {Verdict.ACCEPTED: "bold green", Verdict.REJECTED: "bold red"}
_WIDTH = 100
"""Columns of a report as text."""
_MAX_NAMED = 1
"""Titles of checks that a diagnosis names; the others are counted."""
_MAX_ROWS = 6
"""Checks that are listed; the others are counted."""


def printed(
    report: Report,
    reveal: Reveal = Reveal.FULL,
    *,
    every_check: bool = False,
    language: str = "en",
) -> str:
    """Return a report as plain text; see `show`."""
    paper = Console(
        file=StringIO(), width=_WIDTH, highlight=False, color_system=None, force_jupyter=False
    )
    with paper.capture() as caught:
        show(report, paper, reveal, every_check=every_check, language=language)
    return "\n".join(line.rstrip() for line in caught.get().strip().splitlines())


def show(
    report: Report,
    console: Console,
    reveal: Reveal = Reveal.FULL,
    *,
    every_check: bool = False,
    named: Collection[str] | None = None,
    language: str = "en",
) -> None:
    """Print a report, telling as much as `reveal` allows.

    Args:
        report: What came of a submission.
        console: Where it is printed.
        reveal: How much its reader may know.
        every_check: Print each check with its points, and pictures of what came of it.
        named: For a learner: ids of the mistakes that hints have named. They are told at any level,
            and so is a small call that goes wrong, or else what to look at first.
        language: Of the words around what was found, `en` or `zh`.
    """
    words = WORDS[language]
    _show_verdict(report, console, words)
    if report.load_problem is not None:
        _show_load_problem(report.load_problem, console, words)
    found = reveal is not Reveal.SCORE and (report.load_problem is None or report.diagnoses)
    if found:
        _show_findings(report, console, reveal, every_check, named, language)
    elif reveal is Reveal.FULL:
        _show_lines(_notes(report, every_check, words), console)
    console.print()
    if report.sandbox.tier == NOTHING_RUN:
        console.print(Text(NOTHING_RUN, style="dim"))
        return
    console.print(
        Text(
            f"seed {report.seed} · {report.sandbox.backend}: {report.sandbox.tier} · "
            f"{report.instruction_set} · "
            f"{'' if report.device == 'cpu' else report.device + ' · '}"
            f"{report.timings_s.get('total', 0):.1f} s",
            style="dim",
        )
    )


def _show_verdict(report: Report, console: Console, words: Words) -> None:
    style = _STYLES.get(report.verdict, "bold yellow")
    console.print()
    score = (
        "" if report.verdict_only or report.only else f"  {report.score:g} / {report.max_score:g}"
    )
    console.print(
        Text.assemble(
            (report.title, "bold"), "  ", (words[str(report.verdict)], style), (score, "bold")
        )
    )
    console.print(Text(f"{report.submission.path} · {report.problem}", style="dim"))


def _show_load_problem(problem: LoadProblem, console: Console, words: Words) -> None:
    place = words["line"].format(line=problem.line) if problem.line is not None else ""
    console.print()
    console.print(Text(f"{place}{problem.message}", style="yellow"))
    if problem.source:
        line = problem.source.expandtabs(4)
        console.print(Text("    " + line.strip("\n")))
        if problem.column is not None:
            console.print(
                Text(
                    "    " + " " * max(0, min(problem.column, len(line) + 1) - 1) + "^",
                    style="yellow",
                )
            )


def _show_findings(
    report: Report,
    console: Console,
    reveal: Reveal,
    every_check: bool,
    named: Collection[str] | None,
    language: str,
) -> None:
    """Say what is wrong: mistakes, other failures, a call that shows it; then what is right."""
    found, words = summarise(report), WORDS[language]
    tells = reveal in (Reveal.HINTS, Reveal.FULL)
    known = [one for one in report.diagnoses if tells or one.id in (named or ())]
    for diagnosis in known:
        _show_diagnosis(diagnosis, report, console, Reveal.FULL if not tells else reveal, words)
    if report.diagnoses:
        _show_sentence(report, console, language)
    explained = {check.id for one in known for check in explained_by(one, report)}
    failed = [c for c in found.failures if c.id not in explained]
    if tells:
        failed = found.unexplained
    if every_check:
        _show_every_check(report, console, reveal, language)
    elif failed or found.advice:
        console.print()
        if tells and report.diagnoses and failed:
            console.print(Text(words["other reasons"], style="bold"))
        if tells and report.wrong_where and failed:
            told = words["wrong where besides" if report.diagnoses else "wrong where"]
            console.print(Text(told.format(where=report.wrong_where)))
        rows = [*_once(failed), *found.advice]
        more = len(failed) + len(found.advice) - len(rows[:_MAX_ROWS])
        shows_call = report.failing_call is not None  # which tells more than numbers
        _show_rows(
            rows[:_MAX_ROWS], console, reveal, language,
            detailed=not shows_call, learner=named is not None,
        )  # fmt: skip
        if more:
            console.print(Text(words["more"].format(count=more), "dim"))
    if report.failing_call is not None and (tells or named is not None):
        _show_call(report.failing_call, report.seed, console, words)
    lines = [] if every_check else _what_is_right(found, tells, language)
    lines += _not_assessed(report, found, every_check, words)
    if reveal is Reveal.FULL:
        lines += _notes(report, every_check, words)
    _show_lines(lines, console)
    if tells:
        _show_explanations(report, console, every_check, words)
    if tells or named is not None:
        _show_first_thing(report, console, words)


def _show_lines(lines: Sequence[Text], console: Console) -> None:
    """Print lines below an empty one, if there are any."""
    if lines:
        console.print()
    for line in lines:
        console.print(line)


def _once(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the checks without those that fail in the same words as one before."""
    told: dict[object, CheckResult] = {}
    for check in checks:
        says_all = check.outcome is Outcome.ERROR or check.message.startswith("`")
        told.setdefault((check.message, check.detail) if says_all else check.id, check)
    return [*told.values()]


def _show_call(call: FailingCall, seed: int, console: Console, words: Words) -> None:
    """Print a small call that goes wrong, as one can paste it."""
    again = f" --seed {seed}" if call.needs_seed else ""
    how = words["again"].format(seed=again)
    console.print()
    console.print(Text.assemble((words["small call"], "bold"), (how, "dim")))
    for line in call.code.splitlines():
        console.print(Text(f"  {line}", "cyan"), soft_wrap=True)
    name = f"{call.name}, " if call.name and call.wanted else ""
    if call.wanted:
        console.print(Padding(Text(f"{name}{words['expected']}{call.wanted}"), (0, 0, 0, 4)))
    came = f"{name}{words['yours']}{call.came}" if name else call.came
    console.print(Padding(Text(came, "red"), (0, 0, 0, 4)))


def _show_diagnosis(
    diagnosis: Diagnosis, report: Report, console: Console, reveal: Reveal, words: Words
) -> None:
    price = f"  −{diagnosis.cost:g}" if diagnosis.cost else ""
    console.print()
    console.print(Text.assemble(("✗ ", "red"), (diagnosis.title, "bold"), (price, "red")))
    texts = [diagnosis.explanation] if reveal is Reveal.FULL else []
    for text in (*texts, diagnosis.hint):
        console.print(Padding(Text(text), (0, 0, 0, 2)))
    if len(report.diagnoses) > 1 and (checks := explained_by(diagnosis, report)):
        titles = "; ".join(f"“{check.title}”" for check in checks[:_MAX_NAMED])
        told = words["fails and more" if len(checks) > _MAX_NAMED else "fails"]
        told = told.format(titles=titles, count=len(checks) - _MAX_NAMED)
        console.print(Padding(Text(told, style="dim"), (0, 0, 0, 2)))


def _show_sentence(report: Report, console: Console, language: str) -> None:
    if sentence := in_one_sentence(report, language):
        as_it_stands = ""
        if report.strict_score != report.score:
            as_it_stands = WORDS[language]["as it stands"].format(points=report.strict_score)
        if len(report.diagnoses) > 1:
            console.print()
        console.print(Text.assemble((sentence, "bold"), (as_it_stands, "dim")))


def _show_rows(
    checks: Sequence[CheckResult],
    console: Console,
    reveal: Reveal,
    language: str,
    *,
    detailed: bool = True,
    learner: bool = False,
    points: bool = False,
    lacking: Collection[CheckResult] = (),
) -> None:
    """Print a row for each check, with its points if they are asked for.

    Args:
        checks: Those that are shown.
        console: Where they are printed.
        reveal: How much is told of what failed.
        language: Of the words beside titles.
        detailed: Whether it is told in numbers how they failed.
        learner: Whether it is told at any level how those failed that no mistake explains.
        points: Whether a column says what each is worth.
        lacking: Those that nothing could be said of.
    """
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    told: set[str] = set()
    words = WORDS[language]
    for check in checks:
        mark, style = MARKS[check.outcome], _COLOURS.get(check.outcome, "red")
        worth = words["advisory"] if check.advisory else ""
        if check in lacking:
            style, worth = "dim", words["not assessed"]
        elif check.advisory and check.outcome is not Outcome.PASSED:
            mark, style = "i", "cyan"
        elif points and not check.advisory:
            worth = f"{check.points:.0f}/{check.max_points:.0f}"
        level = reveal
        if learner and reveal is Reveal.CHECKS and check.diagnosis is None:
            level = Reveal.HINTS  # which here names nothing
        row = Text(check.title, "dim") if check in lacking else _row(check, level, told, detailed)
        table.add_row(Text(mark, style=style), row, category_in(language, check.category), worth)
        told |= {check.diagnosis or "", check.message if not points else ""}
    console.print(table)


def _what_is_right(found: Summary, tells: bool, language: str) -> list[Text]:
    """Say how many checks of each category pass, unless all do but for what is named above."""
    granted = tells and any(one.granted for one in found.right)
    if not found.right or (granted and not found.unexplained):
        return []
    counts = []
    for one in found.right:
        passed = one.passed + (one.granted if tells else 0)
        share = passed if passed == one.of else f"{passed}/{one.of}"
        counts.append(f"{category_in(language, one.category)} {share}")
    all_pass = all(one.passed == one.of for one in found.right)
    mark, style = ("✓ ", "green") if all_pass else ("· ", "yellow")
    head = WORDS[language]["right but" if granted else "right"]
    return [Text.assemble((mark, style), head, (WORDS[language]["and"].join(counts), "dim"))]


def _not_assessed(report: Report, found: Summary, every_check: bool, words: Words) -> list[Text]:
    lacking = report.without_gpu
    left = len(found.waiting) + len(found.unasked)
    lines, parts = [], []
    if report.only:
        lines.append(Text(words["only"].format(ids=", ".join(report.only)), "yellow"))
    if report.verdict_only:
        if left:
            lines.append(Text(words["verdict only"].format(count=left), "dim"))
    else:
        if found.waiting:
            parts.append(words["waiting"].format(count=len(found.waiting)))
        if found.unasked:
            parts.append(words["unasked"].format(count=len(found.unasked)))
    if lacking and not (report.verdict_only and left):
        why = f" ({report.no_gpu})" if every_check else ""
        parts.append(words["on a gpu"].format(count=len(lacking)) + why)
    if parts:
        style = "yellow" if found.waiting else "dim"
        lines.append(Text(words["left"].format(parts=words["and"].join(parts)), style))
    return lines


def _show_every_check(report: Report, console: Console, reveal: Reveal, language: str) -> None:
    console.print()
    _show_rows(report.checks, console, reveal, language, points=True, lacking=report.without_gpu)
    drawn = next((c for c in report.checks if c.sample is not None and c.outcome.is_bad), None)
    if drawn is not None and drawn.sample is not None and reveal is Reveal.FULL:
        _draw(drawn.title, drawn.sample, console, language)


def _draw(title: str, sample: Sample, console: Console, language: str) -> None:
    """Print what was expected and what came as blocks, the higher the larger."""
    console.print()
    console.print(Text(f"{title}: {sample.label}{sample.place}", style="dim"))
    console.print(picture(sample, language))


def _row(check: CheckResult, reveal: Reveal, told: Collection[str], detailed: bool) -> Text:
    """Return what a row says; what a diagnosis explains, or other rows say, is told once."""
    text = Text(check.title)
    if check.outcome in (Outcome.PASSED, Outcome.NOT_ASSESSED) or reveal is Reveal.CHECKS:
        return text
    if check.message not in told and (check.diagnosis is None or check.diagnosis not in told):
        text.append(f"\n{check.message}", style="cyan" if check.advisory else "red")
        if check.detail and detailed and reveal is Reveal.FULL:
            text.append(f"\n{check.detail}", style="dim")
    if check.diagnosis:
        text.append(f"\n→ {check.diagnosis}", style="bold")
    return text


def _show_explanations(report: Report, console: Console, every_check: bool, words: Words) -> None:
    """Tell the answers to questions, to learn from; of a wrong file those that it got wrong."""
    answers = [check for check in report.checks if check.explanation]
    if not answers:
        return
    told = answers
    if report.verdict is not Verdict.ACCEPTED and not every_check:
        told = [check for check in answers if check.outcome is not Outcome.PASSED]
    console.print()
    console.print(Text(words["answers"], style="bold"))
    for check in told:
        mark = Text(f"{MARKS[check.outcome]} ", style=_COLOURS.get(check.outcome, "red"))
        console.print(mark + Text(check.title))
        console.print(Padding(Text(check.explanation, style="dim"), (0, 0, 0, 2)))
    if len(told) < len(answers):
        rest = len(answers) - len(told)
        console.print(Text(words["more answers"].format(count=rest), "dim"))


def _show_first_thing(report: Report, console: Console, words: Words) -> None:
    """Say which failure to look at first, and how it shows."""
    first = look_at(report)
    if first is None or report.failing_call is not None:
        return  # a call says more than a title
    if first.message in {finding.message for finding in report.policy}:
        return  # which are told with their lines
    explained = first.diagnosis is not None or first.granted
    hint = report.hints.get(str(first.category), "")
    if explained:
        says = Text(first.message, style="red")
    elif first.outcome is Outcome.FAILED and not first.only_if_right:
        says = Text(hint)
    else:  # what raises needs no advice on values, nor a corner on the mechanism
        says = Text()
    if not says and len(summarise(report).unexplained) == 1:
        return  # its row stands above, alone
    console.print()
    console.print(Text.assemble((words["mend first"], "bold"), first.title))
    if says:
        console.print(Padding(says, (0, 0, 0, 2)))


def _notes(report: Report, every_check: bool, words: Words) -> list[Text]:
    of_lines = {finding.line or finding.message: finding for finding in reversed(report.policy)}
    policy = report.policy if every_check else [*reversed(of_lines.values())]  # one of each line
    lines = []
    for finding in policy:
        place = words["line"].format(line=finding.line) if finding.line is not None else ""
        lines.append(Text(f"{words['policy']}{place}{finding.message}", style="yellow"))
    notes = [*report.notes]
    if every_check and report.never_ran:
        notes.append(words["never reached"].format(lines=report.lines_never_reached))
    lines += [Text(f"{words['note']}{note}", style="dim") for note in notes]
    if printed := report.output.text.strip().splitlines():
        lines.append(Text(words["printed"], style="dim"))
        lines += [Text(f"  {clean(line, 200)}", style="dim") for line in printed[:5]]
        if len(printed) > 5 or report.output.truncated:
            lines.append(Text("  …", style="dim"))
    return lines
