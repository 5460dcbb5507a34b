"""What commands that grade many answers are told in the same words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mha_judge.cli.context import folded
from mha_judge.cli.sandbox_options import sandbox_options

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
