"""An object of the contract that keeps something between calls of its methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from mha_judge.bank.problem import Entry, Method
from mha_judge.grading.binding.entries import Found
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.target import NOT_OF_WHAT_IS_KEPT, Target
from mha_judge.grading.expecting.expected import in_float64
from mha_judge.grading.failures import Crashed
from mha_judge.wire.operations import Operation


class ObjectEntry:
    """A class of the contract: called with the constructor's arguments it makes an object."""

    def __init__(self, context: Context, entry: Entry, found: Found) -> None:
        self.context = context
        self.entry = entry
        self.found = found

    def __call__(self, **sizes: float) -> Stateful:
        """Make an object, and the reference's beside it."""
        return Stateful(self, sizes)

    def attempt(self, *sizes: float) -> None:
        """Make an object that the contract rules out."""
        self.make(dict(zip(self.entry.constructor, sizes, strict=True)))

    def make(self, sizes: dict[str, float]) -> int:
        """Return the handle of a new object in the worker."""
        signature = self.found.definition.constructor
        given = {name: sizes[name] for name in self.entry.constructor if name in sizes}  # in order
        call = self.context.bind(f"`{self.found.name}(…)`", signature, given, sizes)
        return int(self.context.session.request(Operation.NEW, call, name=self.found.name).handle)


class Stateful:
    """A candidate's object, and the reference's in two precisions, called in step."""

    def __init__(self, maker: ObjectEntry, sizes: dict[str, float]) -> None:
        self.maker = maker
        self.sizes = sizes
        cls = getattr(maker.context.task.expected, maker.entry.name)
        with in_float64():
            self.exact = cls(**sizes)
        self.rounded = cls(**sizes)
        self.handle = maker.make(sizes)
        self.generation = maker.context.session.generation
        self._methods = {method.name: Bound(self, method) for method in maker.entry.methods}

    @property
    def held_elements(self) -> int:
        """Numbers in all tensors and arrays that the candidate's object holds by now."""
        session = self.maker.context.session
        listed = session.request(Operation.PARAMETERS, handle=self.handle).parameters
        return sum(math.prod(one.shape) for one in listed if one.shape is not None)

    def __getattr__(self, name: str) -> Bound:
        methods = self.__dict__.get("_methods", {})
        if name not in methods:
            raise AttributeError(f"the contract has no method {name!r}")
        bound: Bound = methods[name]
        return bound


class Bound(Target):
    """A method of one object. What it does depends on all calls before it."""

    chained = True

    def __init__(self, owner: Stateful, method: Method) -> None:
        entry = Entry(
            name=method.name,
            kind="function",
            arguments=method.arguments,
            returns=method.returns,
            required_returns=method.required_returns,
        )
        super().__init__(owner.maker.context, entry)
        self.owner = owner

    def references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        return getattr(self.owner.exact, self.entry.name), getattr(
            self.owner.rounded, self.entry.name
        )

    def observe(self, *args: Any, mode: str = "", layout: str = "", wrt: Sequence[int] = ()) -> Any:
        """Return what a call does. It is made only once, as it changes the object."""
        manner = {"mode": mode, "layout": layout}
        # references keep in step
        called, _ = self._answered(args, observe="call", manner=manner, wrt=wrt)
        return called.what_it_did()

    def _where(self, args: Sequence[Any]) -> tuple[str | int, Any]:
        if self.owner.generation != self._context.session.generation:
            raise Crashed("the object is gone: the process ended in an earlier call of this check")
        return self.owner.handle, self.owner.maker.found.definition.methods[self.entry.name]

    def _unfit(self) -> Collection[str]:
        return ("frozen", *NOT_OF_WHAT_IS_KEPT)

    def _fields(self) -> dict[str, Any]:
        return {"method": self.entry.name}

    def _what(self) -> str:
        return f"`{self.owner.maker.found.name}.{self.entry.name}`"
