"""`mha-judge watch PATH…`: grade at every save."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.answer_options import chosen_problem, problem_option
from mha_judge.cli.context import bank_of
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import Elsewhere, keep, no_progress_option, say_kept
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.extras import require_extra
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions

if TYPE_CHECKING:
    from mha_judge.practice.learner import Kept
    from mha_judge.report.models import Report
    from mha_judge.submission import Submission


@click.command("watch")
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@problem_option("the files; default: the `# problem:` line of each, else its name")
@click.option(
    "--reveal",
    type=click.Choice(["checks", "hints", "full"]),
    default="checks",
    show_default=True,
    help="How much to tell at first; `h` tells more.",
)
@language_option("reports")
@click.option("-v", "--verbose", is_flag=True, help="Show every check, with its points.")
@no_progress_option
@sandbox_options()
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    problem_id: str | None,
    reveal: str,
    lang: str,
    verbose: bool,
    no_progress: bool,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
) -> None:
    """Grade files, or those in a folder, whenever they are saved.

    Keys: `r` grades again, `h` tells more, `q` quits.
    """
    bank = bank_of(ctx)
    if problem_id is not None:
        bank.require(problem_id)
    require_extra("practice", "`watch`")
    from rich.console import Console

    from mha_judge.report.models import Reveal
    from mha_judge.watching.files import Watched
    from mha_judge.watching.loop import Watching

    watched = Watched(paths)
    console = Console(highlight=False)
    Watching(
        watched, bank, sandbox.open, console,
        gpus=gpus, problem_of=functools.partial(chosen_problem, bank, problem_id),
        reveal=Reveal(reveal), every_check=verbose, language=lang,
        keep=None if no_progress else functools.partial(_keep, ctx, lang),
    ).run()  # fmt: skip


def _keep(ctx: click.Context, language: str, submission: Submission, report: Report) -> Kept | None:
    """Keep an answer; that it is not kept, as its round is in another file, is said."""
    kept = keep(ctx, submission, report)
    if isinstance(kept, Elsewhere):
        say_kept(kept, report.problem, language)
        return None
    return kept
