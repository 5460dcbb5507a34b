"""Mistakes that nobody wrote down: small changes to a reference, and common wrappers around it.

They are tried if no known mistake explains the failures, and are named by what they change.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import re
from collections.abc import Collection, Iterator, Sequence

from mha_judge.bank.mistake import Mistake
from mha_judge.bank.mutation import mutants
from mha_judge.bank.problem import Entry
from mha_judge.outcomes import Severity

DERIVED = "derived-"
"""The prefix of the ids of such mistakes."""
_MAX_MUTANTS = 60
_MAX_EXCHANGED = 100
_MODULES = ("nn", "F", "np")
_SHORT_NAME = 3
"""Letters of the longest name that counts as a value in a formula: q and kv do, bias does not."""

_AROUND = """

import functools as _functools
import inspect as _inspect
import torch as _torch
import torch.nn.functional as _F


def _around(function):
    signature = _inspect.signature(function)

    @_functools.wraps(function)
    def call(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        given = [name for name in bound.arguments if name != "self"]
        inputs = [bound.arguments[name] for name in given]
        tensors = [i for i, one in enumerate(inputs) if _torch.is_tensor(one)]
        floats = [i for i in tensors if inputs[i].is_floating_point()]
        {before}
        for name, value in zip(given, inputs):
            bound.arguments[name] = value
        found = function(*bound.args, **bound.kwargs)
        out, rest = (found[0], found[1:]) if isinstance(found, tuple) else (found, ())
        {after}
        return (out, *rest) if isinstance(found, tuple) else out

    return call
"""
_AFTER = {
    "The first input is added to the output": "out = out + inputs[floats[0]]",
    "The output is normalised over its features": "out = _F.layer_norm(out, out.shape[-1:])",
    "The output is scaled to length 1": "out = _F.normalize(out, dim=-1)",
    "The output goes through a ReLU": "out = out.relu()",
    "The output goes through a GELU": "out = _F.gelu(out)",
    "The output goes through a tanh": "out = out.tanh()",
    "The output goes through a sigmoid": "out = out.sigmoid()",
    "The output goes through a softmax": "out = out.softmax(-1)",
    "The output is clamped to −1 … 1": "out = out.clamp(-1, 1)",
    "The output has the other sign": "out = -out",
    "The output is twice as large": "out = out * 2",
    "The output is half as large": "out = out / 2",
    "The output is divided by the root of its width": "out = out / out.shape[-1] ** 0.5",
    "The output is multiplied by the root of its width": "out = out * out.shape[-1] ** 0.5",
    "The output is averaged over its positions": "out = out.mean(-2, keepdim=True).expand_as(out)",
    "The output is cast to float32": "out = out.float()",
    "The output is cast to float64": "out = out.double()",
    "The output is cut from the graph": "out = out.detach()",
    "All results are cut from the graph": (
        "out, rest = out.detach(), tuple(one.detach() for one in rest)"
    ),
    "The output has its last two axes exchanged": "out = out.transpose(-2, -1)",
}
_BEFORE = {
    "All inputs are cut from the graph": (
        "inputs = [one.detach() if _torch.is_tensor(one) else one for one in inputs]"
    ),
    "The inputs are cast to float32": (
        "inputs = [one.float() if i in floats else one for i, one in enumerate(inputs)]"
    ),
}
_BEFORE_ONE = {
    "Input {number} is normalised first": "_F.layer_norm({x}, {x}.shape[-1:])",
    "Input {number} is scaled to length 1 first": "_F.normalize({x}, dim=-1)",
    "Input {number} goes through a ReLU first": "{x}.relu()",
    "Input {number} is cut from the graph": "{x}.detach()",
    "Input {number} has the other sign": "-{x}",
}
_MINUS_ZERO = re.compile(r"(?<![\w.])-0(?![\w.])")
"""An axis of −1 that has become 0."""
_SLIPS = ("cast", "cut from the graph")
"""Words in the titles of slips; all other changes affect the values."""
_MAX_INPUTS = 3


def derived(reference: str, entries: Sequence[Entry]) -> Iterator[Mistake]:
    """Yield mistakes made from a reference's source and its entries."""
    yield from _wrapped(reference, entries)
    if any(isinstance(node, ast.While) for node in ast.walk(ast.parse(reference))):
        return  # a changed loop may never end, and these run in the judge
    yield from itertools.islice(_exchanged(reference), _MAX_EXCHANGED)
    for change in mutants(reference)[:_MAX_MUTANTS]:
        before, _, after = change.text.partition(" → ")
        after = _MINUS_ZERO.sub("0", after)
        title = f"As a right answer with “{_short(after)}” where “{_short(before)}” stands"
        if after == "(dropped)":
            title = f"As a right answer without “{_short(before)}”"
        yield _mistake(title, change.source)


def _exchanged(reference: str) -> Iterator[Mistake]:
    """Yield the reference with a value replaced by another of its kind, each time in one place."""
    for scope in ast.walk(ast.parse(reference)):
        if not isinstance(scope, ast.FunctionDef) or scope.name == "__init__":
            continue
        called = {id(node.func) for node in ast.walk(scope) if isinstance(node, ast.Call)}
        loads = [
            (node, _kind(node, called)) for node in ast.walk(scope) if isinstance(node, ast.expr)
        ]
        texts = dict.fromkeys((ast.unparse(node), kind) for node, kind in loads if kind)
        for (node, kind), (other, of) in itertools.product(loads, texts):
            before = ast.unparse(node)
            if kind and kind == of and before != other:
                title = f"As a right answer with “{other}” where “{before}” stands"
                yield _mistake(title, _with(reference, node, other), f"{node.lineno} {title}")


def _kind(node: ast.expr, called: Collection[int]) -> str:
    """Return what a node reads: `map` or `size` of the layer, a short `name`; empty if neither."""
    if not isinstance(getattr(node, "ctx", None), ast.Load):
        return ""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        kind = "map" if id(node) in called else "size"
        return "" if node.attr.startswith("_") else kind
    if not isinstance(node, ast.Name) or id(node) in called or node.id in _MODULES:
        return ""
    return "name" if len(node.id) <= _SHORT_NAME else ""


def _with(source: str, node: ast.expr, text: str) -> str:
    """Return a source with `text` in place of an expression that lies on one line."""
    lines = source.splitlines(keepends=True)
    line = lines[node.lineno - 1].encode()  # columns are counted in bytes
    changed = line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
    lines[node.lineno - 1] = changed.decode()
    return "".join(lines)


def _wrapped(reference: str, entries: Sequence[Entry]) -> Iterator[Mistake]:
    """Yield the reference with one wrapper around all its functions and layers."""
    names = [
        entry.name if entry.kind == "function" else f"{entry.name}.forward"
        for entry in entries
        if entry.kind in ("function", "module") and entry.arrays == "torch"
    ]
    if not names:
        return
    last = "".join(f"\n{name} = _around({name})\n" for name in names)
    changes = [(title, "", after) for title, after in _AFTER.items()]
    changes += [(title, before, "") for title, before in _BEFORE.items()]
    for number in range(_MAX_INPUTS):
        x = f"inputs[floats[{number}]]"
        changes += [
            (title.format(number=number + 1), f"{x} = {value.format(x=x)}", "")
            for title, value in _BEFORE_ONE.items()
        ]
    for title, before, after in changes:
        around = _AROUND.replace("{before}", before or "pass").replace("{after}", after or "pass")
        yield _mistake(title, reference + around + last)


def _mistake(title: str, source: str, key: str = "") -> Mistake:
    """Return a mistake; `key` tells it apart from others with the same title."""
    is_slip = any(word in title for word in _SLIPS)
    return Mistake(
        id=DERIVED + hashlib.sha256((key or title).encode()).hexdigest()[:8],
        title=title[:160],
        killed_by="",
        explanation=(
            "What it answers is what a right answer gives with this one change. It is none of the "
            "mistakes that the problem lists, so look at the place yourself."
        ),
        hint="Compare this step with the statement, one small case by hand.",
        severity=Severity.SLIP if is_slip else Severity.MISCONCEPTION,
        source=source,
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
