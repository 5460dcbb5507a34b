"""Prose in a terminal, or in a file, and questions that want a yes or a no."""

from __future__ import annotations

import click
from rich.console import Console
from rich.text import Text


def say(text: str | Text, style: str = "") -> None:
    """Print prose: a terminal's lines end between words, and a file's where the text has an end."""
    console = Console(highlight=False)
    told = Text(text, style=style) if isinstance(text, str) else text
    console.print(told, soft_wrap=not console.is_terminal)


def confirmed(question: str, language: str) -> bool:
    """Ask until the answer is yes or no; Enter alone is no.

    Raises:
        click.Abort: The input has ended, or Ctrl-C was pressed.
    """
    suffix, again = _CONFIRMATION[language]
    while (said := click.prompt(question + suffix, "", prompt_suffix="", show_default=False)) != "":
        answer = _ANSWERS.get(said.strip().lower())
        if answer is not None:
            return answer
        click.echo(again)
    return False


_CONFIRMATION = {"en": (" [y/N]: ", "Type y or n."), "zh": (" [y/N]：", "请输入 y 或 n。")}
_ANSWERS = {"y": True, "yes": True, "是": True, "n": False, "no": False, "否": False}
