"""`mha-judge room`: an interview, or a lesson, in browsers."""

from __future__ import annotations

import datetime
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from platformdirs import user_state_path

from mha_judge.cli.address_options import address_options
from mha_judge.cli.answer_options import jobs_option
from mha_judge.cli.context import bank_of, folded
from mha_judge.cli.language import language_option
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.errors import UsageError
from mha_judge.extras import require_extra
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions
from mha_judge.sanitising import clean_line
from mha_judge.service.address import Address

if TYPE_CHECKING:
    from mha_judge.room.log import Log

_MOST_NAMED = 6
"""Problems of a room that a list names."""
_store_option = click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder with the records of all rooms; default: in the user's state folder.",
)


class _Rooms(click.Group):
    """Takes the name of a problem, or none, for `open`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["open", *args]
        return super().parse_args(ctx, args)


@click.group("room", cls=_Rooms, options_metavar="", subcommand_metavar="[open] [ID]... | COMMAND")
def command() -> None:
    """Hold an interview in browsers: one editor, a judge, a clock, and a record of it all.

    `mha-judge room sdpa gqa` opens a room for two problems. Its options stand behind them, as in
    `mha-judge room sdpa --lang zh --port 9000`; `mha-judge room open --help` lists them: how others
    reach it, what the candidate sees, the language, the folder with the records, the sandbox.
    """
    require_extra("serve", "`room`")


@command.command("open")
@click.argument("problems", metavar="[ID]...", type=folded, nargs=-1)
@click.option("--rooms", type=click.IntRange(0, 200), default=1, show_default=True,
              help="How many new rooms; 0 opens those of before.")  # fmt: skip
@click.option(
    "--candidates-see",
    type=click.Choice(["score", "checks", "hints", "full"]),
    default="checks",
    show_default=True,
    help="How much of a report candidates see, until an interviewer decides otherwise.",
)
@address_options(8760)
@_store_option
@language_option("the page")
@jobs_option("answers")
@sandbox_options()
@click.pass_context
def open_(
    ctx: click.Context,
    problems: tuple[str, ...],
    rooms: int,
    candidates_see: str,
    address: Address,
    store: Path | None,
    lang: str,
    jobs: int,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
) -> None:
    """Open a room, and print a link for the candidate and one for interviewers.

    It begins with the first problem ID; interviewers go to the next. Without any it has all, the
    easiest first. SIGTERM or Ctrl-C stops the server; when it is back its rooms go on under the
    same links.
    """
    bank = bank_of(ctx)
    for problem in problems:
        bank.require(problem)
    from mha_judge.bank.listing import summaries
    from mha_judge.report.models import Reveal
    from mha_judge.room.server import Options, serve

    serve(
        Options(
            bank=bank.root,
            sandbox=sandbox,
            workers=jobs,
            address=address,
            folder=store or _folder(),
            problems=list(dict.fromkeys(problems)) or [one.id for one in summaries(bank)],
            rooms=rooms,
            language=lang,
            sees=Reveal(candidates_see),
        ),
        click.echo,
    )


@command.command("list")
@_store_option
def list_(store: Path | None) -> None:
    """List the rooms that were made with their date and problems, the newest first."""
    with closing(_log(store)) as log:
        for room, at, problems in log.rooms():
            made = datetime.datetime.fromtimestamp(at).astimezone()
            named = " ".join(problems[:_MOST_NAMED])
            more = len(problems) - _MOST_NAMED
            told = f"{named} and {more} more" if more > 0 else named
            click.echo(f"{room}  {made:%Y-%m-%d %H:%M}  {clean_line(told)}")


@command.command("export")
@click.argument("room", metavar="ROOM")
@click.option("-o", "folder", type=click.Path(path_type=Path, file_okay=False), required=True,
              metavar="DIR", help="Folder for the files.")  # fmt: skip
@click.option("--candidate", default="candidate", show_default=True, metavar="NAME",
              help="Whom the packet is about.")  # fmt: skip
@_store_option
@click.pass_context
def export(ctx: click.Context, room: str, folder: Path, candidate: str, store: Path | None) -> None:
    """Write what is kept of a room: its recording, a packet, and evidence for `regrade`.

    The packet has the last text of each problem that was run.
    """
    bank = bank_of(ctx)
    from mha_judge.room.export import export as write

    with closing(_log(store)) as log:
        events = [*log.events(room)]
    for page in write(room, events, bank, folder, candidate):
        click.echo(f"wrote {clean_line(str(page))}")


def _log(store: Path | None) -> Log:
    from mha_judge.room.log import Log

    path = (store or _folder()) / "rooms.sqlite"
    if not path.exists():
        raise UsageError(f"there are no rooms in {path.parent}; name another folder with --store")
    return Log(path)


def _folder() -> Path:
    return user_state_path("mha-judge") / "rooms"
