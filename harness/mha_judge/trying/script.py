"""Calls as one writes them, made of an answer and of the reference."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.problem import Entry
from mha_judge.errors import UsageError
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.module import ModuleEntry
from mha_judge.grading.calling.stateful import Bound, ObjectEntry, Stateful
from mha_judge.grading.calling.target import Target
from mha_judge.grading.expecting.answer import Answer
from mha_judge.grading.expecting.expected import Live
from mha_judge.grading.failures import CheckFailure
from mha_judge.trying.attempt import (
    Attempt,
    failed,
    form_of,
    raised,
    results_alone,
    results_of,
    weights_of,
)
from mha_judge.trying.notation import MAX_CHARACTERS, Notation, placed

Proxy = Function | ModuleEntry | ObjectEntry
_PLACE = "try"
"""What draws weights are drawn for, so that the same calls get the same ones again."""


class _Stop(Exception):
    """A call that went wrong: what follows cannot be made."""


class Script(Notation):
    """Calls of the contract's entries, made of the answer and of the reference."""

    def __init__(self, context: Context, proxies: Mapping[str, Proxy]) -> None:
        """Take one submission in its worker, and its entries by the names that calls may use."""
        context.enter(_PLACE)
        super().__init__(context.draw_weights())
        self._context = context
        self._proxies = proxies
        self._last: Attempt | None = None
        self._instances = 0

    def run(self, code: str) -> Attempt:
        """Make all calls, and return what came of the last one, or of the first that raised.

        Args:
            code: Assignments and calls, a line each.

        Raises:
            UsageError: If the code cannot be read, or calls nothing of the contract.
        """
        if len(code) > MAX_CHARACTERS:
            raise UsageError(f"the call is longer than {MAX_CHARACTERS} characters")
        try:
            lines = ast.parse(textwrap.dedent(code)).body
        except SyntaxError as error:
            told = f"line {error.lineno}: {error.msg}"
            raise UsageError(f"the call is not Python: {told}") from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise UsageError("the call is not Python, or nested too deeply") from error
        with self._context.trials():
            try:
                for line in lines:
                    self._line(line)
            except _Stop:
                pass
        if self._last is None:
            name = next(iter(self._proxies))
            if self._instances:
                raise UsageError(f"the call makes a {name} and calls nothing of it; add its call")
            raise UsageError(f"the call calls nothing of the problem; call {name}(…)")
        return self._last

    def _line(self, line: ast.stmt) -> None:
        match line:
            case ast.Import() | ast.ImportFrom():
                return
            case ast.Expr(value=value):
                self.value(value)
                return
            case ast.Assign(targets=targets, value=expression):
                value = self.value(expression)
                for target in targets:
                    self._assign(line, target, value)
                return
        raise UsageError(
            f"the call, line {line.lineno}: assignments and calls are what may be there"
        )

    def _assign(self, line: ast.stmt, target: ast.expr, value: Any) -> None:
        """Give a value a name, or its parts one each."""
        place = f"the call, line {line.lineno}"
        match target:
            case ast.Name(id=name):
                self.names[name] = value
                return
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                if not isinstance(value, (list, tuple, Tensor, _Returned)):
                    raise UsageError(f"{place}: there is one value, not {len(targets)}")
                if len(value) < len(targets):
                    raise UsageError(f"{place}: there are only {len(value)} values")
                for index, one in enumerate(targets):
                    self._assign(line, one, value[index])
                return
        raise UsageError(f"{place}: only names can be assigned to")

    def callable(self) -> Mapping[str, Proxy]:
        return self._proxies

    def call(
        self, node: ast.expr, func: ast.expr, args: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """Return what a call gives: of the contract's entries, their instances, or of torch."""
        called: Any = None
        if isinstance(func, ast.Name):
            called = self.names.get(func.id, self._proxies.get(func.id))
        elif isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            owner = self.names.get(func.value.id)
            if isinstance(owner, Stateful):
                called = getattr(owner, func.attr, None)
        elif isinstance(func, ast.Call):
            called = self.value(func)
        if isinstance(called, (ModuleEntry, ObjectEntry)):
            return self._make(node, called, args, named)
        if isinstance(called, Function) and called.is_class and not (args or named):
            return called  # an object of it, which is called next
        if isinstance(called, Target):
            return self._ask(node, called, args, named)
        return super().call(node, func, args, named)

    def _make(
        self, node: ast.expr, maker: ModuleEntry | ObjectEntry, args: Sequence[Any],
        named: Mapping[str, Any],
    ) -> Layer | Stateful:  # fmt: skip
        sizes = _by_name(node, maker.entry.constructor, args, named)
        given = {name: value for name, value in sizes.items() if value is not None}
        told = tuple(f"{name} = {value}" for name, value in given.items())
        try:
            if isinstance(maker, ModuleEntry):
                maker.choose()  # what is drawn for that is none of the layer's
            self._instances += 1
            self._context.enter(f"{_PLACE} {self._instances}")
            return maker(**given)
        except CheckFailure as failure:
            self._last = failed(node, told, failure)
        except Exception as error:  # the reference's own: such sizes are ruled out
            try:
                if isinstance(maker, ModuleEntry):
                    maker.try_once(given)
                else:
                    maker.make(given)
                self._last = Attempt(ast.unparse(node), told, expected_error=raised(error))
            except CheckFailure as failure:
                self._last = failed(node, told, failure, raised(error))
        raise _Stop

    def _ask(
        self, node: ast.expr, target: Target, args: Sequence[Any], named: Mapping[str, Any]
    ) -> _Returned:
        names = target.entry.arguments
        values = _by_name(node, names, args, named)
        with placed(node):
            values = {name: _given(target.entry, name, one) for name, one in values.items()}
        optional = optional_arguments(self._context, target)
        left_out = [name for name in names[len(args) :] if name not in named]
        if lacking := [name for name in left_out if name not in optional]:
            raise UsageError(
                f"the call, line {node.lineno}: `{lacking[0]}` is missing; "
                f"the contract has {', '.join(names)}"
            )
        told = tuple(f"{name} {form_of(v)}" for name, v in values.items() if v is not None)
        given = without_last_nones(names, [*values.values()], optional)
        expected: Any = None
        expected_error = ""
        try:
            expected = target.expected(given)
        except Exception as error:  # such input is ruled out
            expected_error = raised(error)
        try:
            found = target.attempt(*given, keep=not isinstance(target, Bound))
        except CheckFailure as failure:
            self._last = failed(node, told, failure, expected_error)
            if expected is not None:
                right = tuple(results_alone(target.entry, expected))
                self._last = replace(self._last, results=right, weights=weights_of(target))
            raise _Stop from failure
        if expected_error:
            self._last = Attempt(ast.unparse(node), told, expected_error=expected_error)
            raise _Stop
        answer = Answer(target.entry, found, expected, self._context.session.last_number)
        results = tuple(results_of(target, answer))
        self._last = Attempt(ast.unparse(node), told, results, weights=weights_of(target))
        return _Returned(target, answer, is_several=isinstance(found, (list, tuple)))


class _Returned:
    """What a call returned, to be passed on to another."""

    def __init__(self, target: Target, answer: Answer, *, is_several: bool) -> None:
        self._target, self._answer, self._is_several = target, answer, is_several

    def __len__(self) -> int:
        return len(self._target.entry.returns)

    def __getitem__(self, index: Any) -> Live:
        name = self._target.entry.returns[index]
        try:
            live = self._answer.live(name)
        except CheckFailure as failure:
            raise _Stop from failure
        return live if self._is_several else replace(live, kept=replace(live.kept, path=()))


def _by_name(
    node: ast.expr, names: Sequence[str], args: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a call's arguments in the contract's order."""
    unknown = [name for name in named if name not in names[len(args) :]]
    if len(args) > len(names) or unknown:
        which = f"`{unknown[0]}`" if unknown else f"{len(args)} arguments"
        raise UsageError(
            f"the call, line {node.lineno}: `{ast.unparse(node)[:80]}` does not take {which}; "
            f"the contract has {', '.join(names)}"
        )
    return {name: args[i] if i < len(args) else named.get(name) for i, name in enumerate(names)}


def _given(entry: Entry, name: str, value: Any) -> Any:
    """Return an argument as it is passed on: a list as a tensor, what was returned as it is."""
    if isinstance(value, _Returned):
        return value[0]
    if not isinstance(value, list):
        return value
    tensor = torch.tensor(value)
    domain = entry.domain
    whole = domain is None or name in (*domain.flags, *domain.masks, *domain.lengths)
    return tensor if whole or tensor.is_floating_point() else tensor.to(torch.get_default_dtype())


def without_last_nones(
    names: Sequence[str], args: Sequence[Any], optional: Collection[str]
) -> list[Any]:
    """Return arguments less those at the end that are None and may be left out."""
    given = [*args]
    while given and given[-1] is None and names[len(given) - 1] in optional:
        given.pop()
    return given


def optional_arguments(context: Context, target: Target) -> set[str]:
    """Return the arguments that may be left out."""
    program = context.task.reference
    if isinstance(target, Bound):
        called = getattr(getattr(program, target.owner.maker.entry.name), target.entry.name)
    else:
        called = getattr(program, target.entry.name)
    if isinstance(target, Layer):
        called = called.forward
    parameters = [*inspect.signature(called).parameters.values()]
    parameters = parameters[not isinstance(target, Function) :]  # without self
    named = zip(target.entry.arguments, parameters, strict=False)
    return {name for name, one in named if one.default is not inspect.Parameter.empty}
