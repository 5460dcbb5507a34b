"""Which blocks of the file have run: evidence for people, which a hostile file can forge.

Each block begins with a statement that sets its own byte in an array. That costs some nanoseconds,
while tracing would cost as much as the lines themselves.
"""

import ast
import types
from typing import Any

from mha_judge.wire.blocks import blocks_of, is_documented

_NAME = "__reached__"  # Python does not mangle it in a class, nor is it listed as a definition
_reached = bytearray()
_told = b""


def marked(source: str, filename: str) -> types.CodeType:
    """Return the compiled source, with marks.

    Raises:
        BaseException: Whatever compiling the source raises.
    """
    code = compile(source, filename, "exec", dont_inherit=True)
    try:
        tree = ast.parse(source, filename)
        count = _mark(tree)
        with_marks = compile(tree, filename, "exec", dont_inherit=True)
    except Exception:  # nested too deep for `ast`, say: then no blocks are reported
        return code
    _reached[:] = bytes(count)
    return with_marks


def names() -> dict[str, Any]:
    """Return what a module needs in its namespace for its marks."""
    return {_NAME: _reached}


def take() -> list[int]:
    """Return the numbers of the blocks that were first reached since the last call."""
    global _told
    now = bytes(_reached)
    if now == _told:
        return []
    before, _told = _told.ljust(len(now), b"\0"), now
    return [number for number, is_reached in enumerate(now) if is_reached and not before[number]]


def _mark(tree: ast.Module) -> int:
    blocks = blocks_of(tree)  # all of them, before marks are put in
    for number, block in enumerate(blocks):
        mark = ast.parse(f"{_NAME}[{number}] = 1").body[0]
        for node in ast.walk(mark):
            ast.copy_location(node, block[0])
        block.insert(int(is_documented(block)), mark)
    return len(blocks)
