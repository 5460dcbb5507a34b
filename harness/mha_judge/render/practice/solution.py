"""A solution beside what one's own answers had instead, for rich."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text

from mha_judge.practice.solution import Solution

_WORDS = {
    "en": {
        "slips": "What your answers had instead, in the solution's terms",
        "styles": "Also accepted under these names",
        "back": "It is given up, and will be proposed again as if it were new.",
    },
    "zh": {
        "slips": "您的答案与它的差别（用参考答案的写法表示）",
        "styles": "以下名称也会被接受",
        "back": "已放弃；之后会像新题一样再次出现。",
    },
}


@dataclass(frozen=True)
class Colours:
    """How it is drawn, as rich's styles."""

    heading: str = "bold"
    removed: str = "yellow"
    added: str = "blue"
    theme: str = "ansi_dark"
    background: str = "default"


def render(
    found: Solution, language: str, colours: Colours, *, given_up: bool = False
) -> RenderableType:
    """Return the solution, what one's own answers had instead, and other names for it."""
    words = _WORDS[language]
    code = Syntax(
        found.source,
        "python",
        theme=colours.theme,
        background_color=colours.background,
        word_wrap=True,
    )
    parts: list[RenderableType] = [code]
    if given_up:
        parts = [Text(words["back"], colours.removed), Text(), code]
    if found.slips:
        parts += [Text(), Text(words["slips"], colours.heading)]
    for slip in found.slips:
        parts += [Text(), Text(slip.title, "bold"), Text(slip.explanation)]
        parts.append(_difference(slip.difference, colours))
    if found.styles:
        parts += [Text(), Text(words["styles"], colours.heading)]
        parts += [Text(f"  {style}") for style in found.styles]
    return Group(*parts)


def _difference(text: str, colours: Colours) -> Text:
    """Return a unified diff, what is to go in one colour and what is to come in another."""
    styles = {"-": colours.removed, "+": colours.added, "@": "dim"}
    lines = [Text(line, styles.get(line[:1], "")) for line in text.splitlines()]
    return Text("\n").join(lines)
