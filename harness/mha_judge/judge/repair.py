"""Slips that stop a program, each with the file as it is with this one place repaired.

A missing colon, a misspelt name or a `view` that cannot be taken fails every check, and says
nothing of what the file would compute. So the file is graded with this place repaired, at the price
of a slip; it is never accepted.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mha_judge.outcomes import Outcome, Severity
from mha_judge.report.models import Diagnosis, Report

ID = "repaired"
"""The id of the diagnosis."""
_NEAR = 0.75
"""How alike a misspelt name and the right one are, from 0 to 1."""
_IMPORTS = {
    "F": "import torch.nn.functional as F",
    "Optional": "from typing import Optional",
    "Tensor": "from torch import Tensor",
    "einops": "import einops",
    "math": "import math",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "torch": "import torch",
}
_MODULES = ("math", "numpy", "torch", "torch.nn", "torch.nn.functional")
"""Those in which a misspelt name is looked for."""


@dataclass(frozen=True)
class Stop:
    """What stops a program."""

    message: str
    line: int
    column: int = 0
    """From 1; 0 where it is not known."""


@dataclass(frozen=True)
class Repair:
    """A file with one place repaired."""

    source: str
    title: str
    explanation: str
    hint: str

    def diagnosis(self, checks: list[str]) -> Diagnosis:
        """Return the slip, with the checks that fail for it alone."""
        return Diagnosis(
            id=ID,
            title=self.title,
            explanation=self.explanation,
            hint=self.hint,
            checks=checks,
            severity=Severity.SLIP,
        )


def stop_of(report: Report) -> Stop | None:
    """Return what keeps a file from loading, or what most of the checks that fail have raised."""
    problem = report.load_problem
    if problem is not None:
        return Stop(problem.message, problem.line, problem.column or 0) if problem.line else None
    bad = [check for check in report.checks if check.outcome.is_bad and not check.advisory]
    raised = Counter(
        (check.message, int(line.group(1)))
        for check in bad
        if check.outcome is Outcome.ERROR and (line := re.match(r"line (\d+)\b", check.detail))
    )
    for (message, number), count in raised.most_common(1):
        if 2 * count > len(bad):
            return Stop(message, number)
    return None


def repairs(source: str, stop: Stop) -> Iterator[Repair]:
    """Yield the file repaired in one place, likeliest first; nothing where none is known."""
    for words, repaired in _KINDS.items():
        if found := re.search(words, stop.message):
            for repair in repaired(source, stop, *found.groups()):
                if repair.source != source and _parsed(repair.source) is not None:
                    yield repair


def _missing_colon(source: str, stop: Stop) -> Iterator[Repair]:
    yield from _inserted(source, stop.line, stop.column - 1, ":", "A colon is missing")


def _open_bracket(source: str, stop: Stop, opened: str) -> Iterator[Repair]:
    closing = {"(": ")", "[": "]", "{": "}"}[opened]
    code = _line(source, stop.line).partition("#")[0].rstrip()
    for column in (len(code), len(code) - 1):  # a colon may end the line
        title = f"A bracket is not closed, {closing!r}"
        yield from _inserted(source, stop.line, column, closing, title)


def _unmatched_bracket(source: str, stop: Stop, bracket: str) -> Iterator[Repair]:
    line, column = _line(source, stop.line), stop.column - 1
    if line[column : column + 1] == bracket:
        changed = line[:column] + line[column + 1 :]
        yield _repair(
            _with_line(source, stop.line, changed),
            stop.line,
            f"There is a bracket too many, {bracket!r}",
            "Without it the file can be read.",
            "Which bracket does it close?",
        )


def _unknown_name(source: str, stop: Stop, name: str) -> Iterator[Repair]:
    if name in _IMPORTS:
        yield _repair(
            _imported(source, _IMPORTS[name]),
            stop.line,
            f"`{name}` is used and never imported",
            f"`{_IMPORTS[name]}` is missing.",
            f"Where does `{name}` come from?",
        )
    yield from _near(source, stop, name, _names_in(source) | set(dir(builtins)))


def _unknown_in_module(source: str, stop: Stop, module: str, name: str) -> Iterator[Repair]:
    if module in _MODULES:
        yield from _near(source, stop, name, set(dir(import_module(module))))


def _unknown_in_object(source: str, stop: Stop, kind: str, name: str) -> Iterator[Repair]:
    known = {"Tensor": ("torch", "Tensor"), "ndarray": ("numpy", "ndarray")}.get(kind)
    if known is not None:
        names = set(dir(getattr(import_module(known[0]), known[1])))
    else:
        names = _names_in(source) | set(dir(import_module("torch").nn.Module))
    yield from _near(source, stop, name, names)


def _impossible_view(source: str, stop: Stop) -> Iterator[Repair]:
    line = _line(source, stop.line)
    yield _repair(
        _with_line(source, stop.line, re.sub(r"\bview\(", "reshape(", line)),
        stop.line,
        "`view` cannot merge what a transpose has moved apart",
        "After the transpose the axes that are merged do not lie side by side in memory, and "
        "`view` never copies. `reshape` copies where it must, and so does `contiguous` before a "
        "`view`.",
        "What does the exception say to use instead?",
    )


_KINDS: Mapping[str, Callable[..., Iterator[Repair]]] = {
    r"SyntaxError: expected ':'": _missing_colon,
    r"SyntaxError: '([(\[{])' was never closed": _open_bracket,
    r"SyntaxError: unmatched '([)\]}])'": _unmatched_bracket,
    r"NameError: name '(\w+)' is not defined": _unknown_name,
    r"AttributeError: module '([\w.]+)' has no attribute '(\w+)'": _unknown_in_module,
    r"AttributeError: '(\w+)' object has no attribute '(\w+)'": _unknown_in_object,
    r"RuntimeError: view size is not compatible": _impossible_view,
}
"""By a regular expression of what stops a program, what repairs it."""


def _near(source: str, stop: Stop, name: str, known: Collection[str]) -> Iterator[Repair]:
    near = difflib.get_close_matches(name, sorted({*known} - {name}), n=2, cutoff=_NEAR)
    for right in near:
        yield _repair(
            re.sub(rf"\b{name}\b", right, source),
            stop.line,
            f"`{name}` is misspelt: `{right}`",
            f"There is no `{name}`; `{right}` is the name that comes nearest.",
            f"Read `{name}` letter by letter.",
        )


def _inserted(source: str, number: int, column: int, text: str, title: str) -> Iterator[Repair]:
    line = _line(source, number)
    yield _repair(
        _with_line(source, number, line[:column] + text + line[column:]),
        number,
        title,
        f"With {text!r} in its place the file can be read.",
        "Look at the end of what is written there.",
    )


def _repair(source: str, line: int, title: str, explanation: str, hint: str) -> Repair:
    return Repair(source, f"Line {line}: {title[0].lower()}{title[1:]}", explanation, hint)


def _imported(source: str, statement: str) -> str:
    """Return a file with an import more, in a line that is there so that none moves."""
    tree = _parsed(source)
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
    line = _line(source, first)
    joint = "; " if line.startswith(("import", "from")) else "\n"
    return _with_line(source, first, f"{statement}{joint}{line}")


def _names_in(source: str) -> set[str]:
    """Return the names that a file gives to something, attributes too."""
    names: set[str] = set()
    for node in ast.walk(_parsed(source) or ast.Module([], [])):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names


@functools.lru_cache(maxsize=4)
def _parsed(source: str) -> Any:
    """Return the syntax tree of a file; None if there is none."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _line(source: str, number: int) -> str:
    lines = source.split("\n")
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _with_line(source: str, number: int, line: str) -> str:
    lines = source.split("\n")
    lines[number - 1 : number] = [line]
    return "\n".join(lines)
