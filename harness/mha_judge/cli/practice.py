"""`mha-judge practice [ID]`: choose, begin, hand in and learn, in one window of the terminal."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.context import bank_of, folded
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import learning, no_progress_option
from mha_judge.cli.next_ import say_next
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.extras import require_extra
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions

if TYPE_CHECKING:
    from mha_judge.library import Judge

_WORDS = {
    "en": "`mha-judge practice` needs a terminal; the commands above do without one.",
    "zh": "`mha-judge practice` 需要在终端中运行；没有终端时请使用以上命令。",
}


@click.command("practice")
@click.argument("problem_id", metavar="[ID]", type=folded, required=False)
@click.option(
    "--folder",
    metavar="DIR",
    default=".",
    type=click.Path(path_type=Path),
    help="Where starters are written; default: the current folder.",
)
@click.option(
    "--edit-cmd",
    metavar="CMD",
    help="Opens a file, such as 'code -g {file}'; default: a pane of tmux or Zellij if in one, "
    "else EDITOR.",
)
@click.option("--web", is_flag=True, help="Show it in a browser: prints a link.")
@click.option("--port", type=click.IntRange(0, 65535), default=8761, show_default=True,
              help="With --web: port to listen on; 0 takes any.")  # fmt: skip
@language_option("all that is said")
@no_progress_option
@sandbox_options()
@click.pass_context
def command(
    ctx: click.Context,
    problem_id: str | None,
    folder: Path,
    edit_cmd: str | None,
    web: bool,
    port: int,
    lang: str,
    no_progress: bool,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
) -> None:
    """Practise in the terminal, or in a browser: problem ID, or what is best done next.

    Each save of a file that was begun is graded. Keys are shown at the bottom; `?` explains them.
    """
    bank = bank_of(ctx)
    if problem_id is not None:
        bank.require(problem_id)
    if edit_cmd is not None:
        from mha_judge.app.editor import words_of

        words_of(edit_cmd)
    if web:
        require_extra("serve", "`practice --web`")
    elif not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        with learning(ctx, in_memory=no_progress) as learner:
            say_next(learner, lang)
        click.echo(_WORDS[lang])
        return
    require_extra("practice", "`practice`")

    def open_judge() -> Judge:
        from mha_judge.library import Judge

        return Judge(bank=bank.root, sandbox=sandbox, workers=1, quiet=True)

    if web:
        from mha_judge.app.session import Session
        from mha_judge.pool.job import Place
        from mha_judge.practice.progress import Progress, default_path
        from mha_judge.web_practice.server import serve
        from mha_judge.web_practice.words import PAGE_WORDS

        with Progress(None if no_progress else default_path(bank)) as progress:
            session = Session(
                bank, progress, open_judge,
                folder=folder.resolve(), language=lang, first=problem_id, words=PAGE_WORDS,
            )  # fmt: skip
            with closing(session):
                serve(session, Place(bank.root, sandbox.open), port, click.echo)
        return
    for name in ("COLUMNS", "LINES"):  # what was true when a shell set them; windows change
        os.environ.pop(name, None)
    gc.disable()  # the app enables it after the first picture: nothing of this is ever garbage
    from mha_judge.app.app import PracticeApp
    from mha_judge.app.session import Session
    from mha_judge.practice.progress import Progress, default_path

    with Progress(None if no_progress else default_path(bank)) as progress:
        session = Session(
            bank,
            progress,
            open_judge,
            folder=folder,
            language=lang,
            first=problem_id,
            edit_cmd=edit_cmd,
        )
        try:
            PracticeApp(session).run()
        finally:
            session.close()
