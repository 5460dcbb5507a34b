"""Text that a submission wrote: made visible, bounded, never interpreted."""

import unicodedata

_KEPT = {"\n", "\t"}


def clean(text: str, limit: int = 2_000) -> str:
    """Return `text` with control, escape and bidi characters made visible, at most `limit` long."""
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else shown[:limit] + "…"


def clean_line(text: str, limit: int = 500) -> str:
    """Return `text` cleaned and on one line: for names, paths and places."""
    return clean(text, limit).replace("\n", "\\n").replace("\t", " ")


def visible(text: str) -> str:
    """Return `text` with control, escape and bidi characters made visible, however long it is."""
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _KEPT:
        return character
    # Cc control, Cf format (bidi), Cs surrogate, Co private, Cn unassigned, Zl Zp breaks
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{{{ord(character):x}}}"
    return character
