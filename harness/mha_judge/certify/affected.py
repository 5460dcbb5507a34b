"""Which checks of a grader a change concerns, by what its definitions refer to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

_TITLES = {"check": 0, "restated": 1}
"""Which argument of these, in a grader, is a title."""
_ALL = "*"
"""Stands for what is neither defined nor imported under a name."""

Definitions = Mapping[str, str]
"""What a module defines or imports, by name: as a syntax tree without words for readers."""


def affected_checks(
    grader: Path, shared: Iterable[Path], before: Callable[[Path], Path]
) -> tuple[set[str], int] | None:
    """Return the ids of a grader's checks that a change concerns, and how many it has.

    A check is concerned if its own text has changed, or that of something it names, in whatever of
    the modules. Titles and docstrings are no change.

    Args:
        grader: The module with the checks.
        shared: What it shares with other graders.
        before: Returns where a file lay before the change.

    Returns:
        None if a file cannot be read, now or before.
    """
    changed: set[str] = set()
    users: dict[str, set[str]] = {}
    checks: list[str] = []
    for file in (grader, *shared):
        now, then = _definitions(file), _definitions(before(file))
        if now is None or then is None:
            return None
        if file == grader:
            checks = [name for name in now if name.startswith("test_")]
        changed |= {name for name in {*now, *then} if now.get(name, "") != then.get(name, "")}
        for name, text in now.items():
            for named in _named(text):
                users.setdefault(named, set()).add(name)
    waiting = [*changed]
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in changed:
                changed.add(user)
                waiting.append(user)
    affected = checks if _ALL in changed else [name for name in checks if name in changed]
    return {name.removeprefix("test_").replace("_", "-") for name in affected}, len(checks)


def _definitions(file: Path) -> Definitions | None:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _TITLES:
            place = _TITLES[getattr(node.func, "id", "")]
            node.args[place : place + 1] = []
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    found: dict[str, str] = {}
    for statement in tree.body:
        for name, part in _parts(statement):
            found[name] = f"{found.get(name, '')}{ast.unparse(part)}\n"
    return found


def _parts(statement: ast.stmt) -> Iterable[tuple[str, ast.AST]]:
    """Yield the names that a statement gives something, and what it gives them."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name, statement
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            module = getattr(statement, "module", "") or ""
            one = ast.ImportFrom(module=module, names=[alias], level=0)
            yield alias.asname or alias.name, one if module else ast.Import(names=[alias])
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [node.id for one in targets for node in ast.walk(one) if isinstance(node, ast.Name)]
        for name in names or [_ALL]:
            yield name, statement
    else:
        yield _ALL, statement


def _named(text: str) -> set[str]:
    """Return the names that a definition refers to, those of attributes among them.

    What graders share asks their module for things by attributes.
    """
    nodes = [*ast.walk(ast.parse(text))]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
