"""`mha-judge progress`: what you have done, by track, week and misconception; export and import."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, learning, print_json
from mha_judge.cli.outputs import check_outputs, write_outputs
from mha_judge.errors import UsageError
from mha_judge.sanitising import clean_line


@click.group("progress", invoke_without_command=True)
@language_option("all that is said")
@json_option
@click.option("--html", "html_path", metavar="PATH", help="Write a page; `-` is stdout.")
@click.pass_context
def command(ctx: click.Context, lang: str, as_json: bool, html_path: str | None) -> None:
    """Show what you have done: tracks, reviews, weeks, misconceptions."""
    if ctx.invoked_subcommand is not None:
        if as_json or html_path is not None:
            raise UsageError(
                f"--json and --html are for the summary; leave them out of "
                f"`progress {ctx.invoked_subcommand}`"
            )
        return
    outputs = {"--json": "-" if as_json else None, "--html": html_path}
    check_outputs(outputs)
    from mha_judge.practice.learner import now
    from mha_judge.practice.statistics import statistics

    with learning(ctx) as learner:
        bank = learner.bank
        found = statistics(bank, learner.progress, now())
    if html_path is not None:
        from mha_judge.render.practice import html

        write_outputs({"--html": lambda: html.render(found, bank, lang)}, {"--html": html_path})
    if as_json:
        print_json(found.as_json())
    elif html_path is None:
        from rich.console import Console

        from mha_judge.render.practice import terminal

        terminal.show(found, bank, lang, Console(highlight=False))
    elif html_path != "-":
        click.echo(f"wrote {clean_line(html_path)}")


@command.command("export")
@click.argument("path")
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
@click.pass_context
def export(ctx: click.Context, path: str, force: bool) -> None:
    """Write all that is kept to PATH as JSON; `-` is stdout.

    It has your answers, hints, reviews, notes and interviews, and is what `import` takes.
    """
    check_outputs({"PATH": path})
    with learning(ctx) as learner:
        text = learner.progress.export() + "\n"
    if path == "-":
        click.echo(text, nl=False)
        return
    try:
        with Path(path).open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists; name another file, or pass --force") from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; name another file"
        ) from error
    click.echo(f"wrote {clean_line(path)}")


@command.command("import")
@click.argument("path")
@click.pass_context
def import_(ctx: click.Context, path: str) -> None:
    """Take over what `export` wrote to PATH; `-` is stdin.

    Only where nothing is kept yet, so that nothing is lost.
    """
    text = _text(path)
    with learning(ctx) as learner:
        count = learner.progress.import_(text)
        click.echo(f"took over {count} {'round' if count == 1 else 'rounds'}")


def _text(path: str) -> str:
    """Return what a file holds, or standard input."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}; name a file that `mha-judge progress "
            "export` wrote"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is no text in UTF-8; name a file that `mha-judge progress export` wrote"
        ) from error
