"""Instances of the candidate's classes: their parameters, found and set by path."""

import contextlib
import enum
import inspect
import itertools
import math
import types
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence
from functools import partial
from typing import Any, NamedTuple

import numpy
import torch

from mha_judge.wire.bounds import MAX_PARAMETERS
from mha_judge.worker.memory import behind_others
from mha_judge.worker.submission import MODULE

MAX_DEPTH = 16
MAX_NAME = 200
_BY_KEY = (MutableMapping, types.MappingProxyType)
_IN_ORDER = (MutableSequence, tuple)


class _Place(NamedTuple):
    """Where an array is kept."""

    path: str
    array: Any
    owner: str
    """The torch class that holds the array (`Linear`), or empty if the candidate's code does."""
    put: Callable[[Any], None]
    """Puts another array there."""


def entry_of(instance: Any) -> Callable[..., Any]:
    """Return what to call: the instance itself, or its `forward` if it is not callable."""
    if callable(instance):
        return instance  # type: ignore[no-any-return]  # whatever the file defines
    return instance.forward  # type: ignore[no-any-return]  # whatever the file defines


def parameters(instance: Any) -> list[dict[str, Any]]:
    """Return every array that can be set, at each path that leads to it, in order of definition.

    `shape` is None for a lazy parameter that no call has given a shape yet. `start` says that a
    vector holds only `ones` or only `zeros`. Paths with the same `number` lead to the same plain
    array. A parameter or module of torch is listed once, as registering it twice means sharing it,
    and a parameter has no number. Other attributes of an ordinary instance follow as `bare`.
    """
    found = _found(instance)  # keeps all arrays alive, so that no two have the same id
    numbers: dict[int, int] = {}
    known = {place.path for place in found}
    bare = [name for name in _settable(instance) if name not in known and len(name) <= MAX_NAME]
    return [
        {
            "path": place.path,
            "shape": _shape(place.array),
            "owner": place.owner,
            "start": _start(place.array),
            "number": None
            if isinstance(place.array, torch.nn.Parameter)
            else numbers.setdefault(id(place.array), len(numbers)),
        }
        for place in found
    ] + [
        {"path": name, "shape": None, "owner": "", "bare": True}
        for name in bare[: MAX_PARAMETERS - len(found)]
    ]


def arrays_of(instance: Any) -> list[Any]:
    """Return every array that can be set."""
    return [place.array for place in _found(instance)]


def _settable(instance: Any) -> list[str]:
    """Return the names of an ordinary instance's data attributes, those of its classes first."""
    if isinstance(instance, torch.nn.Module) or not _is_own(instance):
        return []
    own = [base for base in type(instance).__mro__ if base.__module__ == MODULE]
    names = [name for base in own for name, item in vars(base).items() if not callable(item)]
    names += [name for name, _ in _attributes(instance)]
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def _is_outside(array: Any, path: str) -> bool:
    """Return whether this is a NumPy array in an attribute of the instance itself."""
    return isinstance(array, numpy.ndarray) and "." not in path


def _set_from_outside(instance: Any, name: str, array: Any) -> None:
    """Set an attribute as a user of the class does; the class may refuse or ignore it."""
    before = _read(instance, name)
    try:
        setattr(instance, name, array)
    except Exception as error:
        raise AttributeError(f"`{name}` cannot be set from outside: {error}") from error
    after = _read(instance, name)
    if numpy.array_equal(before, after) and not numpy.array_equal(after, array):
        raise AttributeError(f"`{name}` cannot be set from outside: it stays as it was")


def _read(instance: Any, name: str) -> Any:
    """Return a copy of what an attribute holds; NaN, which equals nothing, if it cannot be read."""
    try:
        found = getattr(instance, name)
        if isinstance(found, torch.Tensor):
            found = found.detach().cpu().numpy()
        return numpy.array(found)
    except Exception:
        return numpy.nan


def set_parameters(
    instance: Any,
    values: Mapping[str, Any],
    dtype: str | None,
    aliases: Mapping[str, str],
    *,
    in_place: bool = False,
    elsewhere: bool = False,
) -> None:
    """Cast the instance to `dtype`, then put `values` into its arrays by path.

    Args:
        instance: Of the candidate's class.
        values: Tensors by path.
        dtype: The name of one of torch's, or None to leave the instance as it is.
        aliases: Further paths, each with the path whose array it gets too.
        in_place: Whether arrays that are no parameters of torch's keep their identity, where they
            can; else others take their places.
        elsewhere: Whether the numbers of torch's parameters lie in other memory from now on.

    Raises:
        AttributeError: If an attribute cannot be set.
    """
    wanted = getattr(torch, dtype) if dtype else None
    if wanted is not None:
        for module in modules(instance):
            module.to(wanted)
            _cast_plain_attributes(module, wanted)
    places = {place.path: place for place in _found(instance)}
    fresh = {}
    with torch.no_grad():
        for path, value in values.items():
            array = places[path].array if path in places else None
            if in_place and not aliases and _is_set_in_place(instance, path, array, value):
                continue
            if array is None or _is_outside(array, path):
                fresh[path] = value.to(wanted or value.dtype).numpy().copy()
                _set_from_outside(instance, path, fresh[path])
            elif isinstance(array, torch.nn.Parameter):
                array.data = array.data.to(wanted or array.dtype)  # not cast if in no module
                array.data = behind_others(array.data) if elsewhere else array.data
                array.data.copy_(value)
            else:
                fresh[path] = _like(array, value, wanted)
                places[path].put(fresh[path])
        for path, first in aliases.items():
            places[path].put(fresh[first])


def _cast_plain_attributes(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """Cast tensors kept as plain attributes, such as `self.scale`, which `Module.to` leaves."""
    for part in module.modules():
        for name, value in list(vars(part).items()):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                setattr(part, name, value.to(dtype))


def modules(value: Any, depth: int = 0, seen: set[int] | None = None) -> Iterator[torch.nn.Module]:
    """Yield the modules of torch that an instance of any class is or holds."""
    seen = set() if seen is None else seen
    if id(value) in seen or depth > MAX_DEPTH:
        return
    seen.add(id(value))
    if isinstance(value, torch.nn.Module):
        yield value
    if isinstance(value, _IN_ORDER):
        inner = list(value)
    elif isinstance(value, _BY_KEY):
        inner = list(value.values())
    elif _is_own(value):
        inner = [item for _, item in _attributes(value)]
    else:
        return
    for item in inner[:MAX_PARAMETERS]:
        yield from modules(item, depth + 1, seen)


def _like(array: Any, value: torch.Tensor, dtype: torch.dtype | None) -> Any:
    if isinstance(array, numpy.ndarray):
        return value.to(dtype or value.dtype).numpy().copy()
    fresh = value.to(dtype or array.dtype).clone()
    return fresh.requires_grad_(array.requires_grad)


def _is_set_in_place(instance: Any, path: str, array: Any, value: torch.Tensor) -> bool:
    """Write other numbers into an array where it lies; False if it does not take or keep them.

    What a property gave before may be stored no longer, so an attribute is read anew.
    """
    if "." in path:
        return _is_written(array, value)
    if not _is_written(getattr(instance, path, None), value):
        return False
    kept = getattr(instance, path, None)
    return _is_array(kept) and torch.equal(torch.as_tensor(kept), value)


def _is_written(array: Any, value: torch.Tensor) -> bool:
    """Write other numbers into an array that is no parameter of torch's, if it takes them."""
    if isinstance(array, torch.nn.Parameter):
        return False
    if isinstance(array, numpy.ndarray):
        if not array.flags.writeable:
            return False
        array = torch.from_numpy(array)
    if not isinstance(array, torch.Tensor) or not array.is_contiguous():
        return False
    if array.shape != value.shape or array.dtype is not value.dtype:
        return False
    array.copy_(value)
    return True


def _found(instance: Any) -> list[_Place]:
    """Return the places whose path is short enough to report, the first place of each path."""
    walked = itertools.islice(_walk(instance, "", _keep, 0, set()), MAX_PARAMETERS)
    places: dict[str, _Place] = {}
    for place in walked:
        if len(place.path) <= MAX_NAME:
            places.setdefault(place.path, place)
    return list(places.values())


def _keep(value: Any) -> None:
    """Put nothing: an instance itself has no place."""


def _walk(
    value: Any, path: str, put: Callable[[Any], None], depth: int, seen: set[int]
) -> Iterator[_Place]:
    if id(value) in seen or depth > MAX_DEPTH:
        return
    if isinstance(value, torch.nn.Module):
        for prefix, child in value.named_modules():
            if id(child) not in seen:
                seen.add(id(child))
                yield from _walk_object(child, _join(path, prefix), depth, seen)
    elif _is_array(value):
        if isinstance(value, torch.nn.Parameter):
            seen.add(id(value))
        yield _Place(path, value, "", put)
    elif isinstance(value, _IN_ORDER + _BY_KEY):
        seen.add(id(value))  # it may hold itself
        yield from _walk_items(value, path, put, depth, seen)
        seen.remove(id(value))  # at another path it is listed again
    elif _is_own(value):
        seen.add(id(value))
        yield from _walk_object(value, path, depth, seen)


def _walk_items(
    value: Any, path: str, put: Callable[[Any], None], depth: int, seen: set[int]
) -> Iterator[_Place]:
    by_key = isinstance(value, _BY_KEY)
    fixed = not isinstance(value, (MutableMapping, MutableSequence))
    items = (dict(value) if by_key else list(value)) if fixed else value
    pairs = value.items() if by_key else enumerate(value)
    for key, item in list(itertools.islice(pairs, MAX_PARAMETERS)):
        into = partial(items.__setitem__, key)
        if fixed:
            into = partial(_put_into_fixed, value, items, key, put)
        yield from _walk(item, _join(path, _word(key)), into, depth + 1, seen)


def _word(key: Any) -> str:
    """Return a key as part of a path: `("q", 0)` as `q_0`."""
    if isinstance(key, tuple):
        return "_".join(map(_word, key))
    return str(key.name if isinstance(key, enum.Enum) else key)


def _walk_object(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[_Place]:
    """Yield the arrays of properties and attributes, but not those that a property stores in."""
    before = set(seen)
    stored = list(_stored(value, path, depth, seen))
    shown, hidden = _shown(value, lambda: list(_stored(value, path, depth, set(before))))
    for name, array in shown.items():
        yield _Place(_join(path, name), array, "", partial(_assign, value, name))
    yield from (place for place in stored if place.path not in hidden)


def _is_own(value: Any) -> bool:
    return type(value).__module__ == MODULE or isinstance(value, types.SimpleNamespace)


def _stored(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[_Place]:
    if isinstance(value, torch.nn.Module):
        for name, parameter in value.named_parameters(recurse=False):
            if id(parameter) not in seen and not _is_constant(parameter):
                seen.add(id(parameter))
                put = partial(setattr, value, name)
                yield _Place(_join(path, name), parameter, _owner(value), put)
    for name, item in _attributes(value):
        yield from _walk(item, _join(path, name), partial(_assign, value, name), depth + 1, seen)


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """Return an instance's attributes by name, slots included; of a module, no private ones."""
    own = [base for base in reversed(type(value).__mro__) if base.__module__ == MODULE]
    names = [name for base in own for name in _slots(base) if hasattr(value, name)]
    inside = vars(value) if hasattr(value, "__dict__") else {}
    private = "_" if isinstance(value, torch.nn.Module) else ()
    names += [name for name in inside if not name.startswith(private)]
    return [(name, inside[name] if name in inside else getattr(value, name)) for name in names]


def _slots(cls: type) -> list[str]:
    """Return a class's slots in the order declared; `vars` of the class has them sorted."""
    declared = vars(cls).get("__slots__", ())
    names = [declared] if isinstance(declared, str) else list(declared)
    mangled = f"_{cls.__name__.lstrip('_')}__"
    names = [
        name.replace("__", mangled, 1) if name.startswith("__") else name
        for name in names
        if isinstance(name, str)
    ]
    return [name for name in names if inspect.ismemberdescriptor(vars(cls).get(name))]


def _shown(value: Any, stored: Callable[[], list[_Place]]) -> tuple[dict[str, Any], set[str]]:
    """Return the arrays of settable properties, and the paths of arrays that they set entirely.

    A property may return the array that it stores, a view of it, or a copy. So each is set to
    zeros, to ones, and back: the property stores in the arrays that change in between. If one of
    these is a parameter of torch, the property is only another name for it, and left out.
    """
    shown: dict[str, Any] = {}
    reached: dict[str, torch.Tensor] = {}
    for name in _properties(value):
        with contextlib.suppress(Exception):  # one that cannot be read or set is no place
            array = getattr(value, name)
            if not _is_array(array) or isinstance(array, torch.nn.Parameter):
                continue
            start = torch.as_tensor(array).detach().clone()
            setattr(value, name, _like(array, torch.zeros_like(start), start.dtype))
            zeros, nothing = _numbers(stored()), _read(value, name)
            parameters = [p.path for p in stored() if isinstance(p.array, torch.nn.Parameter)]
            setattr(value, name, _like(array, torch.ones_like(start), start.dtype))
            ones = _numbers(stored())
            ignored = numpy.array_equal(nothing, _read(value, name))
            setattr(value, name, _like(array, start, start.dtype))
            if ignored:  # setting has no effect
                continue
            changed = {path: ones[path] != numbers for path, numbers in zeros.items()}
            if any(path in parameters and where.any() for path, where in changed.items()):
                continue
            shown[name] = array
            for path, where in changed.items():
                reached[path] = where | reached.get(path, torch.tensor(False))
    return shown, {path for path, where in reached.items() if where.all()}


def _properties(value: Any) -> list[str]:
    """Return the properties, and other descriptors with a setter, that the file itself defines."""
    return [
        name
        for base in reversed(type(value).__mro__)
        if base.__module__ == MODULE
        for name, item in vars(base).items()
        if hasattr(type(item), "__set__") and not inspect.ismemberdescriptor(item)
    ]


def _numbers(places: list[_Place]) -> dict[str, torch.Tensor]:
    """Return a copy of each array that already has a shape."""
    return {
        place.path: torch.as_tensor(place.array).detach().clone().nan_to_num()
        for place in places
        if _shape(place.array) is not None
    }


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


def _start(array: Any) -> str | None:
    """Return `ones` or `zeros` if a vector holds nothing else; it hints at what it is for."""
    shape = _shape(array)
    if not shape or not 0 < math.prod(shape) == max(shape):
        return None
    if isinstance(array, torch.Tensor) and array.is_meta:  # it has a shape and no numbers
        return None
    if bool((array == 1).all()):
        return "ones"
    return "zeros" if bool((array == 0).all()) else None


def _assign(holder: Any, name: str, value: Any) -> None:
    try:
        setattr(holder, name, value)
    except AttributeError:  # a frozen dataclass
        object.__setattr__(holder, name, value)


def _put_into_fixed(old: Any, items: Any, key: Any, put: Callable[[Any], None], value: Any) -> None:
    """Replace a tuple, or read-only dict, by a new one with this item and those put before."""
    items[key] = value
    put(type(old)(*items) if hasattr(old, "_fields") else type(old)(items))
