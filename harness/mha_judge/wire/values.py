"""Values as trees of JSON, with tensors beside them.

    None · True · 3 · 0.5 · "text" · list · tuple · dict · torch.Tensor · numpy.ndarray

A tensor that is not contiguous arrives as a strided view again: its axes lie in memory in the
same order, with gaps where it had gaps.

A node is a list whose first item names its kind: `["int", "3"]`, `["tensor", "0"]`. Integers
travel as decimal text and floats as hexadecimal text, so that both arrive exactly and NaN and
infinity need no extension of JSON. Two kinds travel in one direction only: `Kept`, from judge to
worker, names an object that a call returned earlier; `Opaque`, from worker to judge, stands for
an object that cannot cross and says what it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mha_judge.wire.frames import WireError

if TYPE_CHECKING:
    import torch

MAX_DEPTH = 16
MAX_NODES = 20_000
MAX_TEXT = 16_384
MAX_DIGITS = 1_000
MAX_TENSOR_BYTES = 256 * 1024**2
DTYPES = (
    "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64"
).split()


@dataclass(frozen=True)
class Kept:
    """An object that the worker has kept: the answer of call `call`, then `path` into it."""

    call: int
    path: tuple[int, ...] = ()


@dataclass(frozen=True)
class Opaque:
    """Something that the submission returned and that cannot be looked at."""

    what: str


def pack(value: object) -> tuple[Any, bytes]:
    """Return the tree of `value` and the safetensors bytes of the tensors in it."""
    tensors: dict[str, torch.Tensor] = {}
    budget = [MAX_NODES, MAX_TENSOR_BYTES]
    tree = _pack(value, tensors, budget, 0)
    if not tensors:
        return tree, b""
    from safetensors.torch import save

    return tree, save(tensors)


def unpack(tree: object, payload: bytes) -> object:
    """Return the value of a tree.

    Raises:
        WireError: If tree or payload is not what `pack` makes.
    """
    tensors: dict[str, torch.Tensor] = {}
    if payload:
        from safetensors.torch import load

        try:
            tensors = load(payload)
        except Exception as error:  # the parser is the library's: whatever it raises is bad bytes
            raise WireError("tensor bytes that do not parse") from error
    return _unpack(tree, tensors, [MAX_NODES], 0)


def _pack(value: object, tensors: dict[str, torch.Tensor], budget: list[int], depth: int) -> Any:
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0:
        return ["opaque", "a value nested or filled beyond every bound"]
    kind = type(value)
    if value is None:
        return ["none"]
    if kind is bool:
        return ["bool", value]
    if isinstance(value, int) and kind in (int,):
        return _pack_int(value)
    if isinstance(value, float) and kind is float:
        return ["float", value.hex()]
    if isinstance(value, str) and kind is str:
        # a lone surrogate is not text that JSON can carry
        return ["str", value[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")]
    if isinstance(value, Kept):
        return ["kept", value.call, list(value.path)]
    if isinstance(value, Opaque):
        return ["opaque", value.what[:MAX_TEXT]]
    if isinstance(value, dict) and kind is dict:
        items = list(value.items())[: budget[0] + 1]
        return ["dict", [[_pack(part, tensors, budget, depth + 1) for part in i] for i in items]]
    if isinstance(value, (list, tuple)):
        name = "tuple" if isinstance(value, tuple) else "list"
        return [name, [_pack(item, tensors, budget, depth + 1) for item in value[: budget[0] + 1]]]
    return _pack_array(value, tensors, budget)


def _pack_int(value: int) -> Any:
    if value.bit_length() > 3 * MAX_DIGITS:
        return ["opaque", f"an integer of {value.bit_length()} bits"]
    return ["int", str(value)]


def _pack_array(value: object, tensors: dict[str, torch.Tensor], budget: list[int]) -> Any:
    import numpy
    import torch

    if isinstance(value, numpy.generic):
        scalar = value.item()
        if type(scalar) in (bool, int, float):
            return _pack(scalar, tensors, budget, 0)
    if type(value) is numpy.ndarray:
        if value.dtype.name not in DTYPES or value.dtype.name == "bfloat16":
            return ["opaque", f"a numpy array of dtype {value.dtype.name[:50]}"]
        if value.size * value.itemsize > budget[1]:
            return ["opaque", f"a numpy array of {value.size} elements"]
        value = torch.from_numpy(numpy.array(value, order="C", copy=True))
        return _pack_tensor("array", value, tensors, budget)
    if isinstance(value, torch.Tensor):
        return _pack_plain("tensor", value, tensors, budget)
    return ["opaque", f"an object of type {type(value).__name__[:100]}"]


def _pack_plain(
    kind: str, value: torch.Tensor, tensors: dict[str, torch.Tensor], budget: list[int]
) -> Any:
    import torch

    with torch._C.DisableTorchFunctionSubclass():
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            return ["opaque", f"a tensor subclass, {type(value).__name__[:100]}"]
        if value.layout is not torch.strided or value.is_quantized:
            return ["opaque", "a tensor that is sparse or quantised"]
        if value.device.type not in ("cpu", "cuda"):
            return ["opaque", f"a tensor on the device {value.device.type}"]
        if str(value.dtype).removeprefix("torch.") not in DTYPES:
            return ["opaque", f"a tensor of dtype {value.dtype}"]
        return _pack_tensor(kind, value.detach(), tensors, budget)


def _pack_tensor(
    kind: str, value: torch.Tensor, tensors: dict[str, torch.Tensor], budget: list[int]
) -> Any:
    import torch

    size = math.prod(value.shape) * value.element_size()  # a stride of 0 makes storage smaller
    budget[1] -= size
    if budget[1] < 0:
        return ["opaque", f"a tensor of shape {tuple(value.shape)}, more than the bound"]
    name = str(len(tensors))
    order = sorted(range(value.dim()), key=value.stride, reverse=True)
    # a copy of its own: safetensors refuses shared storage, conjugate and negative views
    plain = value.permute(order).resolve_conj().resolve_neg().cpu()
    tensors[name] = plain.clone(memory_format=torch.contiguous_format)
    if kind == "array" or (order == list(range(value.dim())) and value.is_contiguous()):
        return [kind, name]
    return ["strided", name, order, not plain.is_contiguous()]


def _unpack(
    node: object, tensors: dict[str, torch.Tensor], budget: list[int], depth: int
) -> object:
    budget[0] -= 1
    if depth > MAX_DEPTH + 1 or budget[0] < 0:
        raise WireError("a value nested or filled beyond every bound")
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        raise WireError("a node without a kind")
    match node:
        case ["none"]:
            return None
        case ["bool", bool(value)]:
            return value
        case ["int", str(text)] if len(text) <= MAX_DIGITS + 1:
            return _number(int, text)
        case ["float", str(text)] if len(text) <= 40:
            return _number(float.fromhex, text)
        case ["str", str(text)] if len(text) <= MAX_TEXT:
            return text
        case ["opaque", str(text)] if len(text) <= MAX_TEXT:
            return Opaque(text)
        case ["kept", int(call), list(path)] if all(type(step) is int for step in path):
            return Kept(call, tuple(path))
        case ["list", list(items)]:
            return [_unpack(item, tensors, budget, depth + 1) for item in items]
        case ["tuple", list(items)]:
            return tuple(_unpack(item, tensors, budget, depth + 1) for item in items)
        case ["dict", list(items)]:
            return _unpack_dict(items, tensors, budget, depth)
        case ["tensor", str(name)] if name in tensors:
            return tensors[name]
        case ["strided", str(name), list(order), bool(gaps)] if name in tensors:
            return _restride(tensors[name], order, gaps)
        case ["array", str(name)] if name in tensors:
            return tensors[name].numpy()
    raise WireError(f"a node of unknown kind or form: {str(node[0])[:40]!r}")


def _unpack_dict(
    items: list[Any], tensors: dict[str, torch.Tensor], budget: list[int], depth: int
) -> dict[object, object]:
    result: dict[object, object] = {}
    for item in items:
        if not isinstance(item, list) or len(item) != 2:
            raise WireError("a dict entry that is not a pair")
        key = _unpack(item[0], tensors, budget, depth + 1)
        if not isinstance(key, (str, int, float, bool, type(None))):
            key = str(key)[:100]
        result[key] = _unpack(item[1], tensors, budget, depth + 1)
    return result


def _restride(plain: torch.Tensor, order: list[Any], gaps: bool) -> torch.Tensor:
    """Return a view whose axes lie in memory as the sender's did, with gaps if it had any."""
    if sorted(order, key=str) != sorted(range(plain.dim()), key=str):
        raise WireError("an order of axes that is not a permutation")
    if gaps and plain.dim():
        plain = plain.repeat_interleave(2, dim=-1)[..., ::2]
    return plain.permute([order.index(axis) for axis in range(len(order))])


def _number(parse: Callable[[str], float], text: str) -> float:
    try:
        return parse(text)
    except (ValueError, OverflowError) as error:
        raise WireError("a number that does not parse") from error
