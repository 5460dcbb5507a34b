"""The command line: one thin file a command, and one boundary from errors to exit codes."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import click

from mha_judge.cli.context import INTERRUPTED
from mha_judge.errors import JudgeError
from mha_judge.processor import hold_instruction_set
from mha_judge.sanitising import clean_line
from mha_judge.version import __version__

_COMMANDS = {
    "list": "list_",
    "show": "show",
    "start": "start",
    "run": "run",
    "try": "try_",
    "watch": "watch",
    "practice": "practice",
    "mock": "mock",
    "next": "next_",
    "hint": "hint",
    "solution": "solution",
    "review": "review",
    "progress": "progress",
    "reset": "reset",
    "score": "score",
    "room": "room",
    "serve": "serve",
    "packet": "packet",
    "regrade": "regrade",
    "export": "export",
    "verify": "verify",
    "bank": "bank",
    "doctor": "doctor",
    "sandbox": "sandbox",
}


def _note_bank(ctx: click.Context, _: click.Parameter, root: Path | None) -> None:
    if root is not None:
        ctx.obj = root


_BANK = click.Option(
    ["--bank"],
    metavar="DIR",
    type=click.Path(path_type=Path),
    expose_value=False,
    callback=_note_bank,
    help="A folder with problems/, graders/ and reference/; default: the built-in bank.",
)
"""Stands before a command or after it."""


class Commands(click.Group):
    """Imports a command when it is asked for, and turns the judge's errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"mha_judge.cli.{_COMMANDS[cmd_name]}")
        command: click.Command = module.command
        if _BANK not in command.params:
            command.params.append(_BANK)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and Path(args[0]).suffix == ".py":
            raise click.UsageError(
                f"{args[0]!r} is a file; to grade it, run `mha-judge run {args[0]}`"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except JudgeError as error:
            click.echo(f"mha-judge: {clean_line(str(error), 4_000)}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:  # left to click it would be 1: not accepted
            click.echo("mha-judge: interrupted; there is no verdict", err=True)
            ctx.exit(INTERRUPTED)


def entry() -> NoReturn:
    """Run the command line and leave at once: taking torch apart would cost as much as a grade."""
    try:
        main()
        code: object = 0
    except SystemExit as stop:
        code = stop.code
    except Exception:  # a bug of ours: never to be taken for a verdict
        traceback.print_exc()
        code = JudgeError.exit_code
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # the reader has gone, as in `mha-judge show sdpa | head`
        code = code or 1
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


@click.group(cls=Commands, params=[_BANK], context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mha-judge")
def main() -> None:
    """Exercises on Transformer attention, and a judge that grades answers to them.

    Exit codes: 0 accepted, 1 not accepted, 2 wrong usage, 3 and above no verdict.
    """
    hold_instruction_set()
