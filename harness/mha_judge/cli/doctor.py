"""`mha-judge doctor`: what works on this machine, found out by trying."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mha_judge.cli.context import bank_of
from mha_judge.errors import JudgeError


@click.command("doctor")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Try what the judge relies on, and print the tier that holds."""
    from mha_judge.probe import probe_all

    console = Console(highlight=False)
    bank = bank_of(ctx)
    console.print(Text(f"bank: {len(bank.problems())} problems in {bank.root}"))
    usable: list[str] = []
    for finding in probe_all():
        usable += [finding.backend] if finding.holds else []
        heading = finding.tier if finding.tier else "cannot be used"
        console.print(
            Text.assemble(
                (f"\n{finding.backend}: ", "bold"), (heading, "green" if finding.holds else "red")
            )
        )
        if finding.remedy:
            console.print(Text(f"  {finding.remedy}"))
        table = Table.grid(padding=(0, 1))
        for attempt in finding.attempts:
            mark = ("held", "green") if attempt.held else ("OPEN", "bold red")
            answer = Text(attempt.answer, style="dim")
            table.add_row("  ", Text(mark[0], style=mark[1]), Text(attempt.title), answer)
        console.print(table)
    _show_gpu(console)
    if not usable:
        raise JudgeError("no sandbox holds on this machine; see the remedies above")
    console.print(Text(f"\n`--sandbox auto` takes {usable[0]}", style="bold"))


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
