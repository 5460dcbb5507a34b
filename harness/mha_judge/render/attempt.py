"""What came of a call of one's own, in a terminal: shapes first, then the numbers."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from mha_judge.trying.attempt import Attempt


def show(attempt: Attempt, console: Console) -> None:
    """Print the last call, its inputs, and each result beside what is expected."""
    console.print(Text(attempt.call, "bold"))
    if attempt.inputs:
        console.print(Text("  " + ", ".join(attempt.inputs), "dim"))
    console.print()
    if attempt.expected_error or attempt.got_error:
        _show_errors(attempt, console)
    for one in attempt.results:
        if one.fault:
            console.print(Text.assemble(("✗ ", "red"), (one.fault, "bold")))
        elif not attempt.got_error:
            console.print(Text.assemble(("✓ ", "green"), (one.name, "bold"), " is right"))
        if attempt.got_error:
            console.print(Text(f"The reference gives {one.name}:", "dim"))
        if one.expected:
            what = "" if attempt.got_error else "expected"
            _line(console, what, one.expected, "" if one.fault else "dim")
        if one.fault and one.got:
            _line(console, "yours", one.got, "red")
        console.print()
    if attempt.weights:
        console.print(Text("The layer's weights, (out, in)", "dim"))
        for name, numbers in attempt.weights:
            _line(console, name, numbers, "dim")
        console.print()
    if attempt.printed.strip():
        console.print(Text("The file printed, or Python warned:", "dim"))
        for line in attempt.printed.strip().splitlines():
            console.print(Text(f"  {line}", "dim"), soft_wrap=True)


def _show_errors(attempt: Attempt, console: Console) -> None:
    if not attempt.is_wrong:
        console.print(Text.assemble(("✓ ", "green"), ("both refuse this", "bold")))
    elif attempt.got_error:
        console.print(Text.assemble(("✗ ", "red"), ("it raises, and should answer", "bold")))
    else:
        console.print(Text.assemble(("✗ ", "red"), ("it answers, and should raise", "bold")))
    if attempt.expected_error:
        _line(console, "reference", attempt.expected_error, "")
    if attempt.got_error:
        _line(console, "yours", attempt.got_error, "red" if attempt.is_wrong else "")
        if attempt.where:
            _line(console, "", attempt.where, "dim")
    console.print()


def _line(console: Console, name: str, text: str, style: str) -> None:
    """Print a value under its name; further lines of it below its first."""
    first, *others = text.splitlines() or [""]
    console.print(Text.assemble((f"  {name:<10}", "dim"), (first, style)), soft_wrap=True)
    for line in others:
        console.print(Text(f"{'':12}{line}".rstrip(), style), soft_wrap=True)
