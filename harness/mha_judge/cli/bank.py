"""`mha-judge bank new ID`: begin a problem."""

from __future__ import annotations

import click

from mha_judge.cli.context import bank_of
from mha_judge.scaffold import MARK, write_problem


@click.group("bank")
def command() -> None:
    """Add problems to a bank."""


@command.command("new")
@click.argument("problem_id", metavar="ID")
@click.pass_context
def new(ctx: click.Context, problem_id: str) -> None:
    """Write the files of a new problem ID, with placeholders to fill in."""
    bank = bank_of(ctx)
    for path in write_problem(bank, problem_id):
        click.echo(f"wrote {path}")
    given = f"--bank {ctx.obj} " if ctx.obj is not None else ""
    click.echo(
        f"\nNext: replace every “{MARK}”; begin with the contract in problem.toml and the "
        "reference. This lists what is left:\n\n"
        f"  mha-judge {given}verify {problem_id} --no-mutants\n\n"
        "CONTRIBUTING.md, “Adding a problem”, says what each file holds."
    )
