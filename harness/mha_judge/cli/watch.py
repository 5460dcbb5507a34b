"""`mha-judge watch PATH…`: grade at every save."""

from __future__ import annotations

import functools
from pathlib import Path

import click

from mha_judge.cli.answer_options import problem_option
from mha_judge.cli.context import bank_of
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import keep, no_progress_option
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.extras import require_extra
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions


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
@no_progress_option
@sandbox_options()
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    problem_id: str | None,
    reveal: str,
    lang: str,
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
        gpus=gpus, problem_id=problem_id, reveal=Reveal(reveal), language=lang,
        keep=None if no_progress else functools.partial(keep, ctx),
    ).run()  # fmt: skip
