"""`%%judge ID`: a notebook's cell as an answer. It is graded in the sandbox, and not run here."""

from __future__ import annotations

import shlex
from typing import Any

import click
from IPython.core.error import UsageError as BadMagic
from IPython.core.magic import Magics, cell_magic, magics_class

from mha_judge.errors import JudgeError
from mha_judge.library import Judge
from mha_judge.render.report.html import show_in
from mha_judge.report.models import Report


@magics_class
class JudgeMagics(Magics):
    """The magic, and the judge that stays warm from cell to cell."""

    _judge: Judge | None = None

    @cell_magic
    def judge(self, line: str, cell: str) -> Report | None:
        """Grade the cell: `%%judge [ID] [--seed N] [--verdict-only]`."""
        try:
            asked = _options().make_context("%%judge", shlex.split(line)).params
        except click.exceptions.Exit:  # it has shown its help
            return None
        except (click.ClickException, ValueError) as error:
            raise BadMagic(getattr(error, "message", str(error))) from None
        try:
            if self._judge is None:
                self._judge = Judge(workers=1)
            return self._judge.grade(f"{cell}\n", **asked)
        except JudgeError as error:
            raise BadMagic(str(error)) from None


def _options() -> click.Command:
    return click.Command(
        "judge",
        params=[
            click.Argument(["problem"], required=False),
            click.Option(["--seed"], type=int),
            click.Option(["--verdict-only"], is_flag=True),
        ],
    )


def load(shell: Any) -> None:
    """Add the magic to a shell of IPython's, and let it show reports."""
    shell.register_magics(JudgeMagics)
    show_in(shell)
