"""Results of the bank's programs, kept for the next candidate who is asked the same question.

All candidates of a run are graded under one seed, so that most questions come again. A result is
kept under everything that it depends on: the program, its weights, and the question, by content. It
can hold nothing of a candidate; what a candidate decides, such as a length that stands in the
source, changes the question and so the key.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from mha_judge.errors import UsageError
from mha_judge.grading.expecting.expected import Live

VARIABLE = "MHA_JUDGE_REMEMBER"
"""MiB that a process may keep; 0 keeps nothing."""
_MOST_MIB = 1024
_SHARE = 8
"""With a process on each core, all results together take at most 1/8 of the memory."""
_LEFT = 0.95
"""The share of the limit to which results are cut, as sorting them takes time."""
_OVERHEAD_BYTES = 1_000
"""About what a result takes beside its numbers."""
_Answer = TypeVar("_Answer")


class Unkeyed(Exception):
    """A question that holds something whose content cannot be read."""


@dataclass
class _Kept:
    """A result that is kept."""

    answer: Any
    size: int
    """In bytes."""
    density: float
    """The time it took to compute, in seconds per byte."""
    asked: int = 0
    """How often it was asked for."""
    worth: float = 0.0

    def ask_at(self, clock: float) -> None:
        """Note that it was asked for."""
        self.asked += 1
        self.worth = clock + self.asked * self.density


class Memory:
    """Results by key; those worth least for their size are forgotten first.

    A grade asks its questions in the same order as the grade before it. If they need a little more
    than may be kept, and the least recently used result went first, each result would be gone just
    before it is asked for again. So a result is worth its computing time per byte, times how often
    it was asked for, plus a clock that moves on to the worth of whatever is forgotten: results that
    nobody asks for any more go in time, too (GreedyDual-Size with frequency, Cherkasova 1998).
    """

    def __init__(self, limit_bytes: int, now: Callable[[], float] = time.perf_counter) -> None:
        """Take how many bytes may be kept, and a clock that returns seconds."""
        self._limit = limit_bytes
        self._now = now
        self._kept: dict[bytes, _Kept] = {}
        self._clock = 0.0
        self.held_bytes = 0

    @property
    def is_off(self) -> bool:
        """Whether nothing is kept at all."""
        return self._limit <= 0

    def recall(
        self,
        key: bytes | None,
        ask: Callable[[], _Answer],
        may_keep: Callable[[], bool] = lambda: True,
    ) -> _Answer:
        """Return the result for a question, computed only if it is not known.

        Args:
            key: What the result depends on; None if that cannot be said.
            ask: Computes the result.
            may_keep: Says afterwards whether the result depends on the key alone.
        """
        if key is None or self.is_off:
            return ask()
        if (known := self._kept.get(key)) is not None:
            known.ask_at(self._clock)
            remembered: _Answer = known.answer
            return remembered
        started = self._now()
        answer = ask()
        took = self._now() - started
        size = _OVERHEAD_BYTES + _bytes_of(answer)
        if size <= self._limit and may_keep():
            self._kept[key] = _Kept(answer, size, took / size)
            self._kept[key].ask_at(self._clock)
            self.held_bytes += size
        if self.held_bytes > self._limit:
            self._forget()
        return answer

    def _forget(self) -> None:
        """Forget the results worth least, until a little less than the limit is kept."""
        for key in sorted(self._kept, key=lambda key: self._kept[key].worth):
            if self.held_bytes <= self._limit * _LEFT:
                return
            forgotten = self._kept.pop(key)
            self._clock = forgotten.worth
            self.held_bytes -= forgotten.size


@functools.cache
def memory() -> Memory:
    """Return the memory of this process.

    Raises:
        UsageError: If the environment names no valid size.
    """
    return Memory(limit_bytes(os.environ.get(VARIABLE, "")))


def limit_bytes(text: str) -> int:
    """Return how many bytes are kept if the environment says `text`, which may be empty.

    Raises:
        UsageError: If the text is no number of MiB.
    """
    if not text:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return min(_MOST_MIB << 20, machine // (_SHARE * (os.cpu_count() or 1)))
    if not text.isdecimal():
        raise UsageError(f"{VARIABLE}={text} is no number of MiB; 0 keeps nothing")
    return int(text) << 20


_numbers = itertools.count()
_programs: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def number_of(program: Any) -> int:
    """Return a number that no other function or class has in this process.

    A program that is loaded again, as after its file has changed, gets another number.
    """
    if program not in _programs:
        _programs[program] = next(_numbers)
    return _programs[program]


def key_of(*parts: object) -> bytes | None:
    """Return a hash of the content of some values; None if that of one cannot be read."""
    content: list[bytes] = []
    try:
        _describe(parts, content)
    except Unkeyed:
        return None
    return hashlib.blake2b(b"".join(content), digest_size=16).digest()


def _describe(value: Any, content: list[bytes]) -> None:
    """Add a value's content; each begins with its kind and has a definite end, so none merge."""
    kind = type(value)
    if kind is Tensor or kind is torch.nn.Parameter:
        _describe_tensor(value, content)
    elif kind is list or kind is tuple:
        content.append(b"(%d:" % len(value))
        for item in value:
            _describe(item, content)
    elif kind is dict:
        content.append(b"{%d:" % len(value))
        for key, item in value.items():
            _describe(key, content)
            _describe(item, content)
    elif value is None or kind in _BY_THEIR_WORDS:
        text = repr(value).encode()
        content.append(b"%d:%s" % (len(text), text))
    elif kind is float:
        content.append(b"f" + struct.pack("<d", value))
    elif kind is Live:
        _describe(value.expected, content)
    elif is_dataclass(value):
        _describe([getattr(value, field.name) for field in fields(value)], content)
    else:
        raise Unkeyed


_BY_THEIR_WORDS = (bool, int, str, bytes, torch.dtype)


def _describe_tensor(value: Tensor, content: list[bytes]) -> None:
    """Add a hash of a tensor: with its strides, as rounding may depend on how it lies in memory.

    It is kept with the tensor, beside the version, which counts changes in place.
    """
    if value.device.type != "cpu":
        raise Unkeyed
    version, known = getattr(value, "_hashed", (-1, b""))
    if version != value._version:
        axes, plain = value.dim(), value.detach()
        if plain.dtype is torch.bfloat16:
            plain = plain.view(torch.int16)
        hashed = hashlib.blake2b(b"%d,%s:" % (axes, str(value.dtype).encode()), digest_size=16)
        hashed.update(struct.pack(f"<{2 * axes}q", *value.shape, *value.stride()))
        hashed.update(plain.numpy().tobytes())
        known = hashed.digest()
        value._hashed = (value._version, known)  # type: ignore[attr-defined]
    content.append(b"t%d:%s" % (value.requires_grad, known))


def _bytes_of(tree: Any) -> int:
    """Return the bytes of the tensors in a result."""
    if isinstance(tree, Tensor):
        return tree.nbytes
    if isinstance(tree, (list, tuple)):
        return sum(map(_bytes_of, tree))
    if is_dataclass(tree):
        tree = vars(tree)
    return sum(map(_bytes_of, tree.values())) if isinstance(tree, dict) else 0
