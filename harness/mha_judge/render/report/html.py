"""The report as a notebook shows it: what a terminal shows, as HTML."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from mha_judge.render.report import terminal
from mha_judge.report.models import Report, Reveal

_WIDTH = 100
_FORMAT = "<pre style='line-height: 1.3; white-space: pre-wrap'>{code}</pre>"


def render(report: Report, reveal: Reveal = Reveal.FULL) -> str:
    """Return a report as a piece of a page; nothing of an answer in it is markup."""
    console = Console(
        file=io.StringIO(), record=True, width=_WIDTH, highlight=False, force_jupyter=False
    )
    terminal.show(report, console, reveal)
    return console.export_html(inline_styles=True, code_format=_FORMAT)


def show_in(shell: Any) -> None:
    """Let a shell of IPython's, such as a notebook's, show reports as pages."""
    shell.display_formatter.formatters["text/html"].for_type(Report, render)
