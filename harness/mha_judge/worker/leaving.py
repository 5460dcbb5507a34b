"""What a call must leave as it is: its inputs, and what earlier calls returned."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any

import numpy
import torch

from mha_judge.worker.manner import arrays
from mha_judge.worker.memory import whole_of

_KEPT_BYTES = 64 << 20
"""What the results that are kept may take, beside as much for their copies."""


class Inputs:
    """The inputs of a call."""

    def __init__(self, inputs: Any) -> None:
        """Take a tree, as it is before the call."""
        self._before = [(one, _version(one), _copy(_whole(one))) for one in arrays(inputs)]

    def written(self) -> list[int]:
        """Return which of them, counted in order, were written to, if only for a while.

        Torch counts writes to a tensor, other than those by `data` or NumPy. What a tensor is a
        part of must stay as it is, too.
        """
        return [
            number
            for number, (one, version, before) in enumerate(self._before)
            if _version(one) != version or not _is_same(_whole(one), before)
        ]


class Results:
    """What calls returned, beside copies; the oldest are let go where all would be too many."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, Any, Any]] = deque()
        self._bytes = 0

    def keep(self, number: int, result: Any) -> None:
        """Keep the arrays in what a call returned, as a caller may do.

        Args:
            number: The request's.
            result: A tree.
        """
        for one in arrays(result):
            with contextlib.suppress(Exception):  # what no copy can be made of is judged as it is
                self._kept.append((number, _plain(one), _copy(one)))
                self._bytes += self._kept[-1][2].nbytes
        while self._bytes > _KEPT_BYTES:
            self._bytes -= self._kept.popleft()[2].nbytes

    def overwritten(self) -> list[int]:
        """Return the numbers of requests whose results are no longer what they were."""
        return sorted({number for number, one, before in self._kept if not _is_same(one, before)})


def _plain(array: Any) -> Any:
    """Return an array, or a tensor without its graph."""
    return array if isinstance(array, numpy.ndarray) else array.detach()


def _whole(array: Any) -> Any:
    """Return an array, or all of the memory that a tensor is a part of."""
    return array if isinstance(array, numpy.ndarray) else whole_of(array.detach())


def _copy(array: Any) -> Any:
    return array.copy() if isinstance(array, numpy.ndarray) else array.detach().clone()


def _version(array: Any) -> int:
    is_counted = isinstance(array, torch.Tensor) and not array.is_inference()
    return array._version if is_counted else 0


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two arrays, or two tensors, are equal, NaN equal to NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if isinstance(one, torch.Tensor) and torch.equal(one, other):
        return True
    return bool(((one == other) | ((one != one) & (other != other))).all())
