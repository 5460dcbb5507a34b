"""Values as trees: lists, tuples and dicts, and what stands in them."""

from collections.abc import Callable
from typing import Any


def map_tree(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply `function` to every leaf of a tree of lists, tuples and dicts."""
    if isinstance(tree, (list, tuple)):
        items = [map_tree(function, item) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, dict):
        return {key: map_tree(function, item) for key, item in tree.items()}
    return function(tree)
