"""Changes of a text, as CodeMirror's editors send them.

A change set is a list with a part for each stretch of the old text: a number of units that stay, or
a list with a number of units that go, followed by the lines that come in their place. Positions
count units of UTF-16, as JavaScript's strings do: an astral character has two, and a change may cut
between them.

Source: `ChangeSet.toJSON` in the documentation of `@codemirror/state`,
https://codemirror.net/docs/ref/#state.ChangeSet.
"""

from __future__ import annotations

from mha_judge.errors import UsageError

MAX_UNITS = 256 * 1024
"""The longest text, in units of UTF-16."""
MAX_PARTS = 20_000
"""Of one change set."""
_UTF_16 = "utf-16-le"
_UNIT = 2
"""Bytes of a unit."""
_PART = 16
"""Bytes of a part, its text aside."""


class Text:
    """A text that changes, addressed in units of UTF-16."""

    def __init__(self, text: str = "") -> None:
        self._bytes = _encoded(text)

    @classmethod
    def like(cls, other: Text) -> Text:
        """Return a text that is the same, and changes by itself."""
        text = cls()
        text._bytes = other._bytes
        return text

    def __str__(self) -> str:
        return self._bytes.decode(_UTF_16, "surrogatepass")

    def __len__(self) -> int:
        return len(self._bytes) // _UNIT

    @property
    def as_source(self) -> str:
        """The text with a replacement for halves of characters, which no file can hold."""
        return self._bytes.decode(_UTF_16, "replace")

    def change(self, parts: object) -> int:
        """Apply a change set, whole or not at all; return about how many bytes it takes to keep.

        Args:
            parts: What a client sent, as JSON gives it.

        Raises:
            UsageError: It is no change set, does not fit this text, or makes it too long.
        """
        if not isinstance(parts, list) or len(parts) > MAX_PARTS:
            raise UsageError(f"a change is a list of at most {MAX_PARTS} parts")
        at, made, units, kept = 0, [], 0, _PART * len(parts)
        for part in parts:
            size, *lines = part if isinstance(part, list) and part else [part]
            if type(size) is not int or size < 0 or not all(map(_is_line, lines)):
                raise UsageError("a part of a change is a number, or a number and lines")
            end = at + size * _UNIT
            if end > len(self._bytes):
                raise UsageError("the change is of a longer text")
            new = _encoded("\n".join(lines)) if isinstance(part, list) else self._bytes[at:end]
            if not size and (not isinstance(part, list) or not new):
                raise UsageError("a part of a change does something")  # editors fail on others
            made.append(new)
            kept += len(new) if isinstance(part, list) else 0
            units += len(new) // _UNIT
            if units > MAX_UNITS:
                raise UsageError(f"the text would be longer than {MAX_UNITS // 1024} KiB")
            at = end
        if at != len(self._bytes):
            raise UsageError("the change is of a shorter text")
        self._bytes = b"".join(made)
        return kept


def _encoded(text: str) -> bytes:
    return text.encode(_UTF_16, "surrogatepass")


def _is_line(line: object) -> bool:
    return isinstance(line, str) and "\n" not in line and "\r" not in line
