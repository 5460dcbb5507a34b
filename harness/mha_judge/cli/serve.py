"""`mha-judge serve`: grade over HTTP."""

from __future__ import annotations

from pathlib import Path

import click
from platformdirs import user_state_path

from mha_judge.cli.address_options import address_options
from mha_judge.cli.answer_options import dask_option, jobs_option
from mha_judge.cli.context import bank_of
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.extras import require_extra
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions
from mha_judge.service.address import Address


@click.command("serve")
@address_options(8750)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Lines `candidate TOKEN` or `interviewer TOKEN`; needed where others can reach the host.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="SQLite file with all grades; default: in the user's state folder.",
)
@click.option("--keep", "keep_days", type=click.IntRange(0, 36_500), default=30, show_default=True,
              metavar="DAYS", help="How long finished grades are kept.")  # fmt: skip
@click.option("--queue", "most", type=click.IntRange(1), default=1000, show_default=True,
              help="How many grades may be unfinished.")  # fmt: skip
@click.option("--queue-timeout", "queue_timeout_s", type=click.IntRange(1, 604_800),
              default=600, show_default=True, metavar="SECONDS",
              help="How long an answer may wait for its turn.")  # fmt: skip
@click.option("--drain", "drain_s", type=click.IntRange(0, 86_400), default=30, show_default=True,
              metavar="SECONDS", help="What accepted answers may take after SIGTERM.")  # fmt: skip
@click.option(
    "--candidates-see",
    type=click.Choice(["score", "checks", "hints", "full"]),
    default="checks",
    show_default=True,
    help="How much of a report a candidate's token shows.",
)
@dask_option
@jobs_option("answers")
@sandbox_options()
@click.pass_context
def command(
    ctx: click.Context,
    address: Address,
    token_file: Path | None,
    store: Path | None,
    keep_days: int,
    most: int,
    queue_timeout_s: int,
    drain_s: int,
    candidates_see: str,
    dask: str | None,
    jobs: int,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
) -> None:
    """Grade answers that come over HTTP.

    SIGTERM or Ctrl-C stops it: what was accepted is graded, or kept for the next start.
    """
    bank = bank_of(ctx)
    require_extra("serve", "`serve`")
    from mha_judge.report.models import Reveal
    from mha_judge.service.server import Options, serve

    serve(
        Options(
            bank=bank.root,
            sandbox=sandbox,
            workers=jobs,
            dask=dask,
            address=address,
            store=store or user_state_path("mha-judge") / "grades.sqlite",
            token_file=token_file,
            most=most,
            queue_timeout_s=queue_timeout_s,
            drain_s=drain_s,
            keep_days=keep_days,
            candidates_see=Reveal(candidates_see),
        ),
        lambda text: click.echo(text, err=True),
    )
