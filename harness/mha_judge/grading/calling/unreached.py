"""Which lines of a file no check reached."""

from __future__ import annotations

import ast
from collections.abc import Collection

from mha_judge.syntax import syntax_tree
from mha_judge.wire.blocks import blocks_of

_NOT_FOR_US = {"__name__ == '__main__'", "TYPE_CHECKING", "typing.TYPE_CHECKING"}
"""Conditions of blocks that no judge runs."""
_MOST = 50


def unreached(source: str, reached: Collection[int]) -> list[tuple[int, int]]:
    """Return first and last line of each block that was not reached, in order, none inside another.

    Args:
        source: The file.
        reached: Numbers of the reached blocks, in the order of `blocks_of`. If there are none, the
            file was not marked, and nothing is known of it.
    """
    tree = syntax_tree(source)
    if tree is None or not reached:
        return []
    foreign = {
        id(node.body[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) in _NOT_FOR_US
    }
    missed = sorted(
        (block[0].lineno, -(block[-1].end_lineno or block[-1].lineno), id(block[0]))
        for number, block in enumerate(blocks_of(tree))
        if number not in reached
    )
    found: list[tuple[int, int]] = []
    end = 0
    for first, last, statement in missed:
        if first > end:
            end = -last
            if statement not in foreign:
                found.append((first, end))
    return found[:_MOST]
