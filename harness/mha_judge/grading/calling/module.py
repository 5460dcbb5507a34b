"""A class of the contract: made in the worker, its parameters bound to the contract's roles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.maker import Maker
from mha_judge.grading.expecting.compare import require_form
from mha_judge.grading.expecting.expected import Expected
from mha_judge.grading.failures import CheckFailure
from mha_judge.outcomes import Outcome

_NEARLY = 1e-3
"""Share of the largest number that a layer with the right weights may be off on the probe."""
_MAX_MEASURED = 64
"""Arrays of an ordinary class for which it is tried whether a call reads them."""
_MAX_RECOGNISED = 24
"""Arrangements in which a wrong layer is compared with the known mistakes."""


class ModuleEntry(Maker):
    """A class of the contract: called with the constructor's arguments it makes a layer."""

    def __call__(self, dtype: torch.dtype = torch.float32, **sizes: float) -> Layer:
        """Make a layer, with weights drawn for it and bound to its parameters."""
        self.choose()
        layer = Layer(self, sizes, dtype)
        layer.bind_first(self.chosen)
        return layer

    def choose(self) -> None:
        """Find out how weights are arranged, if that is not known yet."""
        if self.chosen is None:
            with self.context.trials():
                self._choose()

    @cached_property
    def spare(self) -> frozenset[str]:
        """Paths of arrays that need not be weights.

        In a module of torch these are all plain arrays, such as a scale or a mask. In another class
        these are the arrays that a call does not read, such as buffers for gradients. An array that
        names a role is not among them, unless the call reads another with that name.
        """
        with self.context.trials():
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

    def _reproduces(self, layer: Layer, args: Sequence[Tensor]) -> bool:
        """Return whether a layer's result is near the reference's; if the worker dies, raise.

        Near is enough: a norm with another ε is still recognised, and wrong weights are far off.
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
                self.context.note(f"weights bound by {_words(choice.key)}")
                return
            if known is None and number < _MAX_RECOGNISED and self._is_known_mistake(layer):
                known = choice.key
        if known is None:
            self.context.note(
                "no arrangement of the weights reproduces the reference; "
                f"bound by {_words(self.chosen)}"
            )
        elif known != self.chosen:
            self.chosen = known
            self.context.note(f"weights bound by {_words(known)}")

    def _is_known_mistake(self, layer: Layer) -> bool:
        """Return whether the layer's last result is that of a known mistake with its weights."""
        recogniser = self.context.task.recogniser
        if recogniser is None or layer.last is None:
            return False
        return recogniser.recognises(layer.last)


def _is_near(found: Any, expected: Expected, label: str) -> bool:
    error = (require_form(found, expected, label).double() - expected.exact).abs()
    return bool((error <= _NEARLY * expected.exact.abs().max()).all())


def _words(key: tuple[str, ...]) -> str:
    parts = (part.rpartition("=")[2] for part in key)  # the layouts, without their roles
    return ", ".join(dict.fromkeys(part for part in parts if part))
