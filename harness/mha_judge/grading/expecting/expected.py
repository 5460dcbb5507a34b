"""Expected values, and how far from them a right answer may be.

The reference runs twice on the judge's own copies of the inputs: in float64, which is the truth,
and in the dtype of the question, which shows what that dtype costs. The error budget of a tensor
is

    ‖out − ref64‖∞ ≤ k · ‖ref_dtype − ref64‖∞ + ε(dtype) · (c + c′ · largest |logit|) · ‖ref64‖∞

and never more than a tenth of ‖ref64‖∞, with ε of float32 for float64 questions: precision beyond
that is not graded. The logit stands in the floor because a softmax by way of log-sum-exp is off by
ε·|logit| and right all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from mha_judge.wire import map_tree

_FACTOR = {torch.float64: 16.0, torch.float32: 16.0, torch.bfloat16: 6.0, torch.float16: 6.0}
_LOGIT_FLOOR = 4.0
_CEILING = 0.1
_TELLING = 2.0
"""How far below the ceiling the reference's own error must be elsewhere in the domain."""
_FLOOR = {torch.float64: 16.0, torch.float32: 16.0, torch.bfloat16: 2.0, torch.float16: 4.0}


@dataclass(frozen=True)
class Expected:
    """One expected tensor."""

    exact: Tensor
    """The reference's value in float64 (or of integers and booleans as they are)."""
    rounded: Tensor
    """The reference's value in the dtype of the question, with the shape and dtype of a result."""
    largest_logit: float = 0.0
    scale: float = 0.0
    """Magnitude of what was computed beside it, if this tensor alone may be next to nothing."""

    def tolerance(self, slack: float = 1.0) -> float:
        """Return the largest absolute error that passes.

        Args:
            slack: How many times larger it is than usual; in half precision, the ceiling is too.
        """
        dtype = self.rounded.dtype
        if not dtype.is_floating_point:
            return 0.0
        epsilon = torch.finfo(torch.float32 if dtype is torch.float64 else dtype).eps
        floor = epsilon * (_FLOOR[dtype] + _LOGIT_FLOOR * self.largest_logit)
        budget = slack * (_FACTOR[dtype] * self._own + floor * self.size)
        is_half = dtype not in (torch.float32, torch.float64)
        return min(budget, _CEILING * self.size * (slack if is_half else 1.0))

    @property
    def is_telling(self) -> bool:
        """Whether a right answer is certain to be within the tolerance.

        It need not be if the reference has NaN, or is itself far off in the question's dtype.
        """
        if not self.rounded.dtype.is_floating_point:
            return True
        return not self.has_nan and _TELLING * self._own <= _CEILING * self.size

    @property
    def is_nothing(self) -> bool:
        """Whether no number can be told from zero."""
        exact = self.exact
        if not exact.is_floating_point() or not exact.numel():
            return False
        return float(exact.abs().max()) <= self.tolerance()

    @property
    def has_nan(self) -> bool:
        """Whether any number is NaN."""
        return math.isnan(self._ends[0])

    @property
    def is_finite(self) -> bool:
        """Whether no number is NaN or infinite."""
        return all(map(math.isfinite, self._ends))

    @cached_property
    def size(self) -> float:
        """The magnitude: the largest finite number, or that of what was computed beside it."""
        return max(_largest(self.exact, self._ends), self.scale, 1e-3)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return _ends(self.exact)

    @cached_property
    def _own(self) -> float:
        return _largest(apart(self.rounded, self.exact))


@dataclass(frozen=True)
class Nearest(Expected):
    """An expected tensor for which the reference was not run in the dtype of the question.

    So the tolerance has no share for the reference's own error. A result within it is right, and
    one outside may be right.
    """

    @property
    def _own(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Live:
    """An object that the worker holds, with what it should be; passed on to a later call."""

    kept: Any
    expected: Any


class Logits(TorchFunctionMode):
    """Notes what goes into the softmaxes of the reference."""

    def __init__(self, *, of_rows: bool = False) -> None:
        """Take whether only the largest number of each row counts, as a fill for −∞ is none."""
        super().__init__()
        self._of_rows = of_rows
        self.largest: float = 0.0
        """The largest finite number in size."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") == "softmax":
            scores = args[0].detach()
            if self._of_rows and scores.numel():
                scores = scores.amax(args[1] if len(args) > 1 else (kwargs or {}).get("dim", -1))
            self.largest = max(self.largest, _largest(scores))
        return func(*args, **(kwargs or {}))


@contextmanager
def in_float64() -> Iterator[None]:
    """Let tensors that the reference makes itself, such as tables, be float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def expect(function: Callable[..., Any], args: Sequence[Any], rounded: Callable[..., Any]) -> Any:
    """Return the result of a reference as a tree of `Expected`.

    Args:
        function: The reference, called on float64 copies of the arguments.
        args: The arguments of the question.
        rounded: The reference in the dtype of the question, called on plain copies.
    """
    exact, largest_logit = _exactly(function, args)
    with torch.no_grad():
        approximate = rounded(*(map_tree(rounded_copy, value) for value in args))
    return pair_up(exact, map_tree(_cloned, approximate), largest_logit)


def expect_nearest(function: Callable[..., Any], args: Sequence[Any], dtype: torch.dtype) -> Any:
    """Return the result of a reference as a tree of `Nearest`.

    Args:
        function: The reference, called on float64 copies of the arguments.
        args: The arguments of the question.
        dtype: The dtype in which the reference is known to answer such a question.
    """
    exact, largest_logit = _exactly(function, args)
    approximate = map_tree(lambda leaf: _in_dtype(leaf, dtype), exact)
    return pair_up(exact, approximate, largest_logit, Nearest)


def _exactly(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, float]:
    """Return the result of a reference in float64, and the largest number that a softmax got."""
    own = [map_tree(exact_copy, value) for value in args]
    with torch.no_grad(), Logits() as logits, in_float64():
        exact = function(*own)
    # a reference may return what it holds, such as a table, which changes later
    return map_tree(_cloned, exact), logits.largest


def expect_gradients(
    function: Callable[..., Any],
    rounded: Callable[..., Any],
    args: Sequence[Any],
    cotangents: Sequence[Tensor | None],
    wrt: Sequence[int],
    parameters: tuple[Mapping[str, Tensor], Mapping[str, Tensor]],
) -> tuple[list[Expected], dict[str, Expected]]:
    """Return the gradients of ⟨outputs, cotangents⟩ for some inputs and for the parameters.

    Args:
        function: The reference in float64.
        rounded: The reference in the dtype of the question.
        args: The arguments of the question.
        cotangents: One for each output tensor, None for those left out.
        wrt: Indices of the differentiated arguments.
        parameters: Those of `function` and of `rounded`, by name.
    """
    own = [map_tree(exact_copy, value) for value in args]
    with Logits() as logits, in_float64():
        exact = gradients(function, own, cotangents, wrt, parameters[0])
    copies = [map_tree(rounded_copy, value) for value in args]
    near = gradients(rounded, copies, cotangents, wrt, parameters[1])
    # the keys' bias has a gradient of exactly zero, so its rounding is measured by the others' size
    scale = max((_largest(one) for one in exact[len(wrt) :]), default=0.0)
    pairs = [
        Expected(one.double(), other, logits.largest, scale if index >= len(wrt) else 0.0)
        for index, (one, other) in enumerate(zip(exact, near, strict=True))
    ]
    # so is that of an input whose gradient is zero, as a query's is beside a single open key
    coming = max((_largest(one) for one in cotangents if one is not None), default=0.0)
    inputs = [replace(one, scale=coming) if one.is_nothing else one for one in pairs[: len(wrt)]]
    return inputs, dict(zip(parameters[0], pairs[len(wrt) :], strict=True))


def gradients(
    function: Callable[..., Any],
    args: list[Any],
    cotangents: Sequence[Tensor | None],
    wrt: Sequence[int],
    parameters: Mapping[str, Tensor],
) -> list[Tensor]:
    """Return the gradients of ⟨outputs, cotangents⟩ for some arguments and for parameters.

    An argument on which nothing depends has a gradient of zero.
    """
    for index in wrt:
        args[index] = args[index].requires_grad_()
    total = torch.zeros((), dtype=torch.float64)
    for output, cotangent in zip(leaves(function(*args)), cotangents, strict=False):
        if cotangent is not None:
            total = total + (output * cotangent.to(output.dtype)).sum()
    sources = [*(args[index] for index in wrt), *parameters.values()]
    if not total.requires_grad:
        return [torch.zeros_like(source) for source in sources]
    found = torch.autograd.grad(total, sources, allow_unused=True)
    return [
        torch.zeros_like(source) if gradient is None else gradient
        for source, gradient in zip(sources, found, strict=True)
    ]


def leaves(tree: Any) -> Iterator[Any]:
    """Yield what a tree of lists, tuples and dicts holds, in order."""
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves(item)
    elif isinstance(tree, dict):
        yield from leaves(list(tree.values()))
    else:
        yield tree


def for_candidate(tree: Any) -> Any:
    """Return arguments as they are sent: live objects by name, tensors as copies."""
    return map_tree(lambda leaf: leaf.kept if isinstance(leaf, Live) else leaf, tree)


def exact_copy(leaf: Any) -> Any:
    """Return a copy of an argument in float64; for a live object, its expected value."""
    if isinstance(leaf, Live):
        return map_tree(lambda value: value.exact.clone(), leaf.expected)
    if isinstance(leaf, Tensor):
        return leaf.to(torch.float64 if leaf.dtype.is_floating_point else leaf.dtype, copy=True)
    return leaf


def rounded_copy(leaf: Any) -> Any:
    """Return a copy of an argument as it is; for a live object, its expected value."""
    if isinstance(leaf, Live):
        return map_tree(lambda value: value.rounded.clone(), leaf.expected)
    return leaf.clone() if isinstance(leaf, Tensor) else leaf


def _cloned(leaf: Any) -> Any:
    return leaf.clone() if isinstance(leaf, Tensor) else leaf


def _in_dtype(leaf: Any, dtype: torch.dtype) -> Any:
    if isinstance(leaf, Tensor) and leaf.dtype.is_floating_point:
        return leaf.to(dtype)
    return leaf


def pair_up(exact: Any, rounded: Any, logit: float = 0.0, made: type[Expected] = Expected) -> Any:
    """Return an exact and a rounded result of the same form as a tree of `Expected`."""
    if isinstance(exact, (list, tuple)):
        pairs = zip(exact, rounded, strict=True)
        return tuple(pair_up(one, other, logit, made) for one, other in pairs)
    if isinstance(exact, Tensor):
        return made(exact, rounded, logit)
    return exact


def apart(found: Tensor, exact: Tensor) -> Tensor:
    """Return the absolute error of each number of a result, in float64."""
    if not found.dtype.is_floating_point:
        return (found.double() - exact.double()).abs_()
    return (found.float() if found.itemsize < 4 else found).sub(exact.double()).abs_()


def _ends(numbers: Tensor) -> tuple[float, float]:
    """Return the smallest and the largest number: NaN if any number is, 0 if there is none."""
    if not numbers.numel():
        return 0.0, 0.0
    low, high = numbers.aminmax()
    return float(low), float(high)


def _largest(numbers: Tensor, ends: tuple[float, float] | None = None) -> float:
    """Return the largest finite number in size, 0 if there is none.

    Args:
        numbers: The numbers.
        ends: The smallest and the largest of them, if they are known.
    """
    low, high = ends or _ends(numbers)
    if math.isfinite(low) and math.isfinite(high):
        return max(-low, high)
    low, high = _ends(numbers.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0))
    return max(-low, high)
