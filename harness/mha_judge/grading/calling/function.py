"""A function of the contract, as the candidate wrote it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from mha_judge.bank.problem import Entry
from mha_judge.grading.binding.entries import Found
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.target import Target, sizes_of
from mha_judge.grading.expecting.arrays import on_tensors
from mha_judge.grading.expecting.memory import number_of
from mha_judge.wire.operations import Operation


class Function(Target):
    """A function of the contract; the candidate may have written it as a class."""

    def __init__(self, context: Context, entry: Entry, found: Found) -> None:
        super().__init__(context, entry)
        self.found = found
        self._made: dict[tuple[int, str], int] = {}

    @property
    def is_class(self) -> bool:
        """Whether it is called on an object of a class."""
        return self.found.definition.kind == "class"

    def _where(self, args: Sequence[Any]) -> tuple[str | int, Any]:
        definition = self.found.definition
        if not self.is_class:
            return self.found.name, definition.call
        sizes = sizes_of(self.entry, args)
        call = self._context.bind(f"`{self.found.name}()`", definition.constructor, {}, sizes)
        # one object serves all calls, unless it is made for a size
        key = (self._context.session.generation, repr(call))
        if key not in self._made:
            made = self._context.session.request(Operation.NEW, call, name=self.found.name)
            self._made = {key: made.handle}
        return self._made[key], definition.call

    def references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        reference = on_tensors(self.entry, getattr(self._context.task.expected, self.entry.name))
        return reference, reference

    def identity(self) -> Sequence[object]:
        return [number_of(getattr(self._context.task.expected, self.entry.name))]

    def _unfit(self) -> Collection[str]:
        return ("frozen", "instance", "before=other weights")

    def _what(self) -> str:
        return f"`{self.found.name}`"
