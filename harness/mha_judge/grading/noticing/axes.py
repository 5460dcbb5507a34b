"""Which values of axes an answer may notice."""

from __future__ import annotations

import functools

from mha_judge.grading.noticing.file import File, Unproven
from mha_judge.syntax import syntax_tree

_AXES = frozenset({"mode", "leaf", "frozen", "layout", "before", "after", "instance"})
"""Axes that no harmless part can notice, but for `layout`."""
_WEIGHTS_BEFORE = frozenset({"anew", "one anew", "rolled", "one replaced"})
"""Values of `weights` that only matter where something is kept."""


def may_notice(source: str, axis: str, value: str) -> bool:
    """Return whether an answer may tell a value of an axis from the plain one.

    Args:
        source: The answer's file.
        axis: The axis, such as `before`.
        value: A value of it that is not the plain one.
    """
    is_of_state = axis in _AXES and value != "filled"  # what is filled may be a view
    if not is_of_state and not (axis == "weights" and value in _WEIGHTS_BEFORE):
        return True
    noticed = _noticed(source)
    return noticed is None or axis in noticed


@functools.lru_cache(maxsize=4)
def _noticed(source: str) -> frozenset[str] | None:
    """Return which of the axes a file may notice; None if it may notice anything."""
    tree = syntax_tree(source)
    if tree is None:
        return None
    try:
        return File(tree).noticed()
    except (Unproven, RecursionError):
        return None
