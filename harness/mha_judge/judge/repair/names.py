"""Names that nothing has: never imported, without `self.` or their module, misspelt."""

from __future__ import annotations

import ast
import builtins
import difflib
import re
from collections.abc import Collection, Iterator
from importlib import import_module

from mha_judge.judge.repair.place import Place, Repair
from mha_judge.syntax import syntax_tree

MODULES = ("math", "numpy", "torch", "torch.nn", "torch.nn.functional")
"""Those of which it is known here what they have, the likeliest first."""
_NEAR = 0.75
"""How alike a misspelt name and the right one are, from 0 to 1."""
_IMPORTS = {
    "F": "import torch.nn.functional as F",
    "Optional": "from typing import Optional",
    "Tensor": "from torch import Tensor",
    "Tuple": "from typing import Tuple",
    "einops": "import einops",
    "math": "import math",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "rearrange": "from einops import rearrange",
    "torch": "import torch",
}


def unknown(place: Place, name: str) -> Iterator[Repair]:
    line = place.stop.line
    if name in _IMPORTS:
        yield place.repair(
            imported(place.source, _IMPORTS[name]),
            line,
            f"`{name}` is used and never imported",
            f"`{_IMPORTS[name]}` is missing.",
            f"Where does `{name}` come from?",
        )
    yield from _without_self(place, name)
    for module, names in modules_in(place.tree).items():
        if module in MODULES and name in vars(import_module(module)):
            alone = [n for n in ast.walk(place.tree) if isinstance(n, ast.Name) and n.id == name]
            yield place.repair(
                place.edited(*((place.span(node), f"{names}.{name}") for node in alone)),
                line,
                f"`{name}` lacks its module",
                f"With `{names}.{name}` in line {line} it runs.",
                f"Where does `{name}` come from?",
            )
    yield from _near(place, name, _names_in(place.tree) | set(dir(builtins)))


def unknown_in_module(place: Place, module: str, name: str) -> Iterator[Repair]:
    if module in MODULES:
        yield from _near(place, name, set(dir(import_module(module))))


def unknown_in_object(place: Place, kind: str, name: str) -> Iterator[Repair]:
    known = {"Tensor": ("torch", "Tensor"), "ndarray": ("numpy", "ndarray")}.get(kind)
    if known is not None:
        names = set(dir(getattr(import_module(known[0]), known[1])))
    else:
        names = _names_in(place.tree) | set(dir(import_module("torch").nn.Module))
    yield from _near(place, name, names)


def modules_in(tree: ast.Module) -> dict[str, str]:
    """Return the modules that a file imports, and what it calls each, those of `MODULES` first."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name: one.asname or one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{one.name}": one.asname or one.name for one in node.names}
    return dict(sorted(found.items(), key=lambda one: one[0] not in MODULES))


def imported(source: str, statement: str) -> str:
    """Return a file with an import more, in a line that is there so that none moves."""
    tree = syntax_tree(source)
    first = next(
        (
            node.lineno
            for node in (tree.body if tree else ())
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))
            and getattr(node, "module", "") != "__future__"
            and not getattr(node, "decorator_list", ())
        ),
        None,
    )
    if first is None:
        return source
    lines = source.split("\n")
    joint = "; " if lines[first - 1].startswith(("import", "from")) else "\n"
    lines[first - 1] = f"{statement}{joint}{lines[first - 1]}"
    return "\n".join(lines)


def _without_self(place: Place, name: str) -> Iterator[Repair]:
    """Yield the file with `self.` before a name, wherever its class uses it alone."""
    line = place.stop.line
    owner = next(
        (
            node
            for node in ast.walk(place.tree)
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
        ),
        None,
    )
    if owner is None or name not in _attributes_of(owner):
        return
    methods = [one for one in place.functions if one in owner.body and _takes_self(one)]
    alone = [
        node
        for method in methods
        if name not in _names_in(ast.Module([*method.body], [])) | set(_arguments(method))
        for node in ast.walk(method)
        if isinstance(node, ast.Name) and node.id == name
    ]
    yield place.repair(
        place.edited(*((place.span(node), f"self.{name}") for node in alone)),
        line,
        f"`{name}` lacks its `self.`",
        f"With `self.{name}` in line {line} it runs.",
        f"Who keeps `{name}`?",
    )


def _attributes_of(owner: ast.ClassDef) -> set[str]:
    kept = {
        node.attr
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return kept | {node.name for node in owner.body if isinstance(node, ast.FunctionDef)}


def _takes_self(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return _arguments(method)[:1] == ["self"]


def _arguments(method: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [node.arg for node in ast.walk(method.args) if isinstance(node, ast.arg)]


def _near(place: Place, name: str, known: Collection[str]) -> Iterator[Repair]:
    for right in nearest(name, known):
        yield place.repair(
            re.sub(rf"\b{name}\b", right, place.source),
            place.stop.line,
            f"`{name}` is misspelt: `{right}`",
            f"There is no `{name}`; `{right}` is the name that comes nearest.",
            f"Read `{name}` letter by letter.",
        )


def nearest(name: str, known: Collection[str]) -> list[str]:
    """Return the names that are like one."""
    return difflib.get_close_matches(name, sorted({*known} - {name}), n=2, cutoff=_NEAR)


def _names_in(tree: ast.Module) -> set[str]:
    """Return the names that a file gives to something, attributes too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names
