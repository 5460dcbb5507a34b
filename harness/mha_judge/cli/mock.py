"""`mha-judge mock`: an interview with oneself."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, learning, print_json
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.errors import UsageError
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions

if TYPE_CHECKING:
    from mha_judge.practice.learner import Learner
    from mha_judge.practice.mock_choice import Wishes

_OF_A_NEW_ONE = ("minutes", "track", "seed")
"""Options that an interview which has begun does not heed."""
_LOOK_EVERY_S = 5.0
"""How often the clock is looked at while one thinks: a computer that slept has to notice."""
_WIDTH = 100


@click.command("mock")
@click.option(
    "--minutes",
    type=click.IntRange(5, 240),
    default=45,
    show_default=True,
    help="How long it takes.",
)
@click.option("--track", metavar="NAME", help="Track of the main problem; default: any.")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where your files and the packet go; default: mock-YYYY-MM-DD.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**53 - 1), help="Repeats the choice; default: random."
)
@click.option("--new", is_flag=True, help="End the interview that is open, and begin another.")
@language_option("all that is said")
@json_option
@sandbox_options()
@click.pass_context
def command(
    ctx: click.Context,
    minutes: int,
    track: str | None,
    folder: Path | None,
    seed: int | None,
    new: bool,
    lang: str,
    as_json: bool,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
) -> None:
    """Hold a mock interview with a clock.

    It has a warm-up, a main problem and three questions. Which ones depends on what you have
    solved, and on what you got wrong. Everything is kept, and the clock goes on if you leave:
    `mha-judge mock` again goes on with the interview that is open. At the end the interviewer's
    packet about you is written into DIR. With --json nothing is begun or changed: it tells how the
    open interview stands, or what a new one would ask.
    """
    from mha_judge.practice.mock_choice import Wishes

    wishes = Wishes(minutes, track, secrets.randbelow(2**32) if seed is None else seed)
    if as_json:
        with learning(ctx) as learner:
            _print_state(learner, wishes, folder, lang, new=new)
        return
    if not _has_terminal():
        raise UsageError(
            "an interview needs a terminal; run `mha-judge mock` in one, or pass --json to see how "
            "it stands"
        )
    from mha_judge.app.interview import Conversation, opened
    from mha_judge.library import Judge

    not_heeded = [
        f"--{name}"
        for name in _OF_A_NEW_ONE
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    with learning(ctx) as learner:
        mock = opened(learner, wishes, folder, lang, new=new, not_heeded=not_heeded)
        with Judge(bank=learner.bank.root, sandbox=sandbox, workers=1) as judge:
            Conversation(mock, judge, lang).hold()


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _print_state(
    learner: Learner, wishes: Wishes, folder: Path | None, lang: str, *, new: bool
) -> None:
    from mha_judge.practice.learner import now
    from mha_judge.practice.mock import Mock, free_folder, open_interview, plan
    from mha_judge.render.practice.mock_files import account

    open_one = None if new else open_interview(learner.progress)
    if open_one is None:
        state = plan(learner, wishes, folder or free_folder(Path(), now()), now())
        told = account(state, learner.bank, lang)
    else:
        mock = Mock(learner, open_one)
        mock.left_s()
        told = account(mock.state, learner.bank, lang, mock.began)
    print_json(told.model_dump(mode="json"))
