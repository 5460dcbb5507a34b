"""What a check asserts. No tolerance is ever written in a grader: the error budget decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, Protocol

from torch import Tensor

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.target import Target
from mha_judge.grading.expecting.compare import compare, require_defined, same_bits
from mha_judge.grading.expecting.expected import Expected, leaves
from mha_judge.grading.failures import CheckFailure, Crashed, Raised


class Attempted(Protocol):
    """What can be called, or made, with input that the contract rules out."""

    def attempt(self, *args: Any) -> object:
        """Try it."""


def fail(message: str, detail: str = "") -> NoReturn:
    """End a check: the claim does not hold.

    Raises:
        CheckFailure: Always.
    """
    raise CheckFailure(message, detail)


def assert_gradients_match(
    target: Target,
    *args: Any,
    wrt: Sequence[int],
    cotangents: Sequence[Tensor | None],
    parameters: bool = False,
) -> None:
    """Assert that gradients reach the named inputs, and the parameters, and are right.

    Raises:
        CheckFailure: Naming the input or parameter whose gradient is missing or wrong.
    """
    require_gradients(
        target.gradients(*args, wrt=wrt, cotangents=cotangents, parameters=parameters)
    )


def require_gradients(rows: Iterable[tuple[str, Tensor | None, Expected]]) -> None:
    """Assert that gradients are there, and right.

    Args:
        rows: Label, gradient or None, and what is expected, for each gradient.

    Raises:
        CheckFailure: Naming the input or parameter whose gradient is missing or wrong.
    """
    for label, gradient, expected in rows:
        require_defined(expected, f"the gradient of {label}")
        if gradient is None:
            if expected.is_nothing:
                continue
            raise CheckFailure(
                f"no gradient reaches {label}: the graph is cut on the way "
                "(detach, .data, no_grad or a new tensor)"
            )
        compare(gradient, expected, f"the gradient of {label}")


def assert_inputs_unchanged(target: Target, *args: Any) -> None:
    """Assert that a call leaves the tensors that it was given as they were.

    Raises:
        CheckFailure: Naming the input that changed.
    """
    for index, (before, after) in enumerate(zip(args, target.inputs_after(*args), strict=True)):
        parts = [*leaves([before])], [*leaves([after])]
        if len(parts[0]) != len(parts[1]):  # only a worker that lies sends another structure
            raise Crashed("the worker's answer lacks an input")
        for one, other in zip(*parts, strict=True):
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


def assert_rejected(target: Attempted, *args: Any, why: str) -> None:
    """Assert that input which the contract rules out raises, with any exception.

    Raises:
        CheckFailure: If the call answers, or hangs or crashes, or if a constructor does not fit,
            which is no refusal.
    """
    require_refusal(lambda: target.attempt(*args), why)


def require_refusal(call: Callable[[], object], why: str) -> None:
    """Assert that a call with input which the contract rules out raises, with any exception.

    Raises:
        CheckFailure: As `assert_rejected` says.
    """
    try:
        call()
    except Raised as raised:
        if raised.kind in ("NotImplementedError", "SystemExit"):
            raise
        return
    raise CheckFailure(f"accepts {why}; an exception is wanted")
