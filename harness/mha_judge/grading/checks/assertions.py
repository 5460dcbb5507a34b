"""What a check asserts. No tolerance is ever written in a grader: the error budget decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from torch import Tensor

from mha_judge.grading.expecting.expected import Expected, leaves
from mha_judge.grading.expecting.sample import sample_at
from mha_judge.grading.failures import CheckFailure, Crashed, NotAssessed, Raised
from mha_judge.wire import Opaque

if TYPE_CHECKING:
    from mha_judge.grading.calling.function import Function
    from mha_judge.grading.calling.layer import Layer
    from mha_judge.grading.calling.module import ModuleEntry
    from mha_judge.grading.expecting.answer import Answer


def fail(message: str, detail: str = "") -> NoReturn:
    """End a check: the claim does not hold.

    Raises:
        CheckFailure: Always.
    """
    raise CheckFailure(message, detail)


def assert_close(answer: Answer, *names: str, nan: bool = False) -> None:
    """Assert that the named results are what the reference gives, within the error budget.

    Args:
        answer: What a call returned.
        names: Which of the contract's results are compared.
        nan: Whether the contract says where NaN stands.

    Raises:
        CheckFailure: If a result is missing, of another shape or dtype, or too far off.
        ValueError: If the reference gives NaN and the contract does not: the grader is at fault.
    """
    for name in names:
        for found, expected, label in answer.pairs(name):
            if not nan:
                _require_defined(expected, label)
            compare(found, expected, label)


def compare(found: object, expected: Expected, label: str) -> None:
    """Assert that one tensor is the expected one.

    Raises:
        CheckFailure: Naming the first thing that differs: kind, shape, dtype, NaN, value.
    """
    tensor = require_form(found, expected, label)
    actual, exact = tensor.double(), expected.exact.double()
    _compare_nonfinite(actual, exact, label)
    finite = torch.isfinite(exact)
    error = torch.where(finite, (actual - exact).abs(), torch.zeros_like(exact))
    if error.numel() == 0:
        return
    worst = float(error.max())
    if worst <= expected.tolerance:
        return
    wrong = error > expected.tolerance
    index = tuple(int(i) for i in wrong.nonzero()[0])
    share = int(wrong.sum()) / wrong.numel()
    raise CheckFailure(
        f"{label} differs from the reference",
        f"shape {tuple(exact.shape)}; first difference at {list(index)}: expected "
        f"{exact[index].item():.6g}, got {actual[index].item():.6g}; largest error {worst:.2e}, "
        f"allowed {expected.tolerance:.1e}; {share:.0%} of the elements differ",
        margin=worst / expected.tolerance if expected.tolerance else None,
        sample=sample_at(index, exact, actual, label),
    )


def _require_defined(expected: Expected, label: str) -> None:
    """Refuse to grade what the contract leaves open, such as a row that is blocked as a whole."""
    if bool(expected.exact.isnan().any()):
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
    if found.dtype != expected.rounded.dtype:
        raise CheckFailure(
            f"{label} has dtype {_dtype(found)}; the inputs have {_dtype(expected.rounded)}"
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


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def assert_gradients_match(
    target: Function | Layer,
    *args: Any,
    wrt: Sequence[int],
    cotangents: Sequence[Tensor | None],
    parameters: bool = False,
) -> None:
    """Assert that gradients reach the named inputs, and the parameters, and are right.

    Raises:
        CheckFailure: Naming the input or parameter whose gradient is missing or wrong.
    """
    found = target.gradients(*args, wrt=wrt, cotangents=cotangents, parameters=parameters)
    for label, gradient, expected in found:
        _require_defined(expected, f"the gradient of {label}")
        if gradient is None:
            if float(expected.exact.abs().max()) <= expected.tolerance:
                continue
            raise CheckFailure(
                f"no gradient reaches {label}: the graph is cut on the way "
                "(detach, .data, no_grad or a new tensor)"
            )
        compare(gradient, expected, f"the gradient of {label}")


def assert_inputs_unchanged(target: Function | Layer, *args: Any) -> None:
    """Assert that a call leaves the tensors that it was given as they were.

    Raises:
        CheckFailure: Naming the input that changed.
    """
    before = [value.clone() if isinstance(value, Tensor) else value for value in leaves(args)]
    after = list(leaves(target.inputs_after(*args)))
    if len(after) != len(before):  # only a worker that lies sends an input of another build
        raise Crashed("the worker's answer lacks an input")
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        if isinstance(one, Tensor) and not (
            isinstance(other, Tensor) and one.shape == other.shape and same_bits(one, other)
        ):
            raise CheckFailure(f"changes its input {target.argument_label(index)} in place")


def assert_no_extra_parameters(layer: Layer) -> None:
    """Assert that a layer has the contract's maps, biases or none, and nothing else to learn.

    Raises:
        CheckFailure: Saying how many parameters there are, and how many are wanted.
    """
    weights, biases = layer.contract_parameters
    if not weights <= layer.parameter_count <= weights + biases:
        raise CheckFailure(
            f"has {layer.parameter_count} parameters; "
            f"{weights}, and {biases} more with biases, are wanted"
        )


def same_bits(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors of one shape are equal, NaN equal to NaN."""
    if one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


def assert_rejected(target: Function | Layer | ModuleEntry, *args: Any, why: str) -> None:
    """Assert that input which the contract rules out raises, with any exception.

    Raises:
        CheckFailure: If the call answers, or hangs or crashes.
        NotAssessed: Never; a constructor that does not fit is no refusal.
    """
    try:
        target.attempt(*args)
    except Raised as raised:
        if raised.kind in ("NotImplementedError", "SystemExit"):
            raise
        return
    raise CheckFailure(f"accepts {why}; an exception is wanted")


__all__ = [
    "NotAssessed",
    "assert_close",
    "assert_gradients_match",
    "assert_inputs_unchanged",
    "assert_no_extra_parameters",
    "assert_rejected",
    "compare",
    "describe",
    "fail",
    "require_form",
    "same_bits",
]
