"""What commands that grade answers are told in the same words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mha_judge.bank import Bank
from mha_judge.bank.which_problem import problem_of
from mha_judge.cli.context import folded
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.submission import Submission

_Command = Callable[..., Any]

verdict_only_option = click.option(
    "--verdict-only",
    is_flag=True,
    help="Stop at the first check that fails, and explain nothing.",
)


def problem_option(of: str) -> Callable[[_Command], _Command]:
    """Return the option that names the problem of `of`."""
    return click.option(
        "--problem", "problem_id", metavar="ID", type=folded, help=f"Problem of {of}."
    )


def chosen_problem(bank: Bank, problem_id: str | None, submission: Submission) -> str:
    """Return the problem that the option names, else the one that the file answers.

    Raises:
        UsageError: If the bank has no such problem, or nothing says which it is.
    """
    if problem_id is None:
        return problem_of(submission, bank, or_else="add --problem ID")
    bank.require(problem_id)
    return problem_id


def jobs_option(what: str, most: int = 256) -> Callable[[_Command], _Command]:
    """Return the option for how many `what` are graded at once."""
    return click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, most),
        default=lambda: len(os.sched_getaffinity(0)),
        show_default="number of cores",
        help=f"How many {what} are graded at once.",
    )


dask_option = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Grade on the workers of a Dask cluster: its scheduler's address, or a scheduler file. "
    "They decide how many are graded at once.",
)


def answer_options(function: _Command) -> _Command:
    """Add the paths of answers, and how they are graded."""
    for option in (
        click.option("--seed", type=click.IntRange(0, 2**53 - 1), help=_SEED),
        jobs_option("answers"),
        sandbox_options(),
        problem_option("files that name none"),
        click.argument(
            "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
        ),
    ):
        function = option(function)
    return function


_SEED = "Seed of all answers; default: random."
