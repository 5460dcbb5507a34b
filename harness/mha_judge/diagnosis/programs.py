"""Mistakes as programs: the reference's statements with one edit, or with two that lie apart.

Written out statement by statement, without docstrings and annotations, a mistake differs from the
reference in a few lines. If the lines of two mistakes lie apart, one program can make both.
"""

from __future__ import annotations

import ast
import copy
import difflib
import functools
import itertools
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from mha_judge.bank.mistake import ANY, Mistake
from mha_judge.bank.problem import Entry
from mha_judge.diagnosis.derived import derived
from mha_judge.syntax import syntax_tree

# no user wrote what torch warns of there
warnings.filterwarnings("ignore", module=r"mistake\Z|mha_judge\.grading\.expecting\.expected\Z")

_MOST_NUMBERS = 4
"""How many numbers of a candidate's own are tried in one mistake."""
_SMALL, _LARGE = 10, 1e15
"""Whole numbers below the first stand in any program, as indices and axes; none above the second
is tried."""
MAX_PROGRAMS = 3
"""The most programs that make one of a candidate's mistakes, and the most that make two."""
_LOW = -6e4
"""Replaces −∞ in a program that is to give finite numbers."""
_FILLING = ("masked_fill", "where")
"""Functions that fill −∞ into scores."""
_CUT = ".detach()"
"""How references cut gradients off."""
REFUSED = "refused"
"""The message of every exception that a program raises itself: candidates word theirs freely."""


@dataclass(frozen=True)
class Hunk:
    """Lines `start` to `end` of the reference, and the lines that replace them."""

    start: int
    end: int
    lines: tuple[str, ...]

    def meets(self, other: Hunk) -> bool:
        """Return whether two edits share lines, or insert lines at one place."""
        if self.start == self.end == other.start == other.end:
            return True
        return self.start < other.end and other.start < self.end


class Program:
    """Python source from the bank, run when it is first needed."""

    def __init__(self, mistakes: Sequence[Mistake], tree: Callable[[], ast.Module]) -> None:
        """Take the mistakes that the program makes, and a function that returns its syntax tree."""
        self.mistakes = tuple(mistakes)
        self._tree = tree

    @cached_property
    def module(self) -> ModuleType:
        """The module that the source makes; an empty one if it does not run."""
        module = ModuleType("mistake")
        try:
            exec(compile(self._tree(), "<mistake>", "exec"), module.__dict__)
        except Exception:  # two edits may make no program together
            return ModuleType("mistake")
        return module

    @property
    def runs(self) -> bool:
        """Whether the source is a program: two edits may make none together."""
        try:
            return bool(self.source)
        except SyntaxError:
            return False

    @cached_property
    def source(self) -> str:
        """The program, without docstrings, annotations and the words of exceptions."""
        return ast.unparse(self._tree())

    @property
    def lines(self) -> list[str]:
        """The program statement by statement."""
        return self.source.splitlines()

    def entry(self, name: str) -> Any:
        return getattr(self.module, name, None)

    @cached_property
    def without_infinity(self) -> list[Program]:
        """The program with a number in place of −∞, or nothing filled in; in all places, or in one.

        Where a mistake blocks every key of a row, −∞ gives NaN, filling in a number gives the mean
        of v, and adding one gives what no mask gives: it is the same mistake.
        """
        count = len(_infinities(self._tree()))
        places = [range(count), *([place] for place in range(count) if count > 1)]
        return [
            Program(self.mistakes, functools.partial(_without_infinity, self._tree, *how))
            for how in itertools.product(places, (_Finite, _Unfilled))
        ]


class Catalogue:
    """The mistakes of one problem, alone and in pairs."""

    def __init__(
        self, source: str, mistakes: Sequence[Mistake], entries: Sequence[Entry] = ()
    ) -> None:
        """Take what a problem has.

        Args:
            source: The reference.
            mistakes: The known mistakes.
            entries: Entries for which further mistakes are derived.
        """
        self.source = source
        """The right program."""
        self._entries = entries
        self.right = Program([], lambda: _tree(self.source))
        self.mistakes = {mistake.id: mistake for mistake in mistakes}
        self._every = {name: one for m in mistakes for name, one in self._programs(m)}
        """Programs by the mistake's id; variants of a mistake by a name of their own."""
        self.programs = {n: p for n, p in self._every.items() if _has_values(p)}
        """Programs of mistakes that change values."""
        self._hunks: dict[Program, list[Hunk]] = {}
        self._combined: dict[tuple[str, ...], Program | None] = {}

    def knowing(self, numbers: Sequence[str]) -> Catalogue:
        """Return the mistakes with a candidate's own numbers in them as well.

        Args:
            numbers: As they stand in the candidate's source.
        """
        more = {
            f"{mistake.id} with {number}, form {form}": Program(
                [mistake], functools.partial(_tree, one.source.replace(ANY, number))
            )
            for mistake in self.mistakes.values()
            for form, one in enumerate(mistake.with_any)
            for number in _fitting(one.numbers, numbers)
        }
        if not more:
            return self
        other = copy.copy(self)
        other._every = self._every | more
        other.programs = self.programs | {n: p for n, p in more.items() if _has_values(p)}
        return other

    def add(self, mistake: Mistake) -> Program:
        """Add a mistake that was found from a candidate's calls, and return its program."""
        if mistake.id not in self._every:
            self._every |= dict(self._programs(mistake))
        return self._every[mistake.id]

    @cached_property
    def derived(self) -> dict[str, Program]:
        """Programs of mistakes that nobody wrote down, by id."""
        found = {
            name: program
            for mistake in derived(self.source, self._entries)
            for name, program in self._programs(mistake)
        }
        self._every |= found
        return found

    def named(self, name: str) -> Program:
        return self._every[name]

    def by_check(self, check: str, message: str) -> list[Mistake]:
        """Return the mistakes that only this check notices, and whose pattern fits its message."""
        noticed = [m for m in self.mistakes.values() if m.killed_by == check]
        return [m for m in noticed if m.says is not None and m.says.search(message)]

    def pairs(self, ids: Sequence[str], suspects: int | None = None) -> Iterator[Program]:
        """Yield the programs that make two of these mistakes at once.

        Args:
            ids: The likeliest first.
            suspects: How many of the first are so likely that all pairs with them come first; all
                if None.
        """
        known = len(ids) if suspects is None else suspects

        def rank(pair: tuple[int, int]) -> tuple[int, int]:
            if pair[0] < known:
                return pair
            return known, (pair[0] - known + 1) * (pair[1] - known)  # few that are near, with many

        for one, other in sorted(itertools.combinations(range(len(ids)), 2), key=rank):
            program = self.together((ids[one], ids[other]))
            if program is not None:
                yield program

    def making(self, names: Iterable[str], pairs: Sequence[Program]) -> list[Program]:
        """Return the programs that make some mistakes, those that make one first.

        So what one mistake explains alone is not laid to the others, too.

        Args:
            names: Names of programs, and ids of mistakes; a mistake may occur twice.
            pairs: Programs that make two of these mistakes.
        """
        by_id: dict[str, str] = {}
        for name in names:
            by_id.setdefault(self._every[name].mistakes[0].id, name)
        alone = [self._every[name] for name in by_id.values()][:MAX_PROGRAMS]
        whole = self.together(list(by_id.values())) if len(by_id) > 1 else None
        return [*alone, whole] if whole is not None else [*alone, *pairs[:MAX_PROGRAMS]]

    def together(self, names: Sequence[str]) -> Program | None:
        """Return a program that makes all these mistakes; None if their edits share lines."""
        key = tuple(names)
        if key not in self._combined:
            self._combined[key] = self._joined([self._every[name] for name in names])
        return self._combined[key]

    def beside(self, program: Program) -> Catalogue:
        """Return the mistakes that can be made besides those of a program, which is then right."""
        made = {mistake.id for mistake in program.mistakes}
        others = []
        for mistake in self.mistakes.values():
            both = self._joined([program, self._every[mistake.id]])
            if mistake.says is not None and mistake.id not in made:
                others.append(mistake)  # no program is compared
            elif both is not None and both.runs:
                words = {"source": both.source, "others": {}, "with_any": ()}
                others.append(mistake.model_copy(update=words))
        return Catalogue(program.source, others, self._entries)

    def _joined(self, programs: Sequence[Program]) -> Program | None:
        mistakes = [mistake for program in programs for mistake in program.mistakes]
        if len({mistake.id for mistake in mistakes}) < len(mistakes):
            return None
        for one, other in itertools.combinations(programs, 2):
            mine, theirs = self._hunks_of(one), self._hunks_of(other)
            if any(a.meets(b) for a in mine for b in theirs if a != b):
                return None
        lines = list(self.right.lines)
        every = {hunk for program in programs for hunk in self._hunks_of(program)}
        for hunk in sorted(every, key=lambda hunk: (hunk.start, hunk.end), reverse=True):
            lines[hunk.start : hunk.end] = hunk.lines
        return Program(mistakes, lambda: ast.parse("\n".join(lines)))

    def _programs(self, mistake: Mistake) -> Iterator[tuple[str, Program]]:
        """Yield the mistake's program under its id, and its variants under other names.

        Some have another constant. In one, gradients flow where the reference cuts them off: there
        they cancel out, but with a mistake they may not.
        """
        yield mistake.id, Program([mistake], lambda: _tree(mistake.source))
        for constant, source in mistake.others.items():
            tree = functools.partial(_tree, source)
            yield f"{mistake.id} with {constant}", Program([mistake], tree)
        if _CUT in self.source and _CUT in mistake.source:
            tree = functools.partial(_tree, mistake.source.replace(_CUT, ""))
            yield f"{mistake.id} with all gradients", Program([mistake], tree)

    def _hunks_of(self, program: Program) -> list[Hunk]:
        if program not in self._hunks:
            self._hunks[program] = hunks(self.right.lines, program.lines)
        return self._hunks[program]


def _has_values(program: Program) -> bool:
    return all(mistake.has_values for mistake in program.mistakes)


def numbers_of(source: str) -> list[str]:
    """Return the numbers in a file, as Python writes them, in the order in which they stand."""
    tree = syntax_tree(source)
    found: dict[str, None] = {}
    negated: set[ast.AST] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            negated.add(node.operand)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            value: Any = node.value
            if abs(value) <= _LARGE:  # a longer one cannot even be written out
                found[f"{'-' if node in negated else ''}{value!r}"] = None
    return [*found]


def _fitting(known: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """Return the numbers that may stand where the bank has others: of their sign, and first those
    that are written like them."""

    def is_whole(number: str) -> bool:
        return number.lstrip("-").isdecimal()

    values, is_negative = {*map(float, known)}, known[0].startswith("-")
    others = [one for one in numbers if float(one) not in values]
    fitting = [one for one in others if one.startswith("-") is is_negative]
    telling = [one for one in fitting if not is_whole(one) or abs(float(one)) >= _SMALL]
    return sorted(telling, key=lambda one: is_whole(one) is not is_whole(known[0]))[:_MOST_NUMBERS]


def hunks(base: Sequence[str], changed: Sequence[str]) -> list[Hunk]:
    """Return the hunks that turn the lines of `base` into those of `changed`."""
    matcher = difflib.SequenceMatcher(None, base, changed, autojunk=False)
    return [
        Hunk(i1, i2, tuple(changed[j1:j2]))
        for kind, i1, i2, j1, j2 in matcher.get_opcodes()
        if kind != "equal"
    ]


def _tree(source: str) -> ast.Module:
    """Return a program's syntax tree, without docstrings, annotations and words of exceptions."""
    tree: ast.Module = _Plain().visit(ast.parse(source))
    return ast.fix_missing_locations(tree)


def _without_infinity(
    tree: Callable[[], ast.Module], places: Collection[int], change: type[_Finite]
) -> ast.Module:
    """Return a program with `change` applied to the −∞ in these places, counted from 0."""
    whole = tree()
    every = _infinities(whole)
    changed: ast.Module = change([every[place] for place in places]).visit(whole)
    return changed


def _infinities(tree: ast.Module) -> list[ast.AST]:
    """Return the places of −∞, but for factors: 0 · ∞ is a mistake of its own."""
    products = [one for one in ast.walk(tree) if isinstance(one, ast.BinOp)]
    factors = {
        id(place)
        for product in products
        if isinstance(product.op, ast.Mult)
        for factor in (product.left, product.right)
        for place in (factor, *_arguments(factor))
    }
    return [one for one in ast.walk(tree) if _is_infinity(one) and id(one) not in factors]


def _arguments(node: ast.AST) -> Sequence[ast.AST]:
    """Return the arguments of a call that converts them; one that fills them in is none."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ()
    return () if node.func.attr in _FILLING else node.args


def _is_infinity(node: ast.AST) -> bool:
    """Return whether a node is −∞; +∞ has nothing to do with blocked rows."""
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return False
    return isinstance(node.operand, ast.Attribute) and node.operand.attr == "inf"


class _Finite(ast.NodeTransformer):
    """Puts a number that float16 holds in place of −∞."""

    def __init__(self, infinities: Sequence[ast.AST]) -> None:
        self._infinities = infinities

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if node in self._infinities:
            return ast.copy_location(ast.Constant(_LOW), node)
        return self.generic_visit(node)

    def _has_one(self, node: ast.AST) -> bool:
        return any(one in self._infinities for one in ast.walk(node))


class _Unfilled(_Finite):
    """Leaves scores as they are where −∞ is filled in; elsewhere puts a number in its place."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute) and any(map(self._has_one, node.args)):
            scores = {
                "masked_fill": [node.func.value],
                "where": [one for one in node.args[1:] if not self._has_one(one)],
            }.get(node.func.attr)
            if scores:
                return ast.NodeVisitor.visit(self, scores[0])  # type: ignore[no-any-return]
        return self.generic_visit(node)


class _Plain(ast.NodeTransformer):
    """Drops docstrings and annotations, and the words of exceptions."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call) and node.exc.args:
            node.exc.args = [ast.Constant(REFUSED)]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        assign = ast.Assign(targets=[node.target], value=node.value)
        return self.generic_visit(ast.copy_location(assign, node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            argument.annotation = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node
