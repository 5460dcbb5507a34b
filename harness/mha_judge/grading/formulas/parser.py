"""Reading a formula from untrusted text, without evaluating anything as code.

    sum     = product (("+" | "-") product)*
    product = signed ("*" signed | "/" signed | power)*
    signed  = ("+" | "-")* power
    power   = atom ("^" ("+" | "-")* power | superscript)?
    atom    = number | letter | "(" sum ")" | function "(" sum ("," sum)* ")" | function power

Where a product without a sign could be read in two ways (`a/bc`, `log ab`) it is refused.
"""

from collections.abc import Callable, Collection
from fractions import Fraction

from mha_judge.grading.formulas.tokens import CLOSING, Kind, Token, read_tokens, refusal
from mha_judge.grading.formulas.tree import (
    Call,
    FormulaError,
    Function,
    Letter,
    Node,
    Number,
    Power,
    Product,
    Sum,
    letters_in,
    value_of,
)

_MAX_LENGTH = 300
_MAX_DEPTH = 40
_MAX_EXPONENT = 12
_ROOTS = (1, 2, 4)


def parse_tree(text: str, letters: Collection[str]) -> Node:
    """Return the tree of the formula in `text`.

    Args:
        text: What the candidate wrote.
        letters: The letters that have a meaning, one character each.

    Raises:
        FormulaError: `text` is no formula in these letters, or is over a limit.
    """
    if len(text) > _MAX_LENGTH:
        raise FormulaError(
            f"the formula has {len(text)} characters; at most {_MAX_LENGTH} are allowed"
        )
    return _Parser(read_tokens(text, letters), letters).parse()


class _Parser:
    """One pass over the tokens; the state is the place reached and the nesting there."""

    def __init__(self, tokens: list[Token], letters: Collection[str]) -> None:
        self._tokens = tokens
        self._letters = letters
        self._at = 0
        self._depth = 0
        self._in_log = False
        self._ends_in_bare_argument = False

    def parse(self) -> Node:
        node = self._sum()
        if self._next.kind is not Kind.END:
            raise self._error()
        return node

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _error(self, remedy: str = "") -> FormulaError:
        token = self._next
        found = token.text if token.kind is Kind.END else repr(token.text)
        return refusal(found, token.position, self._letters, remedy)

    def _take(self, *signs: str) -> str:
        """Move past the next token if it is one of `signs` and return it, else return ''."""
        token = self._next
        if token.kind is Kind.SIGN and token.text in signs:
            self._at += 1
            return token.text
        return ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._error(f"expected {sign!r}")

    def _nested(self, rule: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error(f"at most {_MAX_DEPTH} levels of nesting are allowed")
        node = rule()
        self._depth -= 1
        return node

    def _sum(self) -> Node:
        terms = [self._product()]
        while sign := self._take("+", "-"):
            term = self._product()
            terms.append(term if sign == "+" else _negative(term))
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _product(self) -> Node:
        factors, is_divisor = [self._signed()], False
        while True:
            if sign := self._take("*", "/"):
                is_divisor = sign == "/"
                factor = self._signed()
                factors.append(Power(factor, Fraction(-1)) if is_divisor else factor)
            elif self._starts_atom():
                self._refuse_ambiguity(is_divisor)
                factors.append(self._power())
            else:
                return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def _refuse_ambiguity(self, is_divisor: bool) -> None:
        if is_divisor:
            raise self._error("after a division write * or brackets: a/b*c or a/(b*c)")
        if self._ends_in_bare_argument:
            raise self._error("write brackets around what the function before it applies to")

    def _starts_atom(self) -> bool:
        token = self._next
        if token.kind is Kind.SIGN:
            return token.text in CLOSING
        return token.kind in (Kind.NUMBER, Kind.LETTER, Kind.NAME)

    def _signed(self) -> Node:
        is_negative = False
        while sign := self._take("+", "-"):
            is_negative ^= sign == "-"
        node = self._power()
        return _negative(node) if is_negative else node

    def _power(self) -> Node:
        base = self._nested(self._atom)
        token = self._next
        if token.kind is Kind.SUPERSCRIPT:
            self._at += 1
            return self._raised(base, Number(Fraction(token.text)), token)
        if self._take("^"):
            is_bare = self._ends_in_bare_argument
            exponent = self._nested(self._signed)
            self._ends_in_bare_argument = is_bare
            return self._raised(base, exponent, token)
        return base

    def _raised(self, base: Node, exponent: Node, token: Token) -> Node:
        remedy = (
            f"a power must be a number between -{_MAX_EXPONENT} and {_MAX_EXPONENT}, "
            "in whole, half or quarter steps"
        )
        error = refusal("a power", token.position, self._letters, remedy)
        if any(letters_in(exponent)):
            raise error
        value = value_of(exponent, {})
        number = Fraction(value.over, value.under)
        is_allowed = number.denominator in _ROOTS and abs(number) <= _MAX_EXPONENT
        if not (value.exact and is_allowed):
            raise error
        return Power(base, number)

    def _atom(self) -> Node:
        token = self._next
        if not self._starts_atom():
            raise self._error()
        if token.kind is Kind.SIGN:
            node: Node = self._group()[0]
        else:
            self._at += 1
            if token.kind is Kind.NAME:
                return self._function(token.text)
            is_letter = token.kind is Kind.LETTER
            node = Letter(token.text) if is_letter else Number(Fraction(token.text))
        self._ends_in_bare_argument = False
        return node

    def _group(self) -> list[Node]:
        """Read what stands in one pair of brackets, at commas where there are any."""
        opening = self._take(*CLOSING)
        if not opening:
            raise self._error("expected '('")
        nodes = [self._sum()]
        while self._take(","):
            nodes.append(self._sum())
        self._expect(CLOSING[opening])
        self._ends_in_bare_argument = False
        return nodes

    def _function(self, name: str) -> Node:
        match name:
            case "max" | "min":
                return Call(Function(name), tuple(self._group()))
            case "frac":
                return Product((self._one_group(), Power(self._one_group(), Fraction(-1))))
            case "theta":
                return self._one_group()
            case "root":
                return Power(self._argument(), Fraction(1, 2))
            case _:
                return self._log()

    def _one_group(self) -> Node:
        nodes = self._group()
        if len(nodes) > 1:
            raise self._error("one formula belongs in the brackets before it, without a comma")
        return nodes[0]

    def _argument(self) -> Node:
        if self._next.kind is Kind.SIGN:
            return self._one_group()
        node = self._power()
        self._ends_in_bare_argument = True
        return node

    def _log(self) -> Node:
        # Growth is compared at sizes where log log can not be told from a constant.
        if self._in_log:
            raise self._error("a logarithm of a logarithm is not allowed")
        self._in_log = True
        node = Call(Function.LOG, (self._argument(),))
        self._in_log = False
        return node


def _negative(node: Node) -> Node:
    return Product((Number(Fraction(-1)), node))
