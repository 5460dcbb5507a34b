"""The blocks of a source, counted in the same way by who marks them and by who reads the marks.

A block is the body of a function, or of what may be left out: a branch, a loop, a handler. Its
lines run one after the other, so that one mark at its beginning tells whether it was reached.
"""

import ast
from collections.abc import Iterator

_FIELDS = ("body", "orelse", "finalbody")


def blocks_of(tree: ast.Module) -> list[list[ast.stmt]]:
    """Return the statements of each block, always in the same order; the module's are none."""
    return list(_blocks(tree))


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef)):  # is run where it stands
            continue
        for name in _FIELDS:
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def is_documented(block: list[ast.stmt]) -> bool:
    """Whether a block begins with a text, which must stay its first statement."""
    first = block[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
