"""The letters of an entry's domain: which sizes a call has, and the same call at other sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.problem import Axes, Domain, forms_of
from mha_judge.grading.draw import Draw

_LARGEST_SCALE = 1e4


class Unshaped(Exception):
    """A call whose sizes are not those of the domain."""


class Shapes:
    """The sizes of one call."""

    def __init__(
        self, domain: Domain, names: Sequence[str], args: Sequence[Any], made: Mapping[str, Any]
    ) -> None:
        """Take a call.

        Args:
            domain: The entry's domain.
            names: The entry's arguments, in the contract's order.
            args: The call's arguments.
            made: What the layer was made with, by name; empty for a function.

        Raises:
            Unshaped: If the call does not fit the domain.
        """
        self._domain = domain
        self._args = dict(zip(names, args, strict=False))
        self.letters = {
            name: value for name, value in made.items() if type(value) is int and value > 0
        }
        """The size of each letter."""
        self._scales: dict[int, float] = {}
        """By the `id` of an input, of which this object holds all."""
        for name, value in self._args.items():
            for letter, size in self._sizes(name, value):
                if self.letters.setdefault(letter, size) != size:
                    raise Unshaped

    def _sizes(self, name: str, value: Any) -> list[tuple[str, int]]:
        shape = self._domain.shapes.get(name)
        if shape is None or value is None:
            if not isinstance(value, (int, float, str, type(None))):
                raise Unshaped
            return []
        if isinstance(shape, list):
            if not isinstance(value, (tuple, list)) or len(value) != len(shape):
                raise Unshaped
            parts = zip(shape, value, strict=True)
            return [size for axes, part in parts for size in self._sizes_of(name, axes, part)]
        if shape.startswith("#"):
            return [(shape[1:], value)] if type(value) is int and value > 0 else []
        return self._sizes_of(name, shape, value)

    def _sizes_of(self, name: str, shape: Axes, value: Any) -> list[tuple[str, int]]:
        if not isinstance(value, Tensor):
            raise Unshaped
        axes = self._axes(name, shape, value)
        sizes = zip(axes, value.shape[value.dim() - len(axes) :], strict=True)
        if self._is_mask(name):
            return [(letter, size) for letter, size in sizes if size != 1]
        return list(sizes)

    def _axes(self, name: str, shape: Axes, value: Tensor) -> list[str]:
        """Return the letters of a tensor's last axes."""
        *others, axes = sorted(forms_of(shape), key=len)
        if self._is_mask(name):
            axes = axes[max(0, len(axes) - value.dim()) :]
        axes = next((form for form in others if len(form) == value.dim()), axes)
        leading = value.dim() - len(axes)
        if leading < 0 or (leading and not shape.startswith("...")):
            raise Unshaped
        return axes

    def at(
        self,
        letters: Mapping[str, int],
        draw: Draw,
        only: str = "",
        leading: int = 0,
        spread: Sequence[int] = (),
        plain: bool = False,
    ) -> list[Any]:
        """Return the arguments at other sizes: numbers are drawn anew, flags and indices repeated,
        indices one after another continued.

        Numbers are about as large as they were. Lengths are drawn anew, up to the new size.

        An input without numbers below zero has none afterwards.

        Args:
            letters: New sizes; all others stay.
            draw: Where the numbers come from.
            only: The one argument that is changed; all if empty.
            leading: Size to which leading axes are cut; not cut if 0.
            spread: Sizes of leading axes, from the first on; 0 for an axis that stays.
            plain: Draw standard normal numbers, also where no size changes; not for tuples.
        """
        own = self._leading(leading, spread)
        return [
            value if only not in ("", name) else self._at(name, value, letters, draw, own, plain)
            for name, value in self._args.items()
        ]

    def _leading(self, most: int, spread: Sequence[int]) -> list[int]:
        """Return the new sizes of the first input's leading axes that have no letters, in order."""
        if not self.numbers:
            return []
        index, value = next(iter(self.numbers.items()))
        name = list(self._args)[index]
        axes = self._axes(name, self._one(name), value)
        sizes = list(value.shape[: value.dim() - len(axes)])
        wanted = [*spread, *[0] * len(sizes)]
        return [wanted[axis] or min(size, most or size) for axis, size in enumerate(sizes)]

    @cached_property
    def leading(self) -> list[int]:
        """The sizes of the leading axes that have no letters."""
        return self._leading(0, ())

    def leading_axes(self) -> dict[int, int]:
        """Return how many leading axes without letters each input has, if it may have any."""
        return {
            index: value.dim() - len(self._axes(name, shape, value))
            for index, (name, value) in enumerate(self._args.items())
            for shape in [self._domain.shapes.get(name)]
            if isinstance(shape, str) and shape.startswith("...") and isinstance(value, Tensor)
        }

    def _at(
        self,
        name: str,
        value: Any,
        letters: Mapping[str, int],
        draw: Draw,
        leading: Sequence[int],
        plain: bool,
    ) -> Any:
        shape = self._domain.shapes.get(name, "")
        if isinstance(shape, list) and value is not None:
            return tuple(
                self._resized(name, axes, part, letters, draw, leading, False)
                for axes, part in zip(shape, value, strict=True)
            )
        if isinstance(shape, str) and shape.startswith("#") and type(value) is int:
            return letters.get(shape[1:], value)
        if not isinstance(shape, str) or not isinstance(value, Tensor):
            return value
        new = self._resized(name, shape, value, letters, draw, leading, plain)
        letter = self._domain.lengths.get(name)
        if letter is None:
            return new
        most = letters.get(letter, self.letters[letter])
        return draw.lengths(*new.shape, most=most).to(new.dtype)

    def _resized(
        self,
        name: str,
        shape: Axes,
        value: Tensor,
        letters: Mapping[str, int],
        draw: Draw,
        leading: Sequence[int],
        plain: bool,
    ) -> Tensor:
        axes, is_mask = self._axes(name, shape, value), self._is_mask(name)
        first = value.dim() - len(axes)
        sizes = list(value.shape)
        for axis, wanted in enumerate(leading[len(leading) - first :] if first else ()):
            sizes[axis] = 1 if sizes[axis] == 1 and is_mask else wanted
        for axis, letter in enumerate(axes, first):
            spreads = sizes[axis] == 1 and is_mask and self.letters.get(letter, 0) > 1
            sizes[axis] = 1 if spreads else letters.get(letter, sizes[axis])
        if value.is_floating_point() and not is_mask:
            if not plain and sizes == list(value.shape):
                return value
            drawn = torch.float64 if value.dtype is torch.float64 else torch.float32
            numbers = draw.normal(*sizes, dtype=drawn)
            if not plain:
                numbers *= self._scale(value)
            if bool((value >= 0).all()):  # with others a check's sum may be next to nothing
                numbers = numbers.abs_()
            return numbers.to(value.dtype)
        if not is_mask and are_consecutive(value):
            return value[0] + torch.arange(sizes[0], dtype=value.dtype)
        for axis, (size, wanted) in enumerate(zip(value.shape, sizes, strict=True)):
            if wanted != size:
                value = value.index_select(axis, torch.arange(wanted) % size)
        return value

    def _scale(self, value: Tensor) -> float:
        """Return about how large an input's numbers are."""
        if id(value) not in self._scales:
            scale = float(value.double().std(unbiased=False))
            # blocked numbers may be huge, or NaN
            self._scales[id(value)] = scale if 0 < scale < _LARGEST_SCALE else 1.0
        return self._scales[id(value)]

    def _is_mask(self, name: str) -> bool:
        return name in self._domain.flags or name in self._domain.masks

    @cached_property
    def numbers(self) -> dict[int, Tensor]:
        """The floating inputs that hold numbers, by their place."""
        return {
            index: value
            for index, (name, value) in enumerate(self._args.items())
            if isinstance(value, Tensor)
            and value.is_floating_point()
            and not self._is_mask(name)
            and name in self._domain.shapes
        }

    @cached_property
    def tuples(self) -> dict[int, tuple[Tensor, ...]]:
        """The inputs that are several tensors, such as a cache, by their place."""
        return {
            index: tuple(value)
            for index, (name, value) in enumerate(self._args.items())
            if isinstance(self._domain.shapes.get(name), list) and value is not None
        }

    def _one(self, name: str) -> Axes:
        """Return the axes of an argument that is one tensor."""
        shape = self._domain.shapes[name]
        assert isinstance(shape, str)
        return shape

    def places(self, letter: str) -> list[tuple[int, int]]:
        """Return the axes of a letter among the inputs that hold numbers: input and axis."""
        names = list(self._args)
        return [
            (index, value.dim() - len(axes) + axis)
            for index, value in self.numbers.items()
            for axes in [self._axes(names[index], self._one(names[index]), value)]
            for axis, one in enumerate(axes)
            if one == letter
        ]

    def axes(self, index: int) -> list[str]:
        """Return the letters of an input's last axes; empty for an axis that is broadcast."""
        name, value = list(self._args.items())[index]
        axes = self._axes(name, self._one(name), value)
        sizes = value.shape[value.dim() - len(axes) :]
        return [letter if size > 1 else "" for letter, size in zip(axes, sizes, strict=True)]

    @property
    def masks(self) -> list[int]:
        """The places of all masks: of zeros and ones, of booleans, or added to the scores."""
        given = enumerate(self._args.items())
        return [i for i, (name, one) in given if self._is_mask(name) and isinstance(one, Tensor)]

    @cached_property
    def flags(self) -> dict[int, Tensor]:
        """The inputs of zeros and ones, by their place."""
        return {
            index: value
            for index, (name, value) in enumerate(self._args.items())
            if name in self._domain.flags and isinstance(value, Tensor)
        }

    @cached_property
    def pattern(self) -> tuple[object, ...]:
        """The kind of call: which arguments are given, and which of their axes are broadcast."""
        given = [self._pattern(name, value) for name, value in self._args.items()]
        while given and given[-1] is None:  # left out, or None: it is the same
            given.pop()
        return tuple(given)

    def _pattern(self, name: str, value: Any) -> object:
        if isinstance(value, Tensor):
            if name in self._domain.flags:
                return tuple(size == 1 for size in value.shape)
            sizes = (size == 1 for size in value.shape)
            return (value.dim(), str(value.dtype), *sizes, *[True] * are_consecutive(value))
        if type(value) is int:  # such as a window, which may hold all positions
            return value >= max([0, *(self.letters.get(one, 0) for one in self._domain.long)]) > 1
        return value if value is None or isinstance(value, bool) else type(value).__name__


def are_consecutive(value: Tensor) -> bool:
    """Return whether these are indices one after another, for which answers have branches."""
    is_list = value.dim() == 1 and len(value) > 1 and not value.is_floating_point()
    return is_list and value.dtype is not torch.bool and bool((value.diff() == 1).all())
