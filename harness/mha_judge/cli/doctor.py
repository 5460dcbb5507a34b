"""`mha-judge doctor`: what works on this machine, found out by trying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mha_judge.cli.context import bank_of
from mha_judge.errors import JudgeError

if TYPE_CHECKING:
    from mha_judge.sandbox.self_test import Finding

_COLOURS = {"held": "green", "OPEN": "bold red", "unclear": "yellow"}
_LEGEND = """
A file tries in each sandbox what a submission must not be able to do.
  held     the sandbox refused it, with the error beside it; without one it would have worked
  OPEN     it worked
  unclear  it was not tried, or ended in another way; this proves nothing
A sandbox holds if every line says held."""

_WEAKER = (
    "weaker than elsewhere: this kernel has no Landlock, so that only namespaces keep a file from "
    "what is outside"
)


@click.command("doctor")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Attack each sandbox from inside, and print which ones hold."""
    from mha_judge.sandbox.self_test import self_tests

    console = Console(highlight=False)
    bank = bank_of(ctx)
    console.print(Text(f"bank: {len(bank.problems())} problems in {bank.root}"))
    console.print(Text(_LEGEND))
    findings = []
    for finding in self_tests():
        findings.append(finding)
        _show(console, finding)
    _show_gpu(console)
    console.print(Text(f"\n{_conclusion(findings)}", style="bold"))


def _show(console: Console, finding: Finding) -> None:
    """Print what was tried in one sandbox, and whether it holds."""
    if finding.tier is None:
        console.print(Text.assemble((f"\n{finding.backend}", "bold"), (" cannot be used", "red")))
        console.print(Text(f"  {finding.remedy}"))
        return
    verdict = ("holds", "green") if finding.holds else ("does not hold", "bold red")
    console.print(Text.assemble((f"\n{finding.backend} ", "bold"), verdict, f": {finding.tier}"))
    if "landlock" not in finding.tier:
        console.print(Text(f"  {_WEAKER}", style="yellow"))
    table = Table.grid(padding=(0, 1))
    for attempt in finding.attempts:
        mark = Text(attempt.ruling, style=_COLOURS[attempt.ruling])
        table.add_row("  ", mark, Text(attempt.title), Text(attempt.answer, style="dim"))
    console.print(table)


def _conclusion(findings: Sequence[Finding]) -> str:
    """Return which sandbox is taken without being asked for.

    Raises:
        JudgeError: That one was not seen to hold.
    """
    usable = [finding for finding in findings if finding.tier is not None]
    if not usable:
        raise JudgeError("no sandbox can be used on this machine; see the remedies above")
    if not usable[0].holds:
        holding = [finding.backend for finding in usable if finding.holds]
        remedy = f"pass --sandbox {holding[0]}" if holding else "run only files that you trust"
        raise JudgeError(
            f"`--sandbox auto` takes {usable[0].backend}, which was not seen to hold (see "
            f"above); {remedy}"
        )
    return f"`--sandbox auto` takes {usable[0].backend}"


def _show_gpu(console: Console) -> None:
    """Print what each backend has and lacks for the checks on a GPU."""
    from mha_judge.gpu.presence import needs
    from mha_judge.sandbox import BACKENDS

    console.print(Text("\nGPU", style="bold"))
    table = Table.grid(padding=(0, 1))
    lacking = []
    for backend in BACKENDS:
        wanted = needs(backend)
        lacking.append(any(need.missing for need in wanted))
        for need in wanted:
            mark = ("missing", "yellow") if need.missing else ("there", "green")
            table.add_row(
                "  ", backend, Text(mark[0], style=mark[1]), Text(need.title),
                Text(need.missing or "", style="dim"),
            )  # fmt: skip
    console.print(table)
    if all(lacking):
        console.print(Text("  checks on a GPU are not assessed on this machine"))
