"""Instances of the candidate's classes: their parameters, found and set by path."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy
import torch

from mha_judge.worker.submission import MODULE

MAX_DEPTH = 4
MAX_PARAMETERS = 2_000


def entry_of(instance: Any) -> Callable[..., Any]:
    """Return what is called for a result: the instance itself, else its `forward`."""
    if callable(instance):
        return instance  # type: ignore[no-any-return]  # whatever the file defines
    return instance.forward  # type: ignore[no-any-return]  # whatever the file defines


def parameters(instance: Any) -> list[dict[str, Any]]:
    """Return path, shape and owner of every array that can be set, in order of definition.

    `shape` is None for a lazy parameter that no call has given a shape yet. `owner` is the class
    of torch that holds the parameter (`Linear`), or empty where the candidate's own code does.
    """
    return [
        {"path": path, "shape": _shape(array), "owner": owner}
        for path, array, owner in _found(instance)
    ]


def set_parameters(instance: Any, values: Mapping[str, Any], dtype: str | None) -> None:
    """Cast the instance to `dtype`, then copy `values` into its arrays by path.

    Raises:
        KeyError: If a path does not exist.
    """
    wanted = getattr(torch, dtype) if dtype else None
    if wanted is not None:
        for module in modules(instance):
            module.to(wanted)
            _cast_plain_attributes(module, wanted)
    found = {path: array for path, array, _ in _found(instance)}
    with torch.no_grad():
        for path, value in values.items():
            array = found[path]
            if isinstance(array, torch.nn.Parameter):
                array.copy_(value)
            else:
                _replace(instance, path, _like(array, value, wanted))


def _cast_plain_attributes(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """Cast tensors kept as plain attributes, such as `self.scale`, which `Module.to` leaves."""
    for part in module.modules():
        for name, value in list(vars(part).items()):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                setattr(part, name, value.to(dtype))


def modules(value: Any, depth: int = 0) -> Iterator[torch.nn.Module]:
    """Yield the modules of torch that an instance of any class is or holds."""
    if isinstance(value, torch.nn.Module):
        yield value
    if depth > MAX_DEPTH:
        return
    if isinstance(value, (list, tuple)):
        inner = list(value)
    elif isinstance(value, dict):
        inner = list(value.values())
    elif type(value).__module__ == MODULE and hasattr(value, "__dict__"):
        inner = [item for name, item in vars(value).items() if not name.startswith("_")]
    else:
        return
    for item in inner[:MAX_PARAMETERS]:
        yield from modules(item, depth + 1)


def _like(array: Any, value: torch.Tensor, dtype: torch.dtype | None) -> Any:
    if isinstance(array, numpy.ndarray):
        return value.to(dtype or value.dtype).numpy().copy()
    fresh = value.to(dtype or array.dtype).clone()
    return fresh.requires_grad_(array.requires_grad)


def _found(instance: Any) -> list[tuple[str, Any, str]]:
    return list(_walk(instance, "", 0, set()))[:MAX_PARAMETERS]


def _walk(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any, str]]:
    if id(value) in seen or depth > MAX_DEPTH:
        return
    if isinstance(value, torch.nn.Module):
        yield from _walk_module(value, path, depth, seen)
    elif _is_array(value):
        seen.add(id(value))
        yield path, value, ""
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value[:MAX_PARAMETERS]):
            yield from _walk(item, f"{path}.{index}", depth + 1, seen)
    elif isinstance(value, dict):
        for key, item in list(value.items())[:MAX_PARAMETERS]:
            if isinstance(key, str):
                yield from _walk(item, _join(path, key), depth + 1, seen)
    elif type(value).__module__ == MODULE and hasattr(value, "__dict__"):
        seen.add(id(value))
        for name, item in list(vars(value).items()):
            yield from _walk(item, _join(path, name), depth + 1, seen)


def _walk_module(
    module: torch.nn.Module, path: str, depth: int, seen: set[int]
) -> Iterator[tuple[str, Any, str]]:
    registered = False
    for prefix, child in module.named_modules():
        for name, parameter in child.named_parameters(recurse=False):
            registered = True
            if id(parameter) not in seen and not _is_constant(parameter):
                seen.add(id(parameter))
                yield _join(path, _join(prefix, name)), parameter, _owner(child)
    if not registered:  # arrays kept as plain attributes: they cannot be trained, but be graded
        seen.add(id(module))
        for name, item in list(vars(module).items()):
            if not name.startswith("_"):
                yield from _walk(item, _join(path, name), depth + 1, seen)


def _is_constant(parameter: torch.nn.Parameter) -> bool:
    """Return whether a parameter is a frozen number, such as a scale, and nothing to learn."""
    return not parameter.requires_grad and parameter.dim() == 0


def _owner(module: torch.nn.Module) -> str:
    for known in (torch.nn.Linear, torch.nn.Conv1d):
        if isinstance(module, known):
            return known.__name__
    own = type(module).__module__ == MODULE
    return "" if own else type(module).__name__


def _is_array(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.is_floating_point() and value.dim() >= 1
    return isinstance(value, numpy.ndarray) and value.dtype.kind == "f" and value.ndim >= 1


def _shape(array: Any) -> list[int] | None:
    if isinstance(array, torch.nn.parameter.UninitializedParameter):
        return None
    return [int(size) for size in array.shape]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def _replace(instance: Any, path: str, value: Any) -> None:
    """Put `value` where `path` leads."""
    *parents, last = path.split(".")
    holder = instance
    for step in parents:
        holder = _step(holder, step)
    if isinstance(holder, list):
        holder[int(last)] = value
    elif isinstance(holder, dict):
        holder[last] = value
    else:
        setattr(holder, last, value)


def _step(holder: Any, step: str) -> Any:
    if isinstance(holder, (list, tuple)):
        return holder[int(step)]
    if isinstance(holder, dict):
        return holder[step]
    return getattr(holder, step)
