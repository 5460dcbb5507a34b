"""Whether one tensor is the expected one, and how to say what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from mha_judge.grading.expecting.expected import Expected, apart
from mha_judge.grading.expecting.sample import sample_at
from mha_judge.grading.failures import CheckFailure
from mha_judge.wire import Opaque

_GRANTING = ContextVar("a mistake is granted", default=False)
_SLACK_GRANTED = 8.0
"""How many times larger an error may be where a mistake is granted: whoever makes it may round
elsewhere than its program does, and another mistake shows by ten times the budget and more."""


@contextmanager
def while_granting() -> Iterator[None]:
    """Compare with a mistake in the place of the reference: any number is right where it gives
    NaN or nothing but rounding, and errors may be larger, but not in half precision."""
    token = _GRANTING.set(True)
    try:
        yield
    finally:
        _GRANTING.reset(token)


def compare(found: object, expected: Expected, label: str, slack: float = 1.0) -> None:
    """Assert that one tensor is the expected one.

    Args:
        found: What was returned.
        expected: What is right.
        label: The name of the tensor in messages.
        slack: How many times larger than usual an error may be.

    Raises:
        CheckFailure: Naming the first thing that differs: kind, shape, dtype, NaN, value.
    """
    tensor = require_form(found, expected, label)
    if _GRANTING.get() and tensor.itemsize >= 4:
        slack *= _SLACK_GRANTED
    tolerance = expected.tolerance(slack)
    if expected.is_finite and _is_within(tensor, expected.exact, tolerance):
        return
    if _GRANTING.get() and expected.is_finite and not expected.is_telling:
        return
    actual, exact = tensor.double(), expected.exact.double()
    if _GRANTING.get():
        actual = torch.where(exact.isnan(), exact, actual)
    _compare_nonfinite(actual, exact, label)
    finite = torch.isfinite(exact)
    error = torch.where(finite, (actual - exact).abs(), torch.zeros_like(exact))
    worst = float(error.max())
    if worst <= tolerance:
        return
    wrong = error > tolerance
    index = tuple(int(i) for i in wrong.nonzero()[0])
    count, of = int(wrong.sum()), wrong.numel()
    share = f"{count / of:.0%} of the" if count >= of / 100 else f"{count} of {of}"
    raise CheckFailure(
        f"{label} differs from the reference",
        f"shape {tuple(exact.shape)}; first difference at {list(index)}: expected "
        f"{exact[index].item():.6g}, got {actual[index].item():.6g}; largest error {worst:.2e}, "
        f"allowed {tolerance:.1e}; {share} elements differ",
        margin=worst / tolerance if tolerance else None,
        sample=sample_at(index, exact, actual, label),
    )


def _is_within(found: Tensor, exact: Tensor, tolerance: float) -> bool:
    """Return whether a result is within the tolerance; NaN is not."""
    return not exact.numel() or float(apart(found, exact).max()) <= tolerance


def require_defined(expected: Expected, label: str) -> None:
    """Refuse to grade what the contract leaves undefined, such as a wholly blocked row."""
    if not _GRANTING.get() and expected.has_nan:
        raise ValueError(f"the reference has NaN in {label}: a right answer need not")


def require_form(found: object, expected: Expected, label: str) -> Tensor:
    """Return `found` if it is a tensor of the expected shape and dtype.

    Raises:
        CheckFailure: If it is not.
    """
    if isinstance(found, Opaque):
        raise CheckFailure(f"{label} is {found.what}; a plain torch.Tensor is wanted")
    if not isinstance(found, Tensor):
        raise CheckFailure(f"{label} is {describe(found)}; a torch.Tensor is wanted")
    shape, wanted = tuple(found.shape), tuple(expected.rounded.shape)
    if shape != wanted:
        raise CheckFailure(f"{label} has shape {shape}; {wanted} is wanted")
    if found.dtype != (dtype := expected.rounded.dtype):
        have = "the inputs have {}" if dtype.is_floating_point else "{} is wanted"
        raise CheckFailure(
            f"{label} has dtype {dtype_name(found.dtype)}; {have.format(dtype_name(dtype))}"
        )
    return found


def describe(value: object) -> str:
    """Return a few words on a value that is not what was wanted."""
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, Opaque):
        return value.what
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a value of type {type(value).__name__}"


def same_bits(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors of one shape are equal, NaN equal to NaN."""
    if one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


def _compare_nonfinite(actual: Tensor, exact: Tensor, label: str) -> None:
    for name, test in (("NaN", torch.isnan), ("inf", torch.isposinf), ("-inf", torch.isneginf)):
        here, there = test(actual), test(exact)
        if not torch.equal(here, there):
            index = [int(i) for i in (here != there).nonzero()[0]]
            has = "has" if bool(here[tuple(index)]) else "lacks"
            count = int((here != there).sum())
            raise CheckFailure(
                f"{label} {has} {name} where the reference {'lacks' if has == 'has' else 'has'} it",
                f"first at {index}; {count} of {exact.numel()} elements",
                sample=sample_at(tuple(index), exact, actual, label),
            )


def dtype_name(dtype: torch.dtype) -> str:
    """Return what a dtype is called, as in `float32`."""
    return str(dtype).removeprefix("torch.")
