"""A class of the contract: made in the worker, its parameters bound to the contract's roles."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mha_judge.grading.arguments import bind, extras_for
from mha_judge.grading.assertions import require_form
from mha_judge.grading.entries import Found
from mha_judge.grading.expected import Expected
from mha_judge.grading.failures import CheckFailure
from mha_judge.grading.layer import Layer
from mha_judge.grading.replies import Made, ParameterInfo
from mha_judge.problem import Entry
from mha_judge.report.models import Outcome

if TYPE_CHECKING:
    from mha_judge.grading.candidate import Candidate


_SHAPING = ("_dim", "_len", "_size", "_hiddens")
"""Ends of the names of constructor arguments that are sizes of the call's inputs."""
_NEARLY = 1e-3
"""Share of the largest number that a layer with the right weights may be off on the probe."""
_MAX_MEASURED = 64
"""Arrays of an ordinary class of which is tried whether a call reads them."""
_MAX_RECOGNISED = 24
"""Arrangements in which a wrong layer is compared with the known mistakes."""


class ModuleEntry:
    """A class of the contract: called with the constructor's arguments it makes a layer."""

    def __init__(self, candidate: Candidate, entry: Entry, found: Found) -> None:
        self.candidate = candidate
        self.entry = entry
        self.found = found
        self.chosen: tuple[str, ...] | None = None

    def __call__(self, dtype: torch.dtype = torch.float32, **sizes: float) -> Layer:
        """Make a layer, with weights drawn for it and bound to its parameters."""
        if self.chosen is None:
            with self.candidate.trace.paused():
                self._choose()
        layer = Layer(self, sizes, dtype)
        layer.bind_first(self.chosen)
        return layer

    @cached_property
    def spare(self) -> frozenset[str]:
        """Paths of arrays that need be none of the weights.

        In a module of torch these are all plain arrays, such as a scale or a mask. In another class
        it is what a call does not read, such as buffers for gradients; but one whose name says what
        it is should have been read, unless another has that name too.
        """
        with self.candidate.trace.paused():
            layer = self._probe()
            plain = [one for one in layer.parameters if one.plain]
            if self.found.definition.module:
                return frozenset(one.path for one in plain)
            unread = {one.path for one in plain[:_MAX_MEASURED] if not self._reads(one)}
        said = {one.path: layer.says(one) for one in layer.parameters}
        read = {words for path, words in said.items() if path not in unread}
        return frozenset(path for path in unread if said[path][0] is None or said[path] in read)

    def _probe(self) -> Layer:
        assert self.entry.probe is not None
        return Layer(self, self.entry.probe.constructor, torch.float32)

    def _reads(self, parameter: ParameterInfo) -> bool:
        layer = self._probe()
        return layer.reads(parameter, self._inputs(layer))

    def _inputs(self, layer: Layer) -> list[Tensor]:
        assert self.entry.probe is not None
        return [layer.draw.normal(*shape) for shape in self.entry.probe.inputs]

    def attempt(self, *sizes: float) -> None:
        """Make a layer that the contract rules out, and call it if that did not raise."""
        named = dict(zip(self.entry.constructor, sizes, strict=True))
        handle, _ = self.make(named)
        self._call_once(handle, named)

    def make(self, sizes: Mapping[str, Any]) -> tuple[int, list[ParameterInfo]]:
        """Return handle and parameters of a new instance in the worker."""
        session = self.candidate.session
        call = bind(
            f"`{self.found.name}(…)`", self.found.definition.constructor, sizes, extras_for(sizes)
        )
        self.bind_call([torch.ones(1)] * len(_probe_shapes(self.entry, sizes)), sizes)
        made: Made = session.request("new", call, name=self.found.name)
        handle, parameters = made.handle, made.parameters
        if any(p.shape is None and not p.bare for p in parameters):  # lazy: a call gives shapes
            self._call_once(handle, sizes)
            parameters = session.request("parameters", handle=handle).parameters
        return handle, parameters

    def _call_once(self, handle: int, sizes: Mapping[str, Any]) -> None:
        """Call an instance with input of the probe's shape, whatever it returns."""
        shapes = _probe_shapes(self.entry, sizes)
        inputs = [torch.ones(shape) for shape in shapes]
        call = self.bind_call(inputs, sizes)
        self.candidate.session.request("call", (*call, None), target=handle)

    def bind_call(
        self, args: Sequence[Any], sizes: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the bound arguments of a call; those of the contract that are missing are None."""
        names = self.entry.arguments
        values = dict(zip(names, [*args, *[None] * (len(names) - len(args))], strict=True))
        what = f"`{self.found.name}` when called"
        return bind(what, self.found.definition.call, values, extras_for(sizes))

    def _reproduces(self, layer: Layer, args: Sequence[Tensor]) -> bool:
        """Return whether a layer gives nearly what the reference gives; a dead worker is no answer.

        Nearly, as a layer of a norm with another ε is still recognised; wrong weights are far off.
        """
        try:
            answer = layer(*args)
            names = self.entry.returns[: self.entry.required_returns]
            return all(_is_near(*pair) for name in names for pair in answer.pairs(name))
        except CheckFailure as failure:
            if failure.outcome in (Outcome.TIMEOUT, Outcome.CRASHED):
                raise
            return False

    def _choose(self) -> None:
        """Find the arrangement of weights that reproduces the reference on one input."""
        layer = self._probe()
        choices = layer.choices()
        first, *second = itertools.islice(choices, 2)
        self.chosen = first.key
        if not second:
            return
        args = self._inputs(layer)
        known: tuple[str, ...] | None = None
        for number, choice in enumerate(itertools.chain([first, *second], choices)):
            layer.bind(choice)
            if self._reproduces(layer, args):
                self.chosen = choice.key
                self.candidate.note(f"weights bound by {_words(choice.key)}")
                return
            if known is None and number < _MAX_RECOGNISED and self._is_known_mistake(layer):
                known = choice.key
        self.chosen = known or self.chosen
        self.candidate.note(
            "no arrangement of the weights reproduces the reference; "
            f"bound by {_words(self.chosen)}"
        )

    def _is_known_mistake(self, layer: Layer) -> bool:
        """Return whether the layer's last answer is what a known mistake gives with its weights."""
        recognise = self.candidate.recognise
        return recognise is not None and layer.last is not None and recognise(layer.last)


def _is_near(found: Any, expected: Expected, label: str) -> bool:
    error = (require_form(found, expected, label).double() - expected.exact).abs()
    return bool((error <= _NEARLY * expected.exact.abs().max()).all())


def _words(key: tuple[str, ...]) -> str:
    parts = (part.rpartition("=")[2] for part in key)  # the layouts without the roles they are of
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _probe_shapes(entry: Entry, sizes: Mapping[str, Any]) -> list[list[int]]:
    """Return the probe's shapes for other constructor arguments: widths and lengths follow."""
    assert entry.probe is not None
    swap = {
        value: sizes.get(name, value)
        for name, value in entry.probe.constructor.items()
        if name.endswith(_SHAPING)
    }
    return [[swap.get(size, size) for size in shape] for shape in entry.probe.inputs]
