"""Splitting the text of a formula into tokens, for the many ways people write one."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from mha_judge.grading.formulas.tree import FormulaError

_MAX_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a formula."""

    kind: str
    """The name of its group in `_LEXEMES`, or `end`."""
    text: str
    """As it stands there, but for lookalikes; empty at the end."""
    position: int
    """Counted from 1."""

    @property
    def python(self) -> str:
        """What Python has for it."""
        if self.kind == "super":
            return f"**{int(self.text.translate(_SUPERSCRIPTS))}"
        if self.kind == "number":  # Python has no 007
            return self.text.lstrip("0") or "0"
        return _PYTHON.get(self.kind, self.text)


# One character to one character, so that positions in messages stay true.
_LOOKALIKES = str.maketrans(
    {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width ASCII
    | {ord(sign): "×" for sign in "·⋅∙•∗✕⨉"}  # not "*": two of these are no power sign
    | {ord(sign): "-" for sign in "−–—"}
    | {ord(sign): "/" for sign in "÷∕⁄"}
    | {ord("、"): ",", ord("ˆ"): "^", ord("θ"): "Θ"}
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_PYTHON = {name: name for name in ("log", "sqrt", "max", "min")}
_PYTHON |= {"times": "*", "power": "**", "open": "(", "close": ")", "frac": "(", "theta": ""}

_LEXEMES = r"""
    (?P<space>   (?: \s | \$ | \\[,;:!\ ] | \\(?:left|right)(?![A-Za-z]) )+ )
  | (?P<number>  [0-9]+ (?:\.[0-9]+)? | \.[0-9]+ )
  | (?P<super>   [⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+ )
  | (?P<log>     \\?log (?: _?(?:2|10)(?![0-9]) | _\{(?:2|10)\} | ₂ | ₁₀ )? | \\?(?:ln|lg) )
  | (?P<sqrt>    \\?sqrt | √ )
  | (?P<max>     \\?max )
  | (?P<min>     \\?min )
  | (?P<frac>    \\[dt]?frac )
  | (?P<theta>   \\?[Tt]heta | Θ | \\math(?:cal|rm)(?:\{O\}|\ O) | O(?<!LETTER) )
  | (?P<times>   \*(?!\*) | × | \\(?:cdot|times|ast)(?![A-Za-z]) )
  | (?P<power>   \*\* | \^ )
  | (?P<plus>    [-+] )
  | (?P<divide>  / )
  | (?P<comma>   , )
  | (?P<open>    [(\[{] )
  | (?P<close>   [)\]}] )
  | (?P<letter>  LETTER )
  | (?P<other>   \\?[^\W\d]\w* | . )
"""


def refusal(
    token: Token, letters: Collection[str], remedy: str = "", found: str = ""
) -> FormulaError:
    """Return the error that says what stands where, and the remedy or what is allowed."""
    allowed = (
        f"allowed are the letters {', '.join(sorted(letters))}, numbers, + - * / ^, brackets, "
        "log, sqrt, max and min"
    )
    found = found or (repr(token.text[:20]) if token.text else "the end")
    return FormulaError(f"found {found} at position {token.position}; {remedy or allowed}")


def read_tokens(text: str, letters: Collection[str]) -> list[Token]:
    """Split `text` into tokens, the last of kind `end`.

    Raises:
        FormulaError: A number has too many digits.
    """
    plain = text.translate(_LOOKALIKES)
    lexemes = re.compile(_LEXEMES.replace("LETTER", f"[{''.join(letters)}]"), re.X | re.S)
    tokens = []
    for match in lexemes.finditer(plain):
        token = Token(str(match.lastgroup), match.group(), match.start() + 1)
        if token.kind == "number" and len(token.text) > _MAX_DIGITS:
            remedy = f"at most {_MAX_DIGITS} digits are allowed"
            raise refusal(token, letters, remedy, f"a number of {len(token.text)} digits")
        if token.kind != "space":
            tokens.append(token)
    return [*tokens, Token("end", "", len(plain) + 1)]
