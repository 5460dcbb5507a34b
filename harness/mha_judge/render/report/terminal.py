"""The report as a person reads it in a terminal: what matters first."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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

_COLOURS: dict[Outcome, str] = {
    Outcome.PASSED: "green",
    Outcome.NOT_ASSESSED: "yellow",
}
_STYLES = {Verdict.ACCEPTED: "bold green", Verdict.REJECTED: "bold red"}
_MAX_NAMED = 1
"""Titles of checks that a diagnosis names; the others are counted."""
_MAX_ROWS = 6
"""Checks that are listed; the others are counted."""


def show(
    report: Report,
    console: Console,
    reveal: Reveal = Reveal.FULL,
    *,
    every_check: bool = False,
    named: Collection[str] | None = None,
) -> None:
    """Print a report, telling as much as `reveal` allows.

    Args:
        report: What came of a submission.
        console: Where it is printed.
        reveal: How much its reader may know.
        every_check: Print each check with its points, and pictures of what came of it.
        named: For a learner: ids of the mistakes that hints have named. They are told at any level,
            and so is a small call that goes wrong.
    """
    _show_verdict(report, console, reveal)
    if report.load_problem is not None:
        _show_load_problem(report.load_problem, console)
    if reveal is not Reveal.SCORE and (report.load_problem is None or report.diagnoses):
        _show_findings(report, console, reveal, every_check, named)
    if reveal is Reveal.FULL:
        _show_notes(report, console, every_check)
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


def _show_verdict(report: Report, console: Console, reveal: Reveal) -> None:
    style = _STYLES.get(report.verdict, "bold yellow")
    console.print()
    score = "" if report.verdict_only else f"  {report.score:g} / {report.max_score:g}"
    console.print(
        Text.assemble(
            (report.title, "bold"), "  ", (str(report.verdict).upper(), style), (score, "bold")
        )
    )
    console.print(Text(f"{report.submission.path} · {report.problem}", style="dim"))
    console.print()


def _show_load_problem(problem: LoadProblem, console: Console) -> None:
    place = f"line {problem.line}: " if problem.line is not None else ""
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
    console.print()


def _show_findings(
    report: Report,
    console: Console,
    reveal: Reveal,
    every_check: bool,
    named: Collection[str] | None,
) -> None:
    """Say what is wrong: mistakes, other failures, a call that shows it; then what is right."""
    found = summarise(report)
    tells = reveal in (Reveal.HINTS, Reveal.FULL)
    known = [one for one in report.diagnoses if tells or one.id in (named or ())]
    for diagnosis in known:
        _show_diagnosis(diagnosis, report, console, Reveal.FULL if not tells else reveal)
    if report.diagnoses:
        _show_sentence(report, console)
    explained = {check.id for one in known for check in explained_by(one, report)}
    failed = [c for c in found.failures if c.id not in explained]
    if tells:
        failed = found.unexplained
    if every_check:
        _show_every_check(report, console, reveal)
    elif failed or found.advice:
        if tells and report.diagnoses and failed:
            console.print(Text("Fails for other reasons", style="bold"))
        if tells and report.wrong_where and failed:
            but = ", but for what is named above" if report.diagnoses else " so far"
            console.print(Text(f"Wrong where {report.wrong_where}; right elsewhere{but}."))
        rows = [*_once(failed), *found.advice]
        more = len(failed) + len(found.advice) - len(rows[:_MAX_ROWS])
        _show_rows(rows[:_MAX_ROWS], console, reveal)
        if more:
            console.print(Text(f"  and {more} more; -v shows all", "dim"))
        console.print()
    if report.failing_call is not None and (tells or named is not None):
        _show_call(report.failing_call, report.seed, console)
    if not every_check:
        _show_what_is_right(found, console, tells)
    _show_not_assessed(report, found, console, every_check)
    if tells:
        _show_explanations(report, console)
        _show_first_thing(report, console)


def _once(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the checks without those that fail in the same words as one before."""
    told: dict[object, CheckResult] = {}
    for check in checks:
        says_all = check.outcome is Outcome.ERROR or check.message.startswith("`")
        told.setdefault((check.message, check.detail) if says_all else check.id, check)
    return [*told.values()]


def _show_call(call: FailingCall, seed: int, console: Console) -> None:
    """Print a small call that goes wrong, as one can paste it."""
    again = f" --seed {seed}" if call.needs_seed else ""
    how = f"  (`mha-judge try FILE{again} --call -` repeats it)"
    console.print(Text.assemble(("A small call that goes wrong", "bold"), (how, "dim")))
    for line in call.code.splitlines():
        console.print(Text(f"  {line}", "cyan"), soft_wrap=True)
    name = f"{call.name}, " if call.name and call.wanted else ""
    if call.wanted:
        console.print(Padding(Text(f"{name}expected: {call.wanted}"), (0, 0, 0, 4)))
    came = f"{name}yours:    {call.came}" if name else call.came
    console.print(Padding(Text(came, "red"), (0, 0, 0, 4)))
    console.print()


def _show_diagnosis(diagnosis: Diagnosis, report: Report, console: Console, reveal: Reveal) -> None:
    price = f"  −{diagnosis.cost:g}" if diagnosis.cost else ""
    console.print(Text.assemble(("✗ ", "red"), (diagnosis.title, "bold"), (price, "red")))
    texts = [diagnosis.explanation] if reveal is Reveal.FULL else []
    for text in (*texts, diagnosis.hint):
        console.print(Padding(Text(text), (0, 0, 0, 2)))
    alone = len(report.diagnoses) == 1 and not summarise(report).unexplained
    checks = [] if alone else explained_by(diagnosis, report)  # it explains all that fails
    if checks:
        titles = "; ".join(f"“{check.title}”" for check in checks[:_MAX_NAMED])
        more = f" and {len(checks) - _MAX_NAMED} more" if len(checks) > _MAX_NAMED else ""
        console.print(Padding(Text(f"fails {titles}{more}", style="dim"), (0, 0, 0, 2)))
    console.print()


def _show_sentence(report: Report, console: Console) -> None:
    if sentence := in_one_sentence(report):
        as_it_stands = ""
        if report.strict_score != report.score:
            as_it_stands = f" As it stands: {report.strict_score:g}."
        console.print(Text.assemble((sentence, "bold"), (as_it_stands, "dim")))
        console.print()


def _show_rows(
    checks: Sequence[CheckResult],
    console: Console,
    reveal: Reveal,
    *,
    points: bool = False,
    lacking: Collection[CheckResult] = (),
) -> None:
    """Print a row for each check, with its points if they are asked for.

    Args:
        checks: Those that are shown.
        console: Where they are printed.
        reveal: How much is told of what failed.
        points: Whether a column says what each is worth.
        lacking: Those that nothing could be said of.
    """
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    told: set[str] = set()
    for check in checks:
        mark, style = MARKS[check.outcome], _COLOURS.get(check.outcome, "red")
        worth = "advisory" if check.advisory else ""
        if check in lacking:
            style, worth = "dim", "not assessed"
        elif check.advisory and check.outcome is not Outcome.PASSED:
            mark, style = "i", "cyan"
        elif points and not check.advisory:
            worth = f"{check.points:.0f}/{check.max_points:.0f}"
        row = Text(check.title, "dim") if check in lacking else _row(check, reveal, told)
        table.add_row(Text(mark, style=style), row, str(check.category), worth)
        told |= {check.diagnosis or "", check.message if not points else ""}
    console.print(table)


def _show_what_is_right(found: Summary, console: Console, tells: bool) -> None:
    """Say how many checks of each category pass, unless all do but for what is named above."""
    granted = tells and any(one.granted for one in found.right)
    if not found.right or (granted and not (found.unexplained or found.waiting)):
        return
    counts = []
    for one in found.right:
        passed = one.passed + (one.granted if tells else 0)
        counts.append(f"{one.category} {passed if passed == one.of else f'{passed}/{one.of}'}")
    all_pass = all(one.passed == one.of for one in found.right)
    mark, style = ("✓ ", "green") if all_pass else ("· ", "yellow")
    head = "Right, but for what is named above" if granted else "Right"
    console.print(Text.assemble((mark, style), f"{head}: ", (", ".join(counts), "dim")))


def _show_not_assessed(report: Report, found: Summary, console: Console, every_check: bool) -> None:
    lacking = report.without_gpu
    left = len(found.waiting) + len(found.unasked)
    parts = []
    if report.verdict_only:
        if left:
            console.print(Text(f"· {left} checks not run: only the verdict was asked for", "dim"))
    else:
        if found.waiting:
            parts.append(f"{len(found.waiting)} that build on checks that failed")
        if found.unasked:
            parts.append(f"{len(found.unasked)} that come once all else is right")
    if lacking and not (report.verdict_only and left):
        why = report.no_gpu if every_check else report.no_gpu.partition(": ")[0]
        parts.append(f"{len(lacking)} on a GPU ({why})")
    if parts:
        style = "yellow" if found.waiting else "dim"
        console.print(Text(f"· Not assessed: {', '.join(parts)}", style))
    console.print()


def _show_every_check(report: Report, console: Console, reveal: Reveal) -> None:
    _show_rows(report.checks, console, reveal, points=True, lacking=report.without_gpu)
    console.print()
    drawn = next((c for c in report.checks if c.sample is not None and c.outcome.is_bad), None)
    if drawn is not None and drawn.sample is not None and reveal is Reveal.FULL:
        _draw(drawn.title, drawn.sample, console)


def _draw(title: str, sample: Sample, console: Console) -> None:
    """Print what was expected and what came as blocks, the higher the larger."""
    console.print(Text(f"{title}: {sample.label}{sample.place}", style="dim"))
    console.print(picture(sample))
    console.print()


def _row(check: CheckResult, reveal: Reveal, told: Collection[str]) -> Text:
    """Return what a row says; what a diagnosis explains, or other rows say, is told once."""
    text = Text(check.title)
    if check.outcome in (Outcome.PASSED, Outcome.NOT_ASSESSED) or reveal is Reveal.CHECKS:
        return text
    if check.message not in told and (check.diagnosis is None or check.diagnosis not in told):
        text.append(f"\n{check.message}", style="cyan" if check.advisory else "red")
        if check.detail and reveal is Reveal.FULL:
            text.append(f"\n{check.detail}", style="dim")
    if check.diagnosis:
        text.append(f"\n→ {check.diagnosis}", style="bold")
    return text


def _show_explanations(report: Report, console: Console) -> None:
    """Tell the answers to all questions, right or wrong: they are there to learn from."""
    explained = [check for check in report.checks if check.explanation]
    if not explained:
        return
    console.print(Text("Answers to the questions", style="bold"))
    for check in explained:
        mark = Text(f"{MARKS[check.outcome]} ", style=_COLOURS.get(check.outcome, "red"))
        console.print(mark + Text(check.title))
        console.print(Padding(Text(check.explanation, style="dim"), (0, 0, 0, 2)))
    console.print()


def _show_first_thing(report: Report, console: Console) -> None:
    """Say which failure to look at first, and how it shows."""
    first = look_at(report)
    if first is None or report.failing_call is not None:
        return  # a call says more than a title
    console.print(Text.assemble(("Mend first: ", "bold"), first.title))
    told = first.diagnosis is not None or first.granted
    if told or first.outcome is not Outcome.FAILED:  # what raises needs no advice on values
        console.print(Padding(Text(first.message, style="red"), (0, 0, 0, 2)))
    else:
        hint = report.hints.get(str(first.category))
        if hint and not first.only_if_right:  # which asks for a corner, not for the mechanism
            console.print(Padding(Text(hint), (0, 0, 0, 2)))
    console.print()


def _show_notes(report: Report, console: Console, every_check: bool) -> None:
    notes = report.remarks if every_check else report.notes
    for finding in report.policy:
        place = f"line {finding.line}: " if finding.line is not None else ""
        console.print(Text(f"Policy: {place}{finding.message}", style="yellow"))
    for note in notes:
        console.print(Text(f"Note: {note}", style="dim"))
    if report.output.text.strip():
        lines = report.output.text.strip().splitlines()
        more = "" if len(lines) <= 5 and not report.output.truncated else "\n…"
        console.print(Text("The file printed, or Python warned:", style="dim"))
        console.print(
            Padding(
                Text("\n".join(line[:200] for line in lines[:5]) + more, style="dim"), (0, 0, 0, 2)
            )
        )
    if report.policy or notes or report.output.text.strip():
        console.print()
