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


def expanded(cotangent: Any) -> Any:
    """Return a cotangent with its last axis expanded, at stride 0, from the first entry there."""
    if not isinstance(cotangent, torch.Tensor) or not cotangent.dim():
        return cotangent
    return cotangent[..., :1].expand_as(cotangent)


class _End(torch.autograd.Function):
    """A scalar whose backward passes on the given cotangent, with its layout in memory.

    `torch.autograd.backward` takes cotangents too, but imports sympy first, for half a second.
    """

    @staticmethod
    def forward(ctx: Any, output: torch.Tensor, cotangent: torch.Tensor) -> torch.Tensor:
        ctx.cotangent = cotangent
        return output.new_zeros(())

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.cotangent, None


def pull_back(
    result: Any,
    cotangents: Sequence[torch.Tensor | None],
    inputs: dict[str, torch.Tensor],
    model: Any,
    again: bool = False,
) -> dict[str, Any]:
    """Return the gradients of the sum of ⟨output, cotangent⟩ over the first outputs.

    Args:
        result: What a call returned.
        cotangents: By output, or None where none comes in.
        inputs: The inputs that are differentiated, by name.
        model: What was called; its parameters are differentiated if it is a module.
        again: Whether another backward pass through the same graph comes before.

    Returns:
        `inputs` and `parameters`, gradients by name, None where no output depends on the leaf.

    Raises:
        ValueError: If the backward pass changes the cotangents, which others may share, in place.
    """
    outputs, upstream = [], []
    for output, cotangent in zip(_tensors(result), cotangents, strict=False):
        if cotangent is None or output.shape != cotangent.shape:  # the judge reports the shape
            continue
        if output.requires_grad:
            outputs.append(output)
            upstream.append(cotangent.to(output.dtype))
    parameters = dict(model.named_parameters()) if isinstance(model, torch.nn.Module) else {}
    learned = {name: value for name, value in parameters.items() if value.requires_grad}
    leaves = [*inputs.values(), *learned.values()]
    gradients: Sequence[torch.Tensor | None] = [None] * len(leaves)
    if outputs and leaves:
        if again:
            _sum_of(outputs, [one * 0.5 for one in upstream]).backward(retain_graph=True)
        for leaf in leaves:
            leaf.grad = None
        before = [one.clone() for one in upstream]
        _sum_of(outputs, upstream).backward()  # reentrant checkpoints refuse `grad`
        if not all(map(torch.equal, before, upstream)):
            raise ValueError("the backward pass changes the gradient that it is given in place")
        gradients = [leaf.grad for leaf in leaves]
    count = len(inputs)
    reached = dict(zip(learned, gradients[count:], strict=True))
    return {
        "inputs": dict(zip(inputs, gradients[:count], strict=True)),
        "parameters": {name: reached.get(name) for name in parameters},  # frozen ones get none
    }


def _sum_of(outputs: Sequence[torch.Tensor], upstream: Sequence[torch.Tensor]) -> Any:
    """Return a scalar whose backward pass gives each output its cotangent."""
    return sum(map(_End.apply, outputs, upstream))


def _tensors(result: Any) -> Iterator[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from _tensors(item)
