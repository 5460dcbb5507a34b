"""The report as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Collection

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mha_judge.outcomes import Outcome, Verdict
from mha_judge.render.marks import MARKS
from mha_judge.report.models import CheckResult, LoadProblem, Report, Reveal

_COLOURS: dict[Outcome, str] = {
    Outcome.PASSED: "green",
    Outcome.NOT_ASSESSED: "yellow",
}
_STYLES = {Verdict.ACCEPTED: "bold green", Verdict.REJECTED: "bold red"}


def show(report: Report, console: Console, reveal: Reveal = Reveal.FULL) -> None:
    """Print a report, telling as much as `reveal` allows."""
    style = _STYLES.get(report.verdict, "bold yellow")
    console.print()
    console.print(
        Text.assemble(
            (report.title, "bold"), "  ", (str(report.verdict).upper(), style), "  ",
            (f"{report.score:g} / {report.max_score:g}", "bold"),
        )
    )  # fmt: skip
    console.print(Text(f"{report.submission.path} · {report.problem}", style="dim"))
    console.print()
    if report.load_problem is not None:
        _show_load_problem(report.load_problem, console)
    elif reveal is not Reveal.SCORE:
        _show_checks(report, console, reveal)
    if reveal in (Reveal.HINTS, Reveal.FULL):
        _show_explanations(report, console)
        _show_first_thing(report, console, reveal)
    if reveal is Reveal.FULL:
        _show_notes(report, console)
    console.print(
        Text(
            f"seed {report.seed} · {report.sandbox.backend}: {report.sandbox.tier} · "
            f"{report.instruction_set} · "
            f"{'' if report.device == 'cpu' else report.device + ' · '}"
            f"{report.timings_s.get('total', 0):.1f} s",
            style="dim",
        )
    )


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


def _show_checks(report: Report, console: Console, reveal: Reveal) -> None:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    told: set[str] = set()
    lacking = report.without_gpu
    for check in report.checks:
        mark, style = MARKS[check.outcome], _COLOURS.get(check.outcome, "red")
        if check in lacking:
            title = Text(check.title, style="dim")
            table.add_row(Text(mark, style="dim"), title, str(check.category), "not assessed")
            continue
        if check.advisory and check.outcome is not Outcome.PASSED:
            mark, style = "i", "cyan"
        points = "advisory" if check.advisory else f"{check.points:.0f}/{check.max_points:.0f}"
        row = _row(check, reveal, told)
        table.add_row(Text(mark, style=style), row, str(check.category), points)
        told.add(check.diagnosis or "")
    console.print(table)
    waiting = len(report.not_assessed)
    if waiting:
        console.print(Text(f"· {waiting} not assessed: they build on checks that failed", "yellow"))
    if lacking:
        console.print(Text(f"· {len(lacking)} not assessed: {report.no_gpu}", "dim"))
    console.print()


def _row(check: CheckResult, reveal: Reveal, told: Collection[str]) -> Text:
    """Return what a row says; what a diagnosis explains is told in full once."""
    text = Text(check.title)
    if check.outcome in (Outcome.PASSED, Outcome.NOT_ASSESSED) or reveal is Reveal.CHECKS:
        return text
    if check.diagnosis is None or check.diagnosis not in told:
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


def _show_first_thing(report: Report, console: Console, reveal: Reveal) -> None:
    """Say what to fix first: the first failure; graders go from the ground up."""
    for diagnosis in report.diagnoses:
        console.print(Text(f"Diagnosis: {diagnosis.title}", style="bold"))
        texts = [diagnosis.explanation] if reveal is Reveal.FULL else []
        for text in (*texts, diagnosis.hint):
            console.print(Padding(Text(text), (0, 0, 0, 2)))
        console.print()
    first = next((c for c in report.checks if c.outcome.is_bad and not c.advisory), None)
    if first is None:
        return
    console.print(Text.assemble(("Fix first: ", "bold"), first.title))
    hint = report.hints.get(str(first.category))
    if hint and first.diagnosis is None:
        console.print(Padding(Text(hint), (0, 0, 0, 2)))
    console.print()


def _show_notes(report: Report, console: Console) -> None:
    for finding in report.policy:
        place = f"line {finding.line}: " if finding.line is not None else ""
        console.print(Text(f"Policy: {place}{finding.message}", style="yellow"))
    for note in report.notes:
        console.print(Text(f"Note: {note}", style="dim"))
    if report.output.text.strip():
        lines = report.output.text.strip().splitlines()
        more = "" if len(lines) <= 5 and not report.output.truncated else "\n…"
        console.print(Text("The file printed:", style="dim"))
        console.print(
            Padding(
                Text("\n".join(line[:200] for line in lines[:5]) + more, style="dim"), (0, 0, 0, 2)
            )
        )
    if report.policy or report.notes or report.output.text.strip():
        console.print()
