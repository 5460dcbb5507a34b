"""`mha-judge start ID [DIR]`: write a problem's starter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.bank import module_name
from mha_judge.cli.context import bank_of, folded
from mha_judge.cli.learning import learning, no_progress_option, say_moved
from mha_judge.errors import ProgressUnavailable

if TYPE_CHECKING:
    from mha_judge.practice.progress import Round


@click.command("start")
@click.argument("problem_id", metavar="ID", type=folded)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite a file that is there already.")
@no_progress_option
@click.pass_context
def command(
    ctx: click.Context, problem_id: str, folder: Path, force: bool, no_progress: bool
) -> None:
    """Write the starter of problem ID into DIR, and begin it.

    DIR is the current folder unless it is named. What you hand in from that file is kept, so that
    `next`, `hint` and `review` know of it. A file that is there already, and in which no problem
    was begun, stays as it is: the problem is begun in it. A problem has one round at a time: one
    that was begun in another file goes on in this one, and answers in the other are no longer kept.
    """
    from mha_judge.practice.learner import write_starter

    bank = bank_of(ctx)
    problem = bank.problem(problem_id)
    path = folder / f"{module_name(problem.id)}.py"
    keeps = not (force or no_progress) and path.is_file() and _is_unknown(ctx, path)
    what = f"{path} was there already and stays as it is"
    if not keeps:
        write_starter(bank, problem.id, path, overwrite=force)
        what = f"wrote {path}"
    before = None if no_progress else _begin(ctx, problem.id, path)
    click.echo(f"{what}; read the task with `mha-judge show {problem.id}`, "
               f"grade it with `mha-judge run {path}`")  # fmt: skip
    say_moved(before, path, "en")


def _is_unknown(ctx: click.Context, path: Path) -> bool:
    """Return whether no problem was ever begun in a file; if that is not known, it is not."""
    try:
        with learning(ctx) as learner:
            return learner.round_of(path) is None
    except ProgressUnavailable:
        return False


def _begin(ctx: click.Context, problem_id: str, path: Path) -> Round | None:
    """Begin a round in the file, and return the one that was open before.

    That it cannot be kept is said, and the starter is there.
    """
    try:
        with learning(ctx) as learner:
            before = learner.progress.open_round(problem_id)
            learner.begin(problem_id, path)
            return before
    except ProgressUnavailable as error:
        click.echo(f"mha-judge: {error}", err=True)
        return None
