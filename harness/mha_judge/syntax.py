"""The syntax tree of a candidate's file, for all who look into it."""

from __future__ import annotations

import ast
import functools
import warnings


def syntax_tree(source: str) -> ast.Module | None:
    """Return the tree of a source, which nobody may change; None if it cannot be read."""
    found = _parsed(source)
    return found if isinstance(found, ast.Module) else None


def syntax_error(source: str) -> SyntaxError | None:
    """Return why a source is no Python; None if it is, or if only running it tells."""
    found = _parsed(source)
    return found if isinstance(found, SyntaxError) else None


def name_of(node: ast.AST) -> str:
    """Return the name that an expression is; "" if it is anything else."""
    return node.id if isinstance(node, ast.Name) else ""


@functools.lru_cache(maxsize=4)
def _parsed(source: str) -> ast.Module | SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its author is told of them elsewhere
            return ast.parse(source)
    except SyntaxError as error:
        return error.with_traceback(None)
    except (ValueError, RecursionError, MemoryError):  # a worker may still run it
        return None
