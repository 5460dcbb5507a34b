"""How a call is made, apart from its arguments: gradient mode, layout of inputs, earlier calls.

None of it may change the result of a right answer.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy
import torch
from torch.nn.parameter import is_lazy

from mha_judge.wire import map_tree
from mha_judge.wire.frozen import frozen_names
from mha_judge.worker.instances import arrays_of
from mha_judge.worker.memory import OFFSET, behind_others

Target = Callable[..., Any]
_TURNS = {"call": 1, "calls": 5, "many calls": 17}
"""Calls of the same shapes that follow, as results may take turns in buffers."""
_MOVED = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
"""The dtypes in which layers are called for a while; their weights are set anew afterwards."""


def gradient_mode(name: str) -> AbstractContextManager[Any]:
    """Return the context manager in which a call is made."""
    if name == "no_grad":
        return torch.no_grad()
    return torch.inference_mode() if name == "inference_mode" else contextlib.nullcontext()


def laid_out(value: Any, layout: str) -> Any:
    """Return a tree with another memory layout; an array that occurs twice stays one object."""
    find = _FINDING.get(layout)
    made = find(list(arrays(value))) if find else {}

    def lay(leaf: Any) -> Any:
        if not isinstance(leaf, (torch.Tensor, numpy.ndarray)):
            return leaf
        if id(leaf) not in made:
            made[id(leaf)] = _laid_out(leaf, layout)
        return made[id(leaf)]

    return map_tree(lay, value) if layout else value


def _parts_of_one(arrays: list[Any]) -> dict[int, Any]:
    """Return slices of joint tensors that replace the arrays, by the `id` of each array.

    Arrays that are alike but for the last axis are joined along it, as one product gives q, k, v.
    """
    alike: dict[object, dict[int, torch.Tensor]] = {}
    for array in arrays:
        tensor = as_tensor(array)
        if tensor.dim() and tensor.is_contiguous():
            kind = (type(array), tensor.dtype, tensor.shape[:-1])
            alike.setdefault(kind, {})[id(array)] = tensor
    made: dict[int, torch.Tensor] = {}
    for group in (one for one in alike.values() if len(one) > 1):
        whole, start = torch.cat([*group.values()], dim=-1), 0
        for key, tensor in group.items():
            made[key] = whole.narrow(-1, start, tensor.shape[-1])
            start += tensor.shape[-1]
    return {id(one): _as_given(one, made[id(one)]) for one in arrays if id(one) in made}


def _of_one_start(arrays: list[Any]) -> dict[int, Any]:
    """Return two views that begin at one place and replace two arrays, by the `id` of each.

    Every other position of the first is at the start of the second: both are views of a longer one.
    """
    tensors = [(one, as_tensor(one)) for one in arrays]
    for (one, first), (other, second) in itertools.combinations(tensors, 2):
        if first.dim() < 2 or first.shape != second.shape or first.dtype != second.dtype:
            continue
        every_other = first[..., ::2, :]
        shared = every_other.shape[-2]
        if one is not other and shared > 1 and second[..., :shared, :].equal(every_other):
            whole = torch.cat((first, torch.empty_like(second)), dim=-2)
            whole[..., ::2, :] = second
            views = whole[..., : first.shape[-2], :], whole[..., ::2, :]
            return {id(one): _as_given(one, views[0]), id(other): _as_given(other, views[1])}
    return {}


def _of_one_memory(arrays: list[Any]) -> dict[int, Any]:
    """Return a view of an array for each further one with the same numbers, by the `id` of it."""
    made: dict[int, Any] = {}
    for (one, first), (other, second) in itertools.combinations(
        [(one, as_tensor(one)) for one in arrays], 2
    ):
        alike = first.shape == second.shape and first.dtype == second.dtype
        if one is not other and id(one) not in made and alike and first.equal(second):
            made[id(other)] = _as_given(other, first.detach())
    return made


_FINDING = {"parts": _parts_of_one, "one start": _of_one_start, "one memory": _of_one_memory}
"""Layouts in which arrays have to do with one another."""


def _laid_out(leaf: Any, layout: str) -> Any:
    if isinstance(leaf, numpy.ndarray):
        return _laid_out(torch.from_numpy(leaf), layout).numpy()
    if not leaf.is_contiguous():  # a check chose this layout
        return leaf
    if layout == "transposed" and leaf.dim() > 1:
        return leaf.mT.contiguous().mT
    if layout == "reversed":
        order = [*range(leaf.dim())][::-1]
        return leaf.permute(order).contiguous().permute(order)
    if layout == "innermost" and leaf.dim() > 2:
        return behind_others(leaf.movedim(1, -1)).movedim(-1, 1)
    if layout == "slice":
        outer, inner = leaf.shape[:-2], leaf.shape[-2:]
        whole = leaf.new_zeros([*outer, *(size + OFFSET for size in inner)])
        return whole[(..., *(slice(OFFSET, None) for _ in inner))].copy_(leaf)
    if layout == "room" and leaf.dim() > 1:
        *outer, size, width = leaf.shape
        return leaf.new_zeros([*outer, size + OFFSET, width])[..., :size, :].copy_(leaf)
    if layout == "gaps" and leaf.dim():
        return leaf.repeat_interleave(2, dim=-1)[..., ::2]
    for axis in {"expanded": (0, -1), "one position": (-2,)}.get(layout, ()):
        if leaf.dim() < abs(axis) + (not axis):
            continue
        first = leaf.narrow(axis, 0, 1)
        if leaf.shape[axis] > 1 and bool((leaf == first).all()):
            return first.clone().expand_as(leaf)
    return leaf


def require_gradients(value: Any, which: str = "", number: int = 0) -> None:
    """Let one tensor of a tree require gradients, or all but one, where there are several.

    Args:
        value: A tree.
        which: `one`, `all but one`, or empty for none.
        number: Which one, modulo their count.
    """
    floating = [one for one in _tensors(value) if one.is_floating_point()]
    if which in ("one", "all but one") and len(floating) > 1:
        chosen = floating[number % len(floating)]
        for one in floating:
            if (one is chosen) is (which == "one") and one.is_leaf:
                one.requires_grad_()


def made(value: Any, leaf: str) -> Any:
    """Return a tree whose floating tensors are computed from the given ones, so no leaves.

    Args:
        value: A tree; a tensor that occurs twice stays one object.
        leaf: `made`; anything else leaves them as they are.
    """
    found: dict[int, torch.Tensor] = {}

    def make(one: Any) -> Any:
        if not isinstance(one, torch.Tensor) or not one.is_floating_point():
            return one
        if id(one) not in found:
            with torch.enable_grad():
                found[id(one)] = one.requires_grad_() * 1
        return found[id(one)]

    return map_tree(make, value) if leaf == "made" else value


def unlike(instance: Any, original: Any) -> AbstractContextManager[Any]:
    """Give a copied layer's original other weights inside the block: they must not be shared."""
    if instance is original or not isinstance(original, torch.nn.Module):
        return contextlib.nullcontext()
    return changed(list(original.parameters()))


@contextlib.contextmanager
def frozen(model: Any, which: str = "", number: int = 0) -> Iterator[None]:
    """Freeze all parameters of a module inside the block, or one, or all but one.

    Args:
        model: An instance of any class.
        which: What is frozen: `yes` for all, `one`, a `map` with its bias, `all but one`, or empty
            for none.
        number: Which one, modulo their count.
    """
    learning = []
    if which and isinstance(model, torch.nn.Module):
        every = dict(model.named_parameters())
        names = frozen_names([*every], which, number)
        learning = [every[name] for name in names if every[name].requires_grad]
    for one in learning:
        one.requires_grad_(False)
    try:
        yield
    finally:
        for one in learning:
            one.requires_grad_(True)


@contextlib.contextmanager
def in_training(model: Any) -> Iterator[None]:
    """Let a module be in training mode inside the block."""
    is_module = isinstance(model, torch.nn.Module)
    if is_module:
        model.train()
    try:
        yield
    finally:
        if is_module:
            model.eval()


def another(
    instance: Any,
    kind: str,
    call: Callable[..., Any],
    number: int = 0,
    make: Callable[[], Any] | None = None,
) -> Any:
    """Return an equal copy of a layer, or the instance itself if it is no module or not copyable.

    Args:
        instance: What the submission's class made.
        kind: `copy`, `loaded` from its `state_dict`, or `moved` to another dtype and back.
        call: Makes the coming call with another instance, in another dtype if one is given.
        number: Says how it is loaded, and to which dtype it is moved.
        make: Makes an instance as the first one was made; every second time it is a new one that
            is loaded, or called in another dtype first.
    """
    if not kind or not isinstance(instance, torch.nn.Module):
        return instance
    is_loaded = kind == "loaded"
    kept = next((one.dtype for one in instance.parameters()), torch.float32)
    fresh = None
    if kind != "copy" and make is not None and number % 2 == is_loaded:
        fresh = _new(instance, make, kept)
    if is_loaded and fresh is not None:
        with contextlib.suppress(Exception):  # a buffer may grow with what it is called with
            call(instance)
        fresh.load_state_dict(_state(instance), assign=number % 4 == 1)
        return fresh
    if fresh is None or not _are_equal(fresh.buffers(), instance.buffers()):
        try:
            state = _state(instance) if is_loaded else {}
            with changed(list(instance.parameters()) if is_loaded else []):
                fresh = copy.deepcopy(instance)
        except Exception:  # its attributes, such as attention weights that it keeps, may refuse
            return instance
        if is_loaded:
            _load(fresh, state, call, number)
    if kind == "moved":
        _move(fresh, dict(instance.named_parameters()), call, kept, number // 2)
    return fresh


def _new(
    instance: torch.nn.Module, make: Callable[[], Any], dtype: torch.dtype
) -> torch.nn.Module | None:
    """Return a new instance in a dtype; None if not all that makes them equal can be loaded."""
    if not _is_all_registered(instance):
        return None
    fresh = make()
    # only a call tells the shapes of lazy ones
    return None if any(map(is_lazy, fresh.parameters())) else fresh.to(dtype)


def _state(instance: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: one.clone() for name, one in instance.state_dict().items()}


def _move(
    other: torch.nn.Module,
    parameters: dict[str, Any],
    call: Callable[..., Any],
    kept: torch.dtype,
    number: int,
) -> None:
    """Call a layer in another dtype, and give it its own dtype and numbers again."""
    numbers = {name: one.detach().clone() for name, one in parameters.items()}
    dtypes = [one for one in _MOVED if one is not kept]
    dtype = dtypes[number % len(dtypes)]
    other.to(dtype)
    with contextlib.suppress(Exception):  # its result does not matter
        call(other, dtype)
    other.to(kept)
    _set(dict(other.named_parameters()), numbers)


def _are_equal(some: Iterable[torch.Tensor], others: Iterable[torch.Tensor]) -> bool:
    both = itertools.zip_longest(some, others)
    return all(one is not None and other is not None and one.equal(other) for one, other in both)


def called_in(dtype: Any, target: Target, args: Any, kwargs: Any) -> Any:
    """Return a call's result, with floating inputs in another dtype if it is not None."""

    def made(one: Any) -> Any:
        is_floating = isinstance(one, torch.Tensor) and one.is_floating_point()
        return one.detach().to(dtype) if is_floating and dtype is not None else one

    return target(*map_tree(made, args), **map_tree(made, kwargs))


def _is_all_registered(module: torch.nn.Module) -> bool:
    """Return whether a module keeps no arrays but parameters and buffers, which could be loaded."""
    registered = {id(one) for one in (*module.parameters(), *module.buffers())}
    return all(id(one) in registered for one in arrays_of(module))


def _load(
    other: torch.nn.Module, state: dict[str, Any], call: Callable[[Any], Any], number: int
) -> None:
    """Let a layer hold other numbers, call it, and give it those of a `state_dict`.

    These are copied into its parameters, or become its parameters; or they are set in place, after
    the others were loaded.
    """
    parameters = dict(other.named_parameters())
    half = {name: one.detach() * 0.5 for name, one in parameters.items()}
    loads_last = number % 3 < 2
    if loads_last:
        _set(parameters, half)
    else:
        other.load_state_dict({**state, **half})
    with contextlib.suppress(Exception):  # its result does not matter
        call(other)
    if loads_last:
        other.load_state_dict(state, assign=number % 3 == 1)
    else:
        _set(parameters, state)


def _set(parameters: dict[str, Any], numbers: dict[str, Any]) -> None:
    with torch.no_grad():
        for name, one in parameters.items():
            one.copy_(numbers[name])


def rehearse(
    before: str, mode: str, target: Target, args: Any, kwargs: Any, model: Any, number: int = 0
) -> None:
    """Do what comes before a call. What the submission raises or returns here does not matter.

    Args:
        before: What to do, such as `error` or `other weights`; empty for nothing.
        mode: The gradient mode of the call itself.
        target: What is called.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        model: The instance that is called; None for a function.
        number: Which weights are others, if it is odd: one alone.
    """
    if not before:
        return
    with contextlib.suppress(Exception):
        if before in ("inference", "no_grad"):
            with torch.inference_mode() if before == "inference" else torch.no_grad():
                target(*args, **kwargs)
        elif before == "other shape":
            for change in (_with_axes_exchanged, _with_another_axis):  # whichever is no error
                with contextlib.suppress(Exception), gradient_mode(mode):
                    target(*map_tree(change, args), **map_tree(change, kwargs))
        elif before == "filled":
            _overwrite(lambda: target(*args, **kwargs), mode, list(arrays((args, kwargs))))
        elif before == "error":
            with gradient_mode(mode):
                _raise_there(target, args, kwargs)
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
        elif (held := _changing(before, args, kwargs, model, number)) or before != "other weights":
            other = _rolled if before == "rolled numbers" else _other_numbers
            with changed(held, other), gradient_mode(mode):
                target(*args, **kwargs)


def _with_axes_exchanged(leaf: Any) -> Any:
    """Return the same numbers in memory with the sizes of the first two of three axes exchanged."""
    if not _is_floating(leaf) or leaf.ndim < 3:
        return leaf
    first, second, *others = leaf.shape
    return _detached(leaf).reshape(second, first, *others)


def _with_another_axis(leaf: Any) -> Any:
    return _detached(leaf)[None] if _is_floating(leaf) and leaf.ndim else leaf


def _overwrite(call: Callable[[], Any], mode: str, inputs: list[Any]) -> None:
    """Overwrite a call's result, as a caller may; restore the inputs that it may be a view of."""
    given = [_at_its_own(as_tensor(one).detach()) for one in inputs]
    kept = [one.clone() for one in given]
    with gradient_mode(mode):
        result = call()
    with torch.no_grad():
        for one in map(as_tensor, arrays(result)):
            one.detach().fill_(torch.nan if one.is_floating_point() else 1)
        for one, before in zip(given, kept, strict=True):
            one.copy_(before)


def _at_its_own(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor without what is the same in memory, so that it can be written to."""
    for axis, stride in enumerate(tensor.stride()):
        tensor = tensor if stride else tensor.narrow(axis, 0, 1)
    return tensor


def _raise_there(target: Target, args: Any, kwargs: Any) -> None:
    """Make two calls that may raise: all is less wide, and the last input has fewer positions.

    What is looked at first raises in the one, and what comes late in the other.
    """
    with contextlib.suppress(Exception):
        target(*map_tree(_narrower, args), **map_tree(_narrower, kwargs))
    long = [one for one in arrays((args, kwargs)) if _is_floating(one) and one.ndim > 1]
    number = itertools.count(1)

    def shorter(leaf: Any) -> Any:
        is_last = _is_floating(leaf) and leaf.ndim > 1 and next(number) == len(long)
        return _of_another_size(leaf, -2) if is_last else leaf

    target(*map_tree(shorter, args), **map_tree(shorter, kwargs))


def _narrower(leaf: Any) -> Any:
    """Return a floating tensor, or an array, cut by one along the last axis; others as they are."""
    return _of_another_size(leaf, -1) if _is_floating(leaf) and leaf.ndim else leaf


def _of_another_size(leaf: Any, axis: int) -> Any:
    """Return a tensor, or an array, cut by one along an axis, or with two of an only one.

    A size of 0 would make an answer warn of what no caller does.
    """
    kept = [0, 0] if leaf.shape[axis] == 1 else slice(-1)
    return _detached(leaf)[(..., kept, *[slice(None)] * (-1 - axis))]


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, numpy.ndarray) or (
        isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    )


def _detached(leaf: Any) -> Any:
    return leaf.detach() if isinstance(leaf, torch.Tensor) else leaf


def follow(after: str, mode: str, target: Target, args: Any, kwargs: Any) -> None:
    """Make more calls, with other numbers in other tensors, and ignore their results.

    The first have inputs of the same shapes; then axes -3 and -2 are exchanged, and then flags are
    the other way round. They must not change the result of the call before them, nor its gradients.

    Args:
        after: Whether there are any: one `call` of the same shapes, or several `calls`, or many, in
            case results take turns in buffers.
        mode: The gradient mode of the call before them.
        target: What is called.
        args: The positional arguments of the call before them.
        kwargs: Its keyword arguments.
    """
    made: dict[tuple[int, bool], Any] = {}

    def other(leaf: Any, turned: bool, flips: bool) -> Any:
        if isinstance(leaf, bool):
            return leaf is not flips
        if not isinstance(leaf, (torch.Tensor, numpy.ndarray)):
            return leaf
        key = (id(leaf), turned)
        if key not in made:
            tensor = as_tensor(leaf)
            numbers = _other_numbers(tensor.detach()) if tensor.numel() > 1 else tensor.clone()
            if turned and tensor.dim() > 2:
                numbers = numbers.transpose(-3, -2).contiguous()
            numbers.requires_grad_(tensor.requires_grad)
            made[key] = _as_given(leaf, numbers)
        return made[key]

    calls = [(False, False)] * _TURNS.get(after, 0) + [(True, False), (False, True)]
    for turned, flips in calls if after else ():
        change = functools.partial(other, turned=turned, flips=flips)
        with contextlib.suppress(Exception), gradient_mode(mode):
            target(*map_tree(change, args), **map_tree(change, kwargs))


def _changing(before: str, args: Any, kwargs: Any, model: Any, number: int) -> list[Any]:
    """Return the arrays that hold other numbers in an earlier call."""
    if before in ("other numbers", "rolled numbers"):
        return list(arrays((args, kwargs)))
    if before != "other weights":
        return []
    if isinstance(model, torch.nn.Module):
        every: list[Any] = list(model.parameters())
    else:
        every = [one for one in arrays_of(model) if as_tensor(one).is_floating_point()]
    return [every[number // 2 % len(every)]] if number % 2 and every else every


@contextlib.contextmanager
def changed(
    arrays: list[Any], other: Callable[[torch.Tensor], torch.Tensor] | None = None
) -> Iterator[None]:
    """Let the same objects hold other numbers inside the block."""
    tensors = {id(one): as_tensor(one) for one in arrays}
    writable = [one for one in tensors.values() if 0 not in one.stride() and one.numel() > 1]
    kept = [one.detach().clone() for one in writable]
    for one in writable:  # by `data`, so that no version counter tells of it
        one.data.copy_((other or _other_numbers)(one.detach()))
    try:
        yield
    finally:
        for one, before in zip(writable, kept, strict=True):
            one.data.copy_(before)


def _other_numbers(tensor: torch.Tensor) -> torch.Tensor:
    """Return other numbers of the same shape and dtype; for a boolean mask, another mask."""
    other = _rolled(tensor)
    return other * 0.5 + 0.25 if other.is_floating_point() else other


def _rolled(tensor: torch.Tensor) -> torch.Tensor:
    """Return the same numbers in another order, along the longest axis."""
    return tensor.roll(1, max(range(tensor.dim()), key=lambda axis: tensor.shape[axis]))


def as_tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(array) if isinstance(array, numpy.ndarray) else array


def _as_given(array: Any, tensor: torch.Tensor) -> Any:
    """Return a tensor, as a NumPy array if it replaces one."""
    return tensor.numpy() if isinstance(array, numpy.ndarray) else tensor


def arrays(tree: Any) -> Iterator[Any]:
    if isinstance(tree, (torch.Tensor, numpy.ndarray)):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from arrays(item)
    elif isinstance(tree, dict):
        yield from arrays(list(tree.values()))


def _tensors(tree: Any) -> list[torch.Tensor]:
    """Return the tensors of a tree, each once."""
    found = [one for one in arrays(tree) if isinstance(one, torch.Tensor)]
    return list({id(one): one for one in found}.values())


def _backward(result: Any) -> None:
    outputs = [one for one in _tensors(result) if one.requires_grad]
    if outputs:
        sum(one.double().sum() for one in outputs).backward(retain_graph=True)  # type: ignore[union-attr]


def _clear(args: Any, kwargs: Any, model: Any) -> None:
    learned = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    for one in [*_tensors((args, kwargs)), *learned]:
        one.grad = None
