"""`mha-judge try FILE`: call what a file defines on an input of one's own."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import click

from mha_judge.cli.answer_options import chosen_problem, problem_option
from mha_judge.cli.context import bank_of
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, print_json
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.errors import UsageError
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission


@click.command("try")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--call",
    "code",
    metavar="CODE",
    help="The call, such as `f(randn(2, 3), mask=None)`; `-` reads it from stdin. Lines before it "
    "may give names to inputs.",
)
@problem_option("FILE; default: its `# problem:` line, else its name")
@sandbox_options()
@click.option(
    "--seed",
    type=click.IntRange(0, 2**53 - 1),
    default=0,
    show_default=True,
    help="Of a layer's weights and of randn; that of a report repeats its call that goes wrong.",
)
@language_option("all that is said of the results")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    file: Path,
    code: str | None,
    problem_id: str | None,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    seed: int,
    lang: str,
    as_json: bool,
) -> None:
    """Call what FILE defines on an input of your own, beside the reference.

    The file runs confined, as in `run`. Exit code 0: both do the same; 1: they do not.
    """
    if code == "-" or (code is None and not sys.stdin.isatty()):
        code = sys.stdin.read()
    if code is None or not code.strip():
        raise UsageError("say what is called: --call 'f(randn(2, 3))', or --call - for stdin")
    submission = Submission.read(file)
    bank = bank_of(ctx)
    name = chosen_problem(bank, problem_id, submission)
    gpus.close()
    with closing(sandbox.open()) as channel:
        from mha_judge.judge import try_call

        attempt = try_call(submission, bank, bank.problem(name), channel, code, seed=seed)
    if as_json:
        print_json(attempt.as_fields())
    else:
        from rich.console import Console

        from mha_judge.render import attempt as terminal

        terminal.show(attempt, Console(highlight=False), lang)
    ctx.exit(int(attempt.is_wrong))
