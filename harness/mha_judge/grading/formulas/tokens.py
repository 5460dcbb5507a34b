"""Splitting the text of a formula into tokens, for the many ways people write one."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from mha_judge.grading.formulas.tree import FormulaError

_MAX_DIGITS = 15


class Kind(Enum):
    """What a token can be."""

    NUMBER = "number"
    LETTER = "letter"
    NAME = "name"
    SUPERSCRIPT = "superscript"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a formula."""

    kind: Kind
    text: str
    """Normalised: every times sign is `*`, every power sign `^`."""
    position: int
    """Counted from 1."""


# One character to one character, so that positions in messages stay true.
_LOOKALIKES = str.maketrans(
    {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width ASCII
    | {ord(sign): "×" for sign in "·⋅∙•∗✕⨉"}  # not "*": two of these are no power sign
    | {ord(sign): "-" for sign in "−–—"}
    | {ord(sign): "/" for sign in "÷∕⁄"}
    | {ord("、"): ",", ord("ˆ"): "^", ord("θ"): "Θ"}
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
CLOSING = {"(": ")", "[": "]", "{": "}"}

_LEXEMES = re.compile(
    r"""
    (?P<space>   (?: \s | \$ | \\[,;:!\ ] | \\(?:left|right)(?![A-Za-z]) )+ )
  | (?P<number>  [0-9]+ (?:\.[0-9]+)? | \.[0-9]+ )
  | (?P<super>   [⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+ )
  | (?P<log>     \\?log (?: _?(?:2|10)(?![0-9]) | _\{(?:2|10)\} | ₂ | ₁₀ )? | \\?(?:ln|lg) )
  | (?P<root>    \\?sqrt | √ )
  | (?P<max>     \\?max )
  | (?P<min>     \\?min )
  | (?P<frac>    \\[dt]?frac )
  | (?P<theta>   \\?[Tt]heta | Θ | \\math(?:cal|rm)(?:\{O\}|\ O) )
  | (?P<times>   \*(?!\*) | × | \\(?:cdot|times|ast)(?![A-Za-z]) )
  | (?P<power>   \*\* | \^ )
  | (?P<sign>    [-+/(){}\[\],] )
    """,
    re.VERBOSE,
)
_FOUND = re.compile(r"\\?[^\W\d]\w*|.", re.DOTALL)


def refusal(found: str, position: int, letters: Collection[str], remedy: str = "") -> FormulaError:
    """Return the error that says what stands where, and the remedy or what is allowed."""
    allowed = (
        f"allowed are the letters {', '.join(sorted(letters))}, numbers, + - * / ^, brackets, "
        "log, sqrt, max and min"
    )
    return FormulaError(f"found {found} at position {position}; {remedy or allowed}")


def read_tokens(text: str, letters: Collection[str]) -> list[Token]:
    """Split `text` into tokens, the last of kind `END`.

    Raises:
        FormulaError: A character belongs to no formula in these letters.
    """
    plain = text.translate(_LOOKALIKES)
    tokens, at = [], 0
    while at < len(plain):
        match = _LEXEMES.match(plain, at)
        if match is None:
            tokens.append(_single(plain, at, letters))
            at += 1
            continue
        if match.lastgroup != "space":
            tokens.append(_token(str(match.lastgroup), match.group(), at + 1, letters))
        at = match.end()
    return [*tokens, Token(Kind.END, "the end", len(plain) + 1)]


def _single(plain: str, at: int, letters: Collection[str]) -> Token:
    character = plain[at]
    if character in letters:
        return Token(Kind.LETTER, character, at + 1)
    if character == "O":
        return Token(Kind.NAME, "theta", at + 1)
    found = _FOUND.match(plain, at)
    shown = found.group()[:20] if found else character
    raise refusal(ascii(shown) if not shown.isprintable() else repr(shown), at + 1, letters)


def _token(group: str, text: str, position: int, letters: Collection[str]) -> Token:
    match group:
        case "number":
            if len(text) > _MAX_DIGITS:
                remedy = f"at most {_MAX_DIGITS} digits are allowed"
                raise refusal(f"a number of {len(text)} digits", position, letters, remedy)
            return Token(Kind.NUMBER, text, position)
        case "super":
            return Token(Kind.SUPERSCRIPT, text.translate(_SUPERSCRIPTS), position)
        case "sign" | "times" | "power":
            return Token(Kind.SIGN, {"times": "*", "power": "^"}.get(group, text), position)
        case _:
            return Token(Kind.NAME, group, position)
