"""A file and the line where it stops: what is written there, where that comes from, and edits."""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mha_judge.outcomes import Severity
from mha_judge.report.models import Diagnosis
from mha_judge.sanitising import clean_line
from mha_judge.syntax import syntax_tree

ID = "repaired"
"""The id of the diagnosis."""
_MOST_STATEMENTS = 40
"""How many are looked at of those that made what a line uses."""
_MOST_SHOWN = 60
"""Characters of a piece of source."""

Node = TypeVar("Node", bound=ast.AST)
Span = tuple[int, int]
"""Where a piece of source begins and ends, in bytes."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Stop:
    """What stops a program."""

    message: str
    line: int
    """From 1; 0 where nothing is raised, and None comes back."""
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


@dataclass(frozen=True)
class Place:
    """A file, with line ends as Python reads them, and where it stops."""

    source: str
    stop: Stop

    @classmethod
    def of(cls, source: str, stop: Stop) -> Place:
        return cls(source.replace("\r\n", "\n").replace("\r", "\n"), stop)

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; an empty one if the file is no Python."""
        return syntax_tree(self.source) or ast.Module([], [])

    @functools.cached_property
    def functions(self) -> list[Function]:
        """All functions, those inside others behind them."""
        found = (node for node in ast.walk(self.tree) if isinstance(node, Function))
        return sorted(found, key=lambda node: node.lineno)

    def function_at(self, line: int) -> Function | None:
        """Return the innermost function with a line."""
        around = [one for one in self.functions if one.lineno <= line <= (one.end_lineno or 0)]
        return around[-1] if around else None

    def parameters_at(self, line: int) -> list[str]:
        """Return what the function around a line takes, without `self`."""
        function = self.function_at(line)
        return [] if function is None else [name for name in taken(function) if name != "self"]

    @functools.cached_property
    def _statements(self) -> list[ast.stmt]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]

    @functools.cached_property
    def stopped(self) -> ast.stmt | None:
        """The statement that stops, the innermost."""
        line = self.stop.line
        around = [one for one in self._statements if one.lineno <= line <= (one.end_lineno or 0)]
        return max(around, key=lambda one: (one.lineno, one.col_offset), default=None)

    def origins(self) -> Iterator[ast.stmt]:
        """Yield the statement that stops, then those that made what it uses, nearest first."""
        left = deque([self.stopped] if self.stopped else [])
        seen: list[ast.stmt] = []
        while left and len(seen) < _MOST_STATEMENTS:
            statement = left.popleft()
            if statement not in seen:
                seen.append(statement)
                yield statement
                left.extend(self._makers(statement))

    def _makers(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """Yield what gave a value to the names of a statement: in its function, as an attribute,
        in the functions that it calls, and where its own function is called."""
        used = {node.id for node in written(statement, ast.Name)}
        attributes = {node.attr for node in written(statement, ast.Attribute)}
        function = self.function_at(statement.lineno)
        first = function.lineno if function else 0
        earlier = [one for name in used for one in self._given[name]]
        yield from sorted(
            (one for one in earlier if first <= one.lineno < statement.lineno),
            key=lambda one: -one.lineno,
        )
        for name in sorted(attributes):
            yield from self._given[f".{name}"]
        for one in self.functions:
            if one.name in used | attributes:
                yield from one.body
        if function is not None and used & {*taken(function)} - {"self"}:
            yield from self._calling[function.name]

    @functools.cached_property
    def _given(self) -> dict[str, list[ast.stmt]]:
        """Statements by the names to which they give a value; attributes have a dot in front."""
        found: dict[str, list[ast.stmt]] = defaultdict(list)
        for statement in self._statements:
            for node in (inner for one in _targets(statement) for inner in ast.walk(one)):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found[node.id].append(statement)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    found[f".{node.attr}"].append(statement)
        return found

    @functools.cached_property
    def _calling(self) -> dict[str, list[ast.stmt]]:
        """Statements by the last names of what they call."""
        found: dict[str, list[ast.stmt]] = defaultdict(list)
        for statement in self._statements:
            for call in written(statement, ast.Call):
                found[named(call)].append(statement)
        return found

    def calls(self, name: str = "") -> list[ast.Call]:
        """Return the calls in the statement that stops, those of one name if there is one."""
        found = written(self.stopped, ast.Call) if self.stopped else []
        return [call for call in found if not name or named(call) == name]

    def text(self, node: ast.AST) -> str:
        """Return how an expression is written."""
        return ast.get_source_segment(self.source, node) or ""

    def span(self, node: ast.AST) -> Span:
        """Return where an expression or a statement stands."""
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        return self._lines[line - 1] + column, self._lines[end_line - 1] + end_column

    def tail(self, call: ast.AST) -> Span:
        """Return where a call stands, without what it is a method of: `transpose(1, 2)`."""
        start, end = self.span(call)
        method = call.func if isinstance(call, ast.Call) else None
        if isinstance(method, ast.Attribute) and not isinstance(method.value, ast.Name):
            start = self.span(method)[1] - len(method.attr.encode())
        return start, end

    @functools.cached_property
    def _lines(self) -> list[int]:
        """Where each line begins, in bytes."""
        return [0, *(end.end() for end in re.finditer(rb"\n", self.source.encode()))]

    def edited(self, *edits: tuple[Span, str]) -> str:
        """Return the file with pieces of it replaced, which do not overlap."""
        data = self.source.encode()
        for (start, end), text in sorted(edits, reverse=True):
            data = data[:start] + text.encode() + data[end:]
        return data.decode()

    def running(
        self, whole: Span, edits: Sequence[tuple[Span, str]], title: str, hint: str, why: str = ""
    ) -> Repair:
        """Return a repair that says what is written instead.

        Args:
            whole: What is shown, as it is after the edits, all of which lie inside.
            edits: What is replaced by what.
            title: What is wrong; `{}` stands for what is shown, as it is before.
            hint: What to look at.
            why: A sentence more.
        """
        before, source = self.source.encode(), self.edited(*edits)
        start, end = whole
        after = source.encode()[start : end + len(source.encode()) - len(before)]
        line = before[:start].count(b"\n") + 1
        title = title.replace("{}", _shown(before[start:end]))
        return self.repair(
            source, line, title, f"With `{_shown(after)}` in line {line} it runs. {why}", hint
        )

    def repair(self, source: str, line: int, title: str, explanation: str, hint: str) -> Repair:
        return Repair(source, f"Line {line}: {title}", explanation.strip(), hint)

    def line(self, number: int) -> str:
        lines = self.source.split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def with_line(self, number: int, line: str) -> str:
        """Return the file with another line in a place of one."""
        lines = self.source.split("\n")
        lines[number - 1 : number] = [line]
        return "\n".join(lines)


def written(statement: ast.stmt, *kinds: type[Node]) -> list[Node]:
    """Return the nodes of some kinds in a statement, not in those inside it, as they stand."""
    left = deque(one for one in ast.iter_child_nodes(statement) if _is_own(one))
    found: list[Node] = []
    while left:
        node = left.popleft()
        left.extend(ast.iter_child_nodes(node))
        if isinstance(node, kinds):
            found.append(node)
    return sorted(found, key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)))


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, (ast.expr, ast.withitem))


def _targets(statement: ast.stmt) -> list[ast.expr]:
    """Return what a statement gives a value to."""
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.For)):
        return [statement.target]
    return statement.targets if isinstance(statement, ast.Assign) else []


def taken(function: Function) -> list[str]:
    """Return the names of a function's parameters."""
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def named(call: ast.Call) -> str:
    """Return the last name of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _shown(piece: bytes) -> str:
    """Return a piece of source as a report shows it; of a long one both ends."""
    text = " ".join(piece.decode(errors="replace").split()).strip("; ")
    half = _MOST_SHOWN // 2
    return clean_line(text if len(text) <= _MOST_SHOWN else f"{text[:half]} … {text[-half:]}")
