"""`mha-judge bank new ID`: begin a problem."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from mha_judge.bank import Bank, none_such
from mha_judge.bank.scaffold import KINDS, MARK, skeleton, write_problem
from mha_judge.cli.context import folded
from mha_judge.errors import UsageError

_OWN = Path("my-bank")


@click.group("bank")
def command() -> None:
    """Add problems to a bank."""


@command.command("new")
@click.argument("problem_id", metavar="ID")
@click.option(
    "--like",
    metavar="OTHER",
    help="Copy this problem, of the bank that is added to or of the built-in one, with all that "
    "its grader and mistakes share with others.",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="Copy a small skeleton instead: of a function, of a module, of an object that keeps a "
    "state, or of answers to questions; default: module.",
)
@click.option(
    "--bank",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The bank of your own that it is added to; begun if DIR is empty or not there; "
    f"default: {_OWN}.",
)
@click.option(
    "--builtin", is_flag=True, help="Add it to the problems of mha-judge, in a checkout of it."
)
@click.pass_context
def new(
    ctx: click.Context,
    problem_id: str,
    like: str | None,
    kind: str | None,
    folder: Path | None,
    builtin: bool,
) -> None:
    """Begin a problem ID as a copy of another one, or of a skeleton, with places to fill in."""
    folder = folder or ctx.obj
    if builtin and folder is not None:
        raise UsageError("name a bank of your own with --bank DIR, or pass --builtin; one of them")
    if like is not None and kind is not None:
        raise UsageError("name a problem with --like, or a kind with --kind; one of them")
    bank = Bank.of_checkout() if builtin else Bank.to_begin(folder or _OWN)
    source, model = skeleton(kind or "module") if like is None else _found(bank, folded(like))
    for path in write_problem(bank, problem_id, source, model):
        click.echo(f"wrote {path}")
    given = "" if builtin else f" --bank {shlex.quote(str(folder or _OWN))}"
    click.echo(
        f"\nNext: replace every “{MARK}”; begin with the contract in problem.toml and the "
        "reference. This lists what is left:\n\n"
        f"  mha-judge verify {problem_id}{given} --no-mutants\n\n"
        "docs/authoring/problem.md says what each file holds."
    )


def _found(bank: Bank, problem_id: str) -> tuple[Bank, str]:
    """Return where a problem lies that is to be copied, and its id."""
    banks = (bank, Bank.builtin())
    for one in banks:
        if problem_id in one.ids:
            return one, problem_id
    raise none_such("problem", problem_id, sorted({name for one in banks for name in one.ids}))
