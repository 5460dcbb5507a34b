"""Calls that are not made as they have to be, and functions that return nothing."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from mha_judge.judge.repair.names import MODULES, imported, modules_in, nearest
from mha_judge.judge.repair.place import Function, Place, Repair, named, taken, written

_OTHER_WORDS = {
    "axes": ("dim", "axis"),
    "axis": ("dim",),
    "dim": ("axis",),
    "dims": ("dim", "axis"),
    "keep_dim": ("keepdim", "keepdims"),
    "keep_dims": ("keepdim", "keepdims"),
    "keepdim": ("keepdims",),
    "keepdims": ("keepdim",),
    "k": ("diagonal",),
    "use_bias": ("bias",),
}
"""What other libraries call an argument, and what torch and NumPy do."""
_ARGUMENTS = ("axis", "bias", "device", "diagonal", "dim", "dtype", "keepdim", "keepdims")
"""What functions take that do not tell."""


def no_super(place: Place) -> Iterator[Repair]:
    method = place.function_at(place.stop.line)
    if method is not None:
        first = method.body[0]
        start, _ = place.span(first)
        simple = isinstance(first, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Assert))
        joint = "; " if simple else "\n" + place.line(first.lineno)[: first.col_offset]
        yield place.running(
            (start, start),
            [((start, start), f"super().__init__(){joint}")],
            "`super().__init__()` is missing",
            "What has to come first in the `__init__` of a module?",
            "A module can keep others only after that.",
        )


def no_return(place: Place) -> Iterator[Repair]:
    for function in place.functions:
        last = function.body[-1]
        start, end = place.span(last)
        if function.name == "__init__" or _hands_back(function):
            continue
        if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant):
            whole, edit = (start, end), ((start, start), "return ")
        elif isinstance(last, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and _only_name(last):
            whole, edit = (end, end), ((end, end), f"; return {_only_name(last)}")
        else:
            continue
        yield place.running(
            whole,
            [edit],
            f"`{function.name}` returns nothing",
            "What does the function hand back?",
        )


def _hands_back(function: Function) -> bool:
    return any(
        isinstance(node, (ast.Yield, ast.YieldFrom))
        or (isinstance(node, ast.Return) and node.value is not None)
        for node in ast.walk(function)
    )


def _only_name(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> str:
    """Return the name that a statement gives a value to, if it is one."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [one.id for one in targets if isinstance(one, ast.Name)]
    return names[0] if len(names) == len(targets) == 1 else ""


def wrong_keyword(place: Place, told: str | None = None) -> Iterator[Repair]:
    for call in place.calls():
        known = _taken_by(place, call)
        for keyword in call.keywords:
            wrong = keyword.arg or ""
            if not wrong or (wrong != told if told else wrong in known):
                continue
            others = [one for one in _OTHER_WORDS.get(wrong, ()) if one in known]
            for right in dict.fromkeys([*others, *nearest(wrong, known)]):
                start, end = place.span(keyword)
                yield place.running(
                    (start, end),
                    [((start, start + len(wrong.encode())), right)],
                    f"`{named(call)}` takes no `{wrong}`",
                    f"What is `{wrong}` called there?",
                )


def _taken_by(place: Place, call: ast.Call) -> list[str]:
    """Return what a function takes by name, as far as it is known."""
    for one in place.functions:
        if one.name == named(call):
            return taken(one)
    value = _from_library(place, call.func)
    try:
        found = list(inspect.signature(value).parameters) if value is not None else []
    except (TypeError, ValueError):  # it is written in C
        found = []
    return [one for one in found if one not in ("args", "kwargs")] or [*_ARGUMENTS]


def _from_library(place: Place, function: ast.expr) -> Any:
    """Return what a file's `nn.Linear` is; None if it is of no known module."""
    if not isinstance(function, ast.Attribute):
        return None
    for module, name in modules_in(place.tree).items():
        if module in MODULES and place.text(function.value) == name:
            return vars(import_module(module)).get(function.attr)
    return None


def no_axis(place: Place, name: str) -> Iterator[Repair]:
    yield from wrong_keyword(place)
    for call in place.calls(name):
        _, end = place.span(call)
        joint = ", " if call.args or call.keywords else ""
        yield place.running(
            place.tail(call),
            [((end - 1, end - 1), f"{joint}dim=-1")],
            f"`{name}` is not told its axis",
            "Over which axis do the weights sum to one?",
        )


def no_tuple(place: Place, name: str) -> Iterator[Repair]:
    for call in place.calls(name):
        tensors = [one for one in call.args if not isinstance(one, (ast.Constant, ast.UnaryOp))]
        if len(tensors) > 1:
            start, end = place.span(tensors[0])[0], place.span(tensors[-1])[1]
            yield place.running(
                place.tail(call),
                [((start, start), "("), ((end, end), ")")],
                f"`{name}` takes its tensors as one tuple",
                "What is the first argument?",
            )


def of_a_number(place: Place, name: str) -> Iterator[Repair]:
    for call in place.calls(name):
        if hasattr(math, name):
            right = modules_in(place.tree).get("math", "math")
            found = place.running(
                place.span(call),
                [(place.span(call.func), f"{right}.{name}")],
                "`{}` is asked of a number: it takes tensors",
                "What is its argument?",
            )
            has_math = "math" in modules_in(place.tree)
            source = found.source if has_math else imported(found.source, "import math")
            yield replace(found, source=source)


def shape_called(place: Place) -> Iterator[Repair]:
    for call in place.calls("shape"):
        end, closed = place.span(call.func)[1], place.span(call)[1]
        inner = f"[{place.text(call.args[0])}]" if len(call.args) == 1 else ""
        yield place.running(
            place.span(call), [((end, closed), inner)], "`shape` is no function", "What is `shape`?"
        )


def size_not_called(place: Place) -> Iterator[Repair]:
    for node in written(place.stopped, ast.Attribute, ast.Subscript) if place.stopped else ():
        size = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(size, ast.Attribute) and size.attr == "size":
            _, end = place.span(size)
            name = (end - len("size"), end)
            yield place.running(
                place.span(node), [(name, "shape")], "`size` is a function", "What is `shape`?"
            )


def true_division(place: Place) -> Iterator[Repair]:
    for statement in place.origins():
        for node in written(statement, ast.BinOp):
            if isinstance(node.op, ast.Div):
                between = (place.span(node.left)[1], place.span(node.right)[0])
                sign = place.source.encode()[slice(*between)].decode()
                yield place.running(
                    place.span(node),
                    [(between, sign.replace("/", "//", 1))],
                    "`{}` is a float, and an integer is needed",
                    "Which of the two divisions gives an integer?",
                )
