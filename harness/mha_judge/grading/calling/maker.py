"""Making instances of a class of the contract in the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch

from mha_judge.bank.problem import Entry
from mha_judge.grading.binding.arguments import Call
from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.entries import Found
from mha_judge.grading.binding.weights import Arrangement
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.replies import Made
from mha_judge.grading.expecting.arrays import as_arrays
from mha_judge.wire.operations import Operation

_SHAPING = ("_dim", "_len", "_size", "_hiddens")
"""Ends of the names of constructor arguments that are sizes of the call's inputs."""


class Maker:
    """A candidate's class, whose instances are layers."""

    def __init__(self, context: Context, entry: Entry, found: Found) -> None:
        self.context = context
        self.entry = entry
        self.found = found
        self.chosen: tuple[str, ...] | None = None
        """How the weights are arranged in its parameters, once that is found."""
        self.arranged: dict[tuple[object, ...], Arrangement] = {}
        """The arrangements found, by the form of a layer."""

    @cached_property
    def spare(self) -> frozenset[str]:
        """Paths of arrays that need not be weights."""
        return frozenset()

    def attempt(self, *sizes: float) -> None:
        """Make a layer that the contract rules out, and call it if that did not raise."""
        self.try_once(dict(zip(self.entry.constructor, sizes, strict=True)))

    def try_once(self, sizes: Mapping[str, Any], inputs: Sequence[Any] | None = None) -> None:
        """Make a layer and call it, with input of the probe's shape by default."""
        handle, _ = self.make(sizes)
        self._call_once(handle, sizes, inputs)

    def make(self, sizes: Mapping[str, Any]) -> tuple[int, list[ParameterInfo]]:
        """Return handle and parameters of a new instance in the worker."""
        session = self.context.session
        definition = self.found.definition
        given = {name: sizes[name] for name in self.entry.constructor if name in sizes}  # in order
        call = self.context.bind(f"`{self.found.name}(…)`", definition.constructor, given, sizes)
        # raises before anything is made if a call will not fit
        self.bind_call([torch.ones(1)] * len(_probe_shapes(self.entry, sizes)), sizes)
        made: Made = session.request(Operation.NEW, call, name=self.found.name)
        handle, parameters = made.handle, made.parameters
        if any(p.shape is None and not p.bare for p in parameters):  # lazy: a call gives shapes
            self._call_once(handle, sizes)
            parameters = session.request(Operation.PARAMETERS, handle=handle).parameters
        return handle, parameters

    def _call_once(
        self, handle: int, sizes: Mapping[str, Any], inputs: Sequence[Any] | None = None
    ) -> None:
        """Call an instance, with input of the probe's shape by default, whatever it returns."""
        if inputs is None:
            inputs = [torch.ones(shape) for shape in _probe_shapes(self.entry, sizes)]
        call = self.bind_call(inputs, sizes)
        if self.entry.arrays == "numpy":
            call = as_arrays(call)
        self.context.session.request(Operation.CALL, (*call, None), target=handle)

    def bind_call(self, args: Sequence[Any], sizes: Mapping[str, Any]) -> Call:
        """Return the bound arguments of a call; missing ones of the contract are None."""
        names = self.entry.arguments
        values = dict(zip(names, [*args, *[None] * (len(names) - len(args))], strict=True))
        what = f"`{self.found.name}` when called"
        return self.context.bind(what, self.found.definition.call, values, sizes)


def _probe_shapes(entry: Entry, sizes: Mapping[str, Any]) -> list[list[int]]:
    """Return the probe's shapes for other constructor arguments: widths and lengths follow."""
    assert entry.probe is not None
    swap = {
        value: sizes.get(name, value)
        for name, value in entry.probe.constructor.items()
        if name.endswith(_SHAPING)
    }
    return [[swap.get(size, size) for size in shape] for shape in entry.probe.inputs]
