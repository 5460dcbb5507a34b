"""How a call is made, beside what it is given: gradient mode, layout of inputs, what came before.

None of it may change what a right answer gives.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy
import torch

from mha_judge.wire import map_tree

Target = Callable[..., Any]
_OFFSET = 4
"""Elements before a tensor in the larger one that it is a slice of: even, or no view of its numbers
as complex ones could be had."""


def gradient_mode(name: str) -> AbstractContextManager[Any]:
    """Return what a call is made in."""
    if name == "no_grad":
        return torch.no_grad()
    return torch.inference_mode() if name == "inference_mode" else contextlib.nullcontext()


def laid_out(value: Any, layout: str) -> Any:
    """Return a tree whose tensors and arrays lie otherwise in memory; one object stays one."""
    made: dict[int, Any] = {}

    def lay(leaf: Any) -> Any:
        if not isinstance(leaf, (torch.Tensor, numpy.ndarray)):
            return leaf
        if id(leaf) not in made:
            made[id(leaf)] = _laid_out(leaf, layout)
        return made[id(leaf)]

    return map_tree(lay, value) if layout else value


def _laid_out(leaf: Any, layout: str) -> Any:
    if isinstance(leaf, numpy.ndarray):
        return _laid_out(torch.from_numpy(leaf), layout).numpy()
    if not leaf.is_contiguous():  # it lies as a check wants it
        return leaf
    if layout == "transposed" and leaf.dim() > 1:
        return leaf.mT.contiguous().mT
    if layout == "slice":
        whole = leaf.new_zeros(leaf.numel() + 2 * _OFFSET)
        return whole[_OFFSET : _OFFSET + leaf.numel()].view(leaf.shape).copy_(leaf)
    if layout == "gaps" and leaf.dim():
        return leaf.repeat_interleave(2, dim=-1)[..., ::2]
    return leaf


def require_gradients(value: Any, which: str = "", number: int = 0) -> None:
    """Let one tensor of a tree require gradients, or all but one, where there are several.

    Args:
        value: A tree.
        which: `one`, `all but one`, or empty for none.
        number: Which one, counted around.
    """
    floating = [one for one in _tensors(value) if one.is_floating_point()]
    if which in ("one", "all but one") and len(floating) > 1:
        chosen = floating[number % len(floating)]
        for one in floating:
            if (one is chosen) is (which == "one") and one.is_leaf:
                one.requires_grad_()


@contextlib.contextmanager
def frozen(model: Any, freeze: bool) -> Iterator[None]:
    """Let no parameter of a module learn inside the block."""
    learning = []
    if freeze and isinstance(model, torch.nn.Module):
        learning = [one for one in model.parameters() if one.requires_grad]
    for one in learning:
        one.requires_grad_(False)
    try:
        yield
    finally:
        for one in learning:
            one.requires_grad_(True)


def another(instance: Any, kind: str, call: Callable[[Any], Any]) -> Any:
    """Return an equal layer by another way; the same where there is none, as with other classes.

    Args:
        instance: What the submission's class made.
        kind: `copy`, `loaded` from its `state_dict`, or `moved` to float64 and back.
        call: Calls an instance as it is about to be called.
    """
    if not kind or not isinstance(instance, torch.nn.Module):
        return instance
    try:
        other = copy.deepcopy(instance)
    except Exception:  # attributes of its own, such as weights that it kept, may refuse
        return instance
    if kind == "loaded":
        with torch.no_grad():
            for parameter in other.parameters():
                parameter.mul_(0.5)
        with contextlib.suppress(Exception):  # what its answer is does not matter
            call(other)
        other.load_state_dict(instance.state_dict())
    elif kind == "moved":
        kept = next((one.dtype for one in other.parameters()), torch.float32)
        other.to(torch.float64).to(kept)
    return other


def rehearse(before: str, mode: str, target: Target, args: Any, kwargs: Any, model: Any) -> None:
    """Do what comes before a call. What the submission raises or returns here does not matter.

    Args:
        before: What it is.
        mode: The gradient mode of the call itself.
        target: What is called.
        args: With what.
        kwargs: With what else.
        model: The instance that is called, if it is one.
    """
    if not before:
        return
    with contextlib.suppress(Exception):
        if before == "inference":
            with torch.inference_mode():
                target(*args, **kwargs)
        elif before == "backward":
            leaves = [one for one in _tensors((args, kwargs)) if one.is_floating_point()]
            leaves = [one for one in leaves if one.is_leaf and not one.requires_grad]
            try:
                for one in leaves:
                    one.requires_grad_()
                _backward(target(*args, **kwargs))
            finally:
                _clear(args, kwargs, model)
                for one in leaves:
                    one.requires_grad_(False)
        elif before != "other weights" or isinstance(model, torch.nn.Module):
            with changed(_changing(before, args, kwargs, model)), gradient_mode(mode):
                target(*args, **kwargs)


def _changing(before: str, args: Any, kwargs: Any, model: Any) -> list[Any]:
    """Return what holds other numbers in a call that comes before."""
    if before == "other numbers":
        return list(_arrays((args, kwargs)))
    return list(model.parameters()) if before == "other weights" else []


@contextlib.contextmanager
def changed(arrays: list[Any]) -> Iterator[None]:
    """Let the same objects hold other numbers inside the block."""
    tensors = {id(one): _as_tensor(one) for one in arrays}
    writable = [one for one in tensors.values() if 0 not in one.stride() and one.numel() > 1]
    kept = [one.detach().clone() for one in writable]
    with torch.no_grad():
        for one in writable:
            longest = max(range(one.dim()), key=lambda axis: one.shape[axis])
            other = one.roll(1, longest)  # of a mask it is a mask again
            one.copy_(other * 0.5 + 0.25 if one.is_floating_point() else other)
    try:
        yield
    finally:
        with torch.no_grad():
            for one, before in zip(writable, kept, strict=True):
                one.copy_(before)


def _as_tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(array) if isinstance(array, numpy.ndarray) else array


def _arrays(tree: Any) -> Iterator[Any]:
    if isinstance(tree, (torch.Tensor, numpy.ndarray)):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from _arrays(item)
    elif isinstance(tree, dict):
        yield from _arrays(list(tree.values()))


def _tensors(tree: Any) -> list[torch.Tensor]:
    """Return the tensors of a tree, each once."""
    found = [one for one in _arrays(tree) if isinstance(one, torch.Tensor)]
    return list({id(one): one for one in found}.values())


def _backward(result: Any) -> None:
    outputs = [one for one in _tensors(result) if one.requires_grad]
    if outputs:
        sum(one.double().sum() for one in outputs).backward()  # type: ignore[union-attr]


def _clear(args: Any, kwargs: Any, model: Any) -> None:
    learned = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    for one in [*_tensors((args, kwargs)), *learned]:
        one.grad = None
