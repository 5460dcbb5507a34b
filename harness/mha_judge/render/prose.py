"""Prose in a terminal, or in a file."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def say(text: str | Text, style: str = "") -> None:
    """Print prose: a terminal's lines end between words, and a file's where the text has an end."""
    console = Console(highlight=False)
    told = Text(text, style=style) if isinstance(text, str) else text
    console.print(told, soft_wrap=not console.is_terminal)
