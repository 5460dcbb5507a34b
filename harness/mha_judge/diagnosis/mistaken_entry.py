"""A program's function or layer in the place of the candidate's, in two precisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import FunctionType
from typing import Any, TypeVar

import torch
from torch import Tensor

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.stateful import Bound
from mha_judge.grading.calling.target import Target
from mha_judge.grading.expecting.arrays import make_layer, on_tensors
from mha_judge.grading.expecting.expected import in_float64
from mha_judge.grading.expecting.memory import key_of, memory, number_of

_Answer = TypeVar("_Answer")
EXACT, ROUNDED = 0, 1


class MistakenEntry:
    """A function, or a layer with the candidate's weights, made when it is first called."""

    def __init__(self, entry: Any, target: Target) -> None:
        self._entry = entry
        self.target = target
        self._made: dict[int, Any] = {}
        self._states: dict[int, tuple[Any, ...]] = {}
        self._called = False

    def call(self, precision: int) -> Callable[..., Any]:
        """Return the callable, in float64 (`EXACT`) or in the dtype of the question (`ROUNDED`)."""
        if isinstance(self.target, Bound):
            return self._method(self.target, precision)
        if not isinstance(self.target, Layer):
            return on_tensors(self.target.entry, self._entry)
        if precision not in self._made:
            self._made[precision] = _layer(self._entry, self.target, precision)
            self._states[precision] = _state(self._made[precision])
        self._called = True
        layer: Callable[..., Any] = self._made[precision]
        return layer

    def _method(self, target: Bound, precision: int) -> Callable[..., Any]:
        """Return a method of the program's object; all methods of one object share it."""
        if precision not in self._made:
            with in_float64() if precision == EXACT else nullcontext():
                self._made[precision] = self._entry(**target.owner.sizes)
            self._states[precision] = ()
        self._called = True
        method: Callable[..., Any] = getattr(self._made[precision], target.entry.name)
        return method

    def forget(self) -> None:
        """Drop the layer or object, to make it anew, if calls have changed it."""
        if not self._called:
            return
        self._called = False
        if isinstance(self.target, Bound):
            self._made, self._states = {}, {}
            return
        if not self._is_as_made():
            self._made, self._states = {}, {}

    def _is_as_made(self) -> bool:
        """Return whether no call has changed the layers."""
        return all(_state(self._made[key]) == state for key, state in self._states.items())

    def remembered(self, question: Sequence[object], ask: Callable[[], _Answer]) -> _Answer:
        """Return the program's result for a question, which is asked only once.

        All candidates are compared with the same programs, and mostly on the same questions. A
        result that depends on earlier calls, or on chance, is computed each time.

        Args:
            question: All that the question consists of.
            ask: Computes the result.
        """
        target, key = self.target, None
        own = target.identity()
        by_chance = isinstance(target, Layer) and target.training
        is_plain = isinstance(self._entry, (type, FunctionType)) and not by_chance
        if own is not None and is_plain and not memory().is_off and self._is_as_made():
            key = key_of(number_of(self._entry), own, question)
        return memory().recall(key, ask, self._is_as_made)

    def release(self) -> None:
        """Let others use the layers, unless calls have changed them."""
        if isinstance(self.target, Layer):
            for precision, model in self._made.items():
                if _state(model) == self._states[precision]:
                    _keep(self._entry, self.target, model)
        self._made, self._states = {}, {}


_Key = tuple[Any, ...]
_spare: dict[_Key, list[torch.nn.Module]] = {}
"""Unused layers of programs, by class, sizes and dtype: making a layer takes longer than calling
it."""
_MAX_KEPT = 4_000


def _key(cls: Any, target: Layer, dtype: torch.dtype) -> _Key:
    return (cls, *sorted(target.sizes.items()), dtype)


def _layer(cls: Any, target: Layer, precision: int) -> torch.nn.Module:
    """Return a layer of the program's class with the weights of the candidate's layer."""
    reference: Any = target.references()[precision]
    weights: dict[str, Tensor] = dict(reference.named_parameters())
    dtype = next(iter(weights.values())).dtype
    kept = _spare.get(_key(cls, target, dtype))
    model = kept.pop() if kept else make_layer(cls, target.sizes, dtype)
    if model.training is not target.training:
        model.train(target.training)
    with torch.no_grad():
        for name, own in model.named_parameters():
            if name in weights and own.shape == weights[name].shape:
                own.copy_(weights[name])
    return model


def _keep(cls: Any, target: Layer, model: torch.nn.Module) -> None:
    """Keep a layer for the next use."""
    if sum(map(len, _spare.values())) >= _MAX_KEPT:
        _spare.clear()
    dtype = next(model.parameters()).dtype
    _spare.setdefault(_key(cls, target, dtype), []).append(model)


def _state(model: Any) -> tuple[Any, ...]:
    """Return a value that changes with a layer: its attributes, and its tensors' versions."""
    values = list(vars(model).items())
    tensors = [value for _, value in values if isinstance(value, Tensor)]
    tensors += list(model.buffers())
    plain = tuple((name, value if isinstance(value, int) else id(value)) for name, value in values)
    return (plain, tuple(tensor._version for tensor in tensors))
