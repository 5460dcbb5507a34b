"""Sizes that remember how they were computed, and tell what the answer compares them with.

So the judge learns at which sizes an answer decides otherwise, however it works them out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from mha_judge.wire.bounds import MAX_COMPARED, MAX_FORMULA
from mha_judge.wire.formulas import ARITHMETIC, COMPARISONS

_GIVE_SIZES = frozenset({
    vars(torch._C.TensorBase)["shape"].__get__, torch.Tensor.size, torch.Tensor.numel,
    torch.Tensor.nelement, torch.numel,
})  # fmt: skip
_told: list[Any] | None = None
"""The comparisons of the call that is looked at; None outside one."""


class Size(int):
    """A whole number that knows its formula, as `wire.formulas` describes it."""

    formula: Any

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __hash__(self) -> int:  # which a class that says when it is equal must
        return int(self)


def _made(value: int, formula: Any = None) -> Size:
    size = Size(value)
    size.formula = [value] if formula is None or _length(formula) > MAX_FORMULA else formula
    return size


def _length(formula: Any) -> int:
    return sum(map(_length, formula)) if isinstance(formula, list) else 1


def _formula(value: Any) -> Any:
    """Return the formula of a number; None if it is no whole one."""
    if isinstance(value, Size):
        return value.formula
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return int(value) if isinstance(value, int) else None


def _calculating(name: str) -> Callable[[Size, Any], Any]:
    plain = getattr(int, name)

    def calculate(self: Size, other: Any) -> Any:
        value = plain(self, other)
        return _made(value, [name, self.formula, _formula(other)]) if type(value) is int else value

    return calculate


def _comparing(name: str) -> Callable[[Size, Any], Any]:
    plain = getattr(int, name)

    def compare(self: Size, other: Any) -> Any:
        formula = _formula(other)
        if _told is not None and formula is not None and len(_told) < MAX_COMPARED:
            told = [name, self.formula, formula]
            if told not in _told:
                _told.append(told)
        return plain(self, other)

    return compare


for _name in ARITHMETIC:
    setattr(Size, _name, _calculating(_name))
for _name in COMPARISONS:
    setattr(Size, _name, _comparing(_name))


class _Sizes(TorchFunctionMode):
    """Makes a `Size` of each size of a tensor that is asked for."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func not in _GIVE_SIZES:
            return result
        return _made(result) if isinstance(result, int) else torch.Size(map(_made, result))


def compared_in(call: Callable[[], Any]) -> list[Any]:
    """Return what a call compares sizes with; what it gives, or raises, counts for nothing."""
    global _told
    told: list[Any] = []
    _told = told
    try:
        with contextlib.suppress(Exception), _Sizes():
            call()
    finally:
        _told = None
    return told
