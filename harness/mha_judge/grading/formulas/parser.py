"""Reading a formula from untrusted text, without evaluating anything as code.

A formula is put into Python's notation, one token a line, and read by `ast.parse`; the line of a
node then tells its token, for messages. What Python writes in another way:

    n d, 2n, n(d + 1)   n * d            a product without a sign
    log n^2             log ** n ** 2    a function without brackets binds as a power does
    n², √n, O(n), [n]   n ** 2, sqrt ** n, (n), (n)

A product without a sign that could be read in two ways (`a/bc`, `log ab`) is refused. All that is
no formula is found before Python reads it, so that messages speak of what stands in the text.
"""

import ast
from collections.abc import Collection
from fractions import Fraction

from mha_judge.grading.formulas.tokens import Token, read_tokens, refusal
from mha_judge.grading.formulas.tree import (
    Call,
    FormulaError,
    Function,
    Node,
    Power,
    has_logarithm,
    letters_in,
    value_of,
)

_MAX_LENGTH = 300
_MAX_DEPTH = 80
_MAX_EXPONENT = 12
_ROOTS = (1, 2, 4)

_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_BARE = {"log", "sqrt"}  # functions that may stand without brackets
_NAMES = {*_BARE, "max", "min", "theta", "frac", "over"}  # "over" stands amid a fraction
_STARTS = {*_NAMES, "number", "letter", "open"}
_ENDS = {"number", "letter", "super", "close"}
_SIGNS = {"plus", "times", "divide", "comma", "close", "end"}
_AFTER = (
    {end: _STARTS | _SIGNS | {"power", "super"} for end in _ENDS}
    | {name: {"open"} for name in _NAMES}
    | dict.fromkeys(_BARE, _STARTS)
    | {"super": _STARTS | _SIGNS}
)
_FIRST = {*_STARTS, "plus"}
_AMBIGUOUS = dict.fromkeys(_BARE, "write brackets around what the function before it applies to")
_AMBIGUOUS["divide"] = "after a division write * or brackets: a/b*c or a/(b*c)"


def parse_tree(text: str, letters: Collection[str]) -> Node:
    """Return the tree of the formula in `text`.

    Args:
        text: What the candidate wrote.
        letters: The letters that have a meaning, each of A to Z or a to z.

    Raises:
        FormulaError: `text` is no formula in these letters, or is over a limit.
    """
    if len(text) > _MAX_LENGTH:
        raise FormulaError(
            f"the formula has {len(text)} characters; at most {_MAX_LENGTH} are allowed"
        )
    tokens = read_tokens(text, letters)
    source = "\n".join(_in_python(tokens, letters))
    return _Reader(tokens, letters).node(ast.parse(f"({source})", mode="eval").body)


def _in_python(tokens: list[Token], letters: Collection[str]) -> list[str]:
    """Return a formula in Python, a line for each token.

    Raises:
        FormulaError: It is no formula, or can be read in two ways.
    """
    lines, before = [], ""
    # Brackets, by what stands before them and what closes them; divisions and bare functions.
    opened: list[tuple[str, str]] = []
    for token in tokens:
        kind, python = token.kind, token.python
        if kind not in _AFTER.get(before, _FIRST):
            is_bracket_missing = before in _NAMES and kind != "other"
            raise refusal(token, letters, "expected '('" if is_bracket_missing else "")
        while opened and not opened[-1][1] and kind in _SIGNS and before in _ENDS:
            opened.pop()
        by, closing = opened[-1] if opened else ("", "")
        if kind in _STARTS and before in _ENDS:
            if by and not closing:
                raise refusal(token, letters, _AMBIGUOUS[by])
            python = f"*{python}"
        elif before in _BARE and kind != "open":
            opened.append((before, ""))
            python = f"**{python}"
        match kind:
            case "divide":
                opened.append((kind, ""))
            case "open":
                opened.append((before, _BRACKETS[token.text]))
            case "comma" if by not in ("max", "min"):
                raise refusal(token, letters, "one formula is wanted, without a comma")
            case "close" | "end" if token.text != closing:
                raise refusal(token, letters, closing and f"expected {closing!r}")
            case "close":
                opened.pop()
                python = {"frac": ")/", "over": "))"}.get(by, python)
                kind = "over" if by == "frac" else kind
        if len(opened) > _MAX_DEPTH:
            remedy = f"at most {_MAX_DEPTH} levels of nesting are allowed"
            raise refusal(token, letters, remedy)
        lines.append(python)
        before = kind
    return lines


class _Reader:
    """Gives Python's nodes their meaning; a type of node that is not named here has none."""

    def __init__(self, tokens: list[Token], letters: Collection[str]) -> None:
        self._tokens = tokens
        self._letters = letters

    def node(self, tree: ast.expr) -> Node:
        """Return what a part of Python's tree means.

        Raises:
            FormulaError: It has no meaning, or a power or logarithm is not allowed.
        """
        match tree:
            case ast.Constant(value):
                return Fraction(repr(value))
            case ast.Name(name):
                return name
            case ast.UnaryOp(ast.UAdd(), operand):
                return self.node(operand)
            case ast.UnaryOp(ast.USub(), operand):
                return _negative(self.node(operand))
            case ast.BinOp(ast.Name("log" | "sqrt" as name), ast.Pow(), argument):
                return self._call(name, [argument], tree.lineno)
            case ast.Call(ast.Name(name), arguments):
                return self._call(name, arguments, tree.lineno)
            case ast.BinOp(base, ast.Pow(), exponent):
                return Power(self.node(base), self._exponent(exponent))
            case ast.BinOp(left, ast.Add(), right):
                return _flat(Function.SUM, self.node(left), self.node(right))
            case ast.BinOp(left, ast.Sub(), right):
                return _flat(Function.SUM, self.node(left), _negative(self.node(right)))
            case ast.BinOp(left, ast.Mult(), right):
                return _flat(Function.PRODUCT, self.node(left), self.node(right))
            case ast.BinOp(left, ast.Div(), right):
                divisor = Power(self.node(right), Fraction(-1))
                return _flat(Function.PRODUCT, self.node(left), divisor)
        raise FormulaError(f"{type(tree).__name__} has no meaning in a formula")

    def _call(self, name: str, arguments: list[ast.expr], line: int) -> Node:
        nodes = tuple(map(self.node, arguments))
        if name == "sqrt":
            return Power(nodes[0], Fraction(1, 2))
        # Growth is compared at sizes where log log can not be told from a constant.
        if name == "log" and has_logarithm(nodes[0]):
            remedy = "a logarithm of a logarithm is not allowed"
            raise refusal(self._tokens[line - 1], self._letters, remedy)
        return Call(Function(name), nodes)

    def _exponent(self, tree: ast.expr) -> Fraction:
        node = self.node(tree)
        value = None if any(letters_in(node)) else value_of(node, {})
        number = Fraction(value.over, value.under) if value and value.exact else None
        if number is not None and number.denominator in _ROOTS and abs(number) <= _MAX_EXPONENT:
            return number
        signs = [one for one in self._tokens[: tree.lineno] if one.kind in ("power", "super")]
        remedy = (
            f"a power must be a number between -{_MAX_EXPONENT} and {_MAX_EXPONENT}, "
            "in whole, half or quarter steps"
        )
        raise refusal(signs[-1], self._letters, remedy, "a power")


def _negative(node: Node) -> Node:
    return _flat(Function.PRODUCT, Fraction(-1), node)


def _flat(function: Function, *nodes: Node) -> Node:
    """Return a sum or product, none of whose parts is one as well."""
    parts: list[Node] = []
    for node in nodes:
        match node:
            case Call(same, arguments) if same is function:
                parts += arguments
            case _:
                parts.append(node)
    return Call(function, tuple(parts))
