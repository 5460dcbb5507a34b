"""The whole numbers that stand in a program."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from mha_judge.syntax import syntax_tree

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}
_MOST = (1 << 20) + 1
_DEEPEST = 4


def integers_in(source: str) -> list[int]:
    """Return the whole numbers in a program, products and powers of them worked out, in order."""
    tree = syntax_tree(source)
    if tree is None:
        return []
    found = [_value(node) for node in ast.walk(tree) if isinstance(node, ast.expr)]
    return list(dict.fromkeys(one for one in found if one is not None))


def _value(node: ast.expr, depth: int = 0) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        whole = abs(node.value) < _MOST and node.value == int(node.value)
        return int(node.value) if whole else None
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and depth < _DEEPEST:
        left, right = _value(node.left, depth + 1), _value(node.right, depth + 1)
        if left is None or right is None:
            return None
        if isinstance(node.op, (ast.LShift, ast.Pow)) and not 0 <= right <= 20:
            return None
        value = _OPERATORS[type(node.op)](left, right)
        return value if abs(value) < _MOST else None
    return None
