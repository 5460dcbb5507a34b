"""`mha-judge run FILE`: grade one file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.context import bank_of
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.errors import UsageError
from mha_judge.sandbox import Channel
from mha_judge.submission import Submission

if TYPE_CHECKING:
    from mha_judge.report.models import Report

REVEAL = ("score", "checks", "hints", "full")


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--problem",
    "problem_id",
    metavar="ID",
    help="Default: the file's `# problem:` line, or its name.",
)
@sandbox_options
@click.option(
    "--device", type=click.Choice(["auto", "cpu"]), default="auto", help="Where to grade."
)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Repeat the inputs of a report.")
@click.option(
    "--reveal",
    type=click.Choice(REVEAL),
    default="full",
    show_default=True,
    help="How much to tell.",
)
@click.option(
    "--json", "json_path", metavar="PATH", help="Write the report as JSON; `-` is stdout."
)
@click.option("--junit", "junit_path", metavar="PATH", help="Write JUnit XML; `-` is stdout.")
@click.option("--only", metavar="CHECK", multiple=True, help="Run only this check (repeatable).")
@click.pass_context
def command(
    ctx: click.Context,
    file: Path,
    problem_id: str | None,
    open_sandbox: Callable[[], Channel],
    device: str,
    seed: int | None,
    reveal: str,
    json_path: str | None,
    junit_path: str | None,
    only: tuple[str, ...],
) -> None:
    """Grade FILE; exit 0 if it is accepted, 1 if it is not."""
    _check_outputs(json_path, junit_path)
    submission = Submission.read(file)
    bank = bank_of(ctx)
    name = problem_id or submission.problem_id()
    bank.require(name)
    # The supervisor starts before anything large is imported here: the imports overlap.
    with closing(open_sandbox()) as channel:
        from mha_judge.judge import grade

        problem = bank.problem(name)
        report = grade(submission, bank, problem, channel, seed=seed, only=only)
    _write(report, json_path, junit_path)
    if "-" not in (json_path, junit_path):
        from rich.console import Console

        from mha_judge.report import terminal
        from mha_judge.report.models import Reveal

        terminal.show(report, Console(highlight=False), Reveal(reveal))
    ctx.exit(report.verdict.exit_code)


def _check_outputs(*paths: str | None) -> None:
    """Refuse what could not be written before anything is graded."""
    wanted = [path for path in paths if path is not None]
    if len(wanted) != len(set(wanted)):
        raise UsageError("--json and --junit name the same place; give each its own")
    for path in wanted:
        folder = Path(path).parent
        if path != "-" and (
            Path(path).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK)
        ):
            raise UsageError(f"{path} cannot be written; name a file in a folder that exists")


def _write(report: Report, json_path: str | None, junit_path: str | None) -> None:
    from mha_judge.report import junit

    texts = []
    if json_path is not None:
        texts.append((json_path, report.model_dump_json(indent=2) + "\n"))
    if junit_path is not None:
        texts.append((junit_path, junit.render(report)))
    for path, text in texts:
        if path == "-":
            sys.stdout.write(text)
        else:
            Path(path).write_text(text, encoding="utf-8")
