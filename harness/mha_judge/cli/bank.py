"""`mha-judge bank new ID`: begin a problem."""

from __future__ import annotations

from pathlib import Path

import click

from mha_judge.bank import Bank
from mha_judge.bank.scaffold import MARK, write_problem
from mha_judge.errors import UsageError


@click.group("bank")
def command() -> None:
    """Add problems to a bank."""


@command.command("new")
@click.argument("problem_id", metavar="ID")
@click.option(
    "--bank",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="The bank of your own that it is added to; begun if DIR is empty or not there.",
)
@click.option(
    "--builtin", is_flag=True, help="Add it to the problems of mha-judge, in a checkout of it."
)
@click.pass_context
def new(ctx: click.Context, problem_id: str, folder: Path | None, builtin: bool) -> None:
    """Write the files of a new problem ID, with placeholders to fill in."""
    folder = folder or ctx.obj
    if (folder is None) is not builtin:
        raise UsageError("name a bank of your own with --bank DIR, or pass --builtin; one of them")
    bank = Bank.of_checkout() if folder is None else Bank.begun(folder)
    for path in write_problem(bank, problem_id):
        click.echo(f"wrote {path}")
    given = f"--bank {folder} " if folder is not None else ""
    click.echo(
        f"\nNext: replace every “{MARK}”; begin with the contract in problem.toml and the "
        "reference. This lists what is left:\n\n"
        f"  mha-judge {given}verify {problem_id} --no-mutants\n\n"
        "CONTRIBUTING.md, “Adding a problem”, says what each file holds."
    )
