"""Small changes to a reference, each of which some check should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_BINARY: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


@dataclass(frozen=True)
class Change:
    """One changed reference."""

    text: str
    """The statement before and after."""
    line: int
    source: str


def mutants(source: str) -> list[Change]:
    """Return every changed reference, each text once; what does not compile is left out."""
    tree = ast.parse(source)
    found: dict[str, Change] = {}
    for statement in _statements(tree):
        for mutated in _changes_of(statement):
            change = _change(tree, statement, mutated)
            if change is not None:
                found.setdefault(change.text, change)
    return list(found.values())


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that compute something, those of bodies apart from their heads."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While, ast.With)):
            for statement in [*node.body, *getattr(node, "orelse", [])]:
                if not isinstance(statement, (ast.FunctionDef, ast.Raise)) and not _is_text(
                    statement
                ):
                    yield statement


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _changes_of(statement: ast.stmt) -> Iterator[ast.stmt | None]:
    """Yield a statement with one thing changed; None where it is dropped."""
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.If)):
        yield None
    places = [path for path, node in _nodes(statement, ()) if isinstance(node, ast.AST)]
    for path in places:
        for alter in _alterations(_at(statement, path)):
            changed = copy.deepcopy(statement)
            alter(_at(changed, path))
            yield changed


_APART = ("body", "orelse", "annotation", "returns", "ctx")
Path = tuple[tuple[str, int | None], ...]


def _nodes(node: ast.AST, path: Path) -> Iterator[tuple[Path, ast.AST]]:
    """Yield the expressions of a statement with the way to each; bodies are left out."""
    yield path, node
    for name, value in ast.iter_fields(node):
        if name in _APART and not isinstance(node, ast.IfExp):
            continue
        if isinstance(value, ast.AST):
            yield from _nodes(value, (*path, (name, None)))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _nodes(item, (*path, (name, index)))


def _at(node: ast.AST, path: Path) -> ast.AST:
    for name, index in path:
        value = getattr(node, name)
        node = value if index is None else value[index]
    return node


Alteration = Callable[[ast.AST], None]


def _alterations(node: ast.AST) -> Iterator[Alteration]:
    """Yield functions that change a copy of `node` in place, in one way each."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for operator in _BINARY.get(type(node.op), ()):
            yield _set("op", operator())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield _swap_operands
    if isinstance(node, ast.Compare):
        for comparison in _COMPARISONS.get(type(node.ops[0]), ()):
            yield _set("ops", [comparison(), *node.ops[1:]])
    if isinstance(node, ast.BoolOp):
        yield _set("op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    if isinstance(node, ast.Constant):
        yield from (_set("value", value) for value in _other_constants(node.value))
    if isinstance(node, (ast.If, ast.IfExp)):
        yield _set("test", ast.Constant(value=True))
        yield _set("test", ast.Constant(value=False))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield _set("op", ast.UAdd())
    for name in ("args", "elts"):
        parts = getattr(node, name, None)
        if isinstance(parts, list):
            for index in range(len(parts) - 1):
                yield _exchange(name, index)


def _other_constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 2, -value]
    return []


def _set(name: str, value: object) -> Alteration:
    def alter(node: ast.AST) -> None:
        setattr(node, name, value)

    return alter


def _swap_operands(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp)
    node.left, node.right = node.right, node.left


def _exchange(name: str, index: int) -> Alteration:
    def alter(node: ast.AST) -> None:
        parts = getattr(node, name)
        parts[index], parts[index + 1] = parts[index + 1], parts[index]

    return alter


def _change(tree: ast.Module, statement: ast.stmt, mutated: ast.stmt | None) -> Change | None:
    """Return the whole source with one statement replaced."""
    replacement = ast.Pass() if mutated is None else mutated
    before, after = _head(statement), "(dropped)" if mutated is None else _head(mutated)
    if before == after:
        return None
    other = _Replace(statement, replacement).visit(copy.copy(tree))
    source = ast.unparse(ast.fix_missing_locations(other))
    _Replace(replacement, statement).visit(tree)
    try:
        compile(source, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return None
    return Change(f"{before} → {after}", statement.lineno, source)


def _head(statement: ast.stmt) -> str:
    """Return a statement's text, of a compound one the first line."""
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(statement))).splitlines()[0]


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)
