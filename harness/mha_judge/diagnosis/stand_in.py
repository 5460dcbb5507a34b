"""A program's function or layer in the place of the candidate's, in two precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from mha_judge.grading.layer import Layer
from mha_judge.grading.target import Target

EXACT, ROUNDED = 0, 1


class StandIn:
    """A function, or a layer with the candidate's weights, made when it is first called."""

    def __init__(self, entry: Any, target: Target) -> None:
        self._entry = entry
        self._target = target
        self._made: dict[int, Any] = {}
        self._states: dict[int, tuple[Any, ...]] = {}

    def call(self, precision: int) -> Callable[..., Any]:
        """Return what is called in float64, or in the dtype of the question."""
        if not isinstance(self._target, Layer):
            function: Callable[..., Any] = self._entry
            return function
        if precision not in self._made:
            self._made[precision] = _layer(self._entry, self._target, precision)
            self._states[precision] = _state(self._made[precision])
        layer: Callable[..., Any] = self._made[precision]
        return layer

    def forget(self) -> None:
        """Be made anew if calls have left something behind in the layer."""
        for precision, state in self._states.items():
            if _state(self._made[precision]) != state:
                self._made, self._states = {}, {}
                return


def _layer(cls: Any, target: Layer, precision: int) -> Any:
    """Return a layer of the program's class with the weights of the candidate's."""
    reference: Any = target.references()[precision]
    weights = reference.state_dict()
    model = cls(**target.sizes)
    model.to(next(iter(weights.values())).dtype).train(target.training)
    own = model.state_dict()
    fits = {name: w for name, w in weights.items() if name in own and own[name].shape == w.shape}
    model.load_state_dict(fits, strict=False)
    return model


def _state(model: Any) -> tuple[Any, ...]:
    """Return what tells whether a layer has changed: its attributes, and writes to its tensors."""
    values = list(vars(model).items())
    tensors = [value for _, value in values if isinstance(value, Tensor)]
    tensors += list(model.buffers())
    plain = tuple((name, value if isinstance(value, int) else id(value)) for name, value in values)
    return (plain, tuple(tensor._version for tensor in tensors))
