"""Texts of the bank as HTML."""

from __future__ import annotations

from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
"""HTML in a text is shown, not followed."""


def as_html(markdown: str) -> str:
    """Return a text of the bank for a page."""
    return str(_MARKDOWN.render(markdown))
