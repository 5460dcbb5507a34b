"""Values as trees of JSON, with tensors beside them.

    None · True · 3 · 0.5 · "text" · list · tuple · dict · torch.Tensor · numpy.ndarray

A tensor of the judge's that is not contiguous arrives as a strided view again, which begins as far
into its memory and has the same gaps. One that is expanded arrives contiguous.

A node is a list whose first item names its kind: `["int", "3"]`, `["tensor", "0"]`. Integers
travel as decimal text and floats as hexadecimal text, so that both arrive exactly and NaN and
infinity need no extension of JSON. Two kinds travel in one direction only: `Kept`, from judge to
worker, names an object that a call returned earlier; `Opaque`, from worker to judge, stands for
an object that cannot cross and says what it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mha_judge.wire.bounds import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_DIMENSIONS,
    MAX_HEADER_BYTES,
    MAX_NODES,
    MAX_QUESTION_BYTES,
    MAX_TENSOR_BYTES,
    MAX_TEXT,
)
from mha_judge.wire.frames import WireError
from mha_judge.wire.trees import map_tree

if TYPE_CHECKING:
    import torch

DTYPES = ("float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64").split()


@dataclass(frozen=True)
class Kept:
    """An object that the worker has kept: the answer of call `call`, then `path` into it.

    Of its tensors only the first `count` along an axis are meant, if that is not 0. If `turned`,
    the caller has put their items in reverse order, in place.
    """

    call: int
    path: tuple[int, ...] = ()
    count: int = 0
    axis: int = 0
    turned: bool = False

    def passed_on(self, found: Any) -> Any:
        """Return what a caller passes on of what was returned: the very object, if it is all."""
        if not (self.count or self.turned):
            return found
        parts = map_tree(self.part_of, found)
        return parts if self.count else found

    def part_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return what is meant of one of its tensors, of which the items are turned if they are."""
        if self.turned:
            tensor.detach().copy_(tensor.detach().flip(0))
        return tensor.narrow(self.axis, 0, self.count) if self.count else tensor


@dataclass(frozen=True)
class Opaque:
    """Something that the submission returned and that cannot be looked at."""

    what: str


@dataclass
class _Packing:
    """What one value has taken so far."""

    strides: bool
    bytes_left: int
    nodes_left: int = MAX_NODES
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    packed: dict[int, Any] = field(default_factory=dict)
    """Nodes of tensors and arrays by identity: one that is given twice arrives as one."""


@dataclass
class _Unpacking:
    """What of one payload has been used so far."""

    tensors: dict[str, torch.Tensor]
    strides: bool
    nodes_left: int = MAX_NODES
    made: dict[str, torch.Tensor] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)


def pack(value: object, strides: bool = False) -> tuple[Any, bytes]:
    """Return the tree of `value` and the safetensors bytes of the tensors in it.

    Args:
        value: Anything; what cannot cross becomes `Opaque`.
        strides: Let tensors arrive with their axes in memory as they are here, and shared where
            they are shared here. Only the judge asks for this.
    """
    state = _Packing(strides, MAX_QUESTION_BYTES if strides else MAX_TENSOR_BYTES)
    tree = _pack(value, state, 0)
    return tree, _save(state.tensors) if state.tensors else b""


def _save(tensors: dict[str, torch.Tensor]) -> bytes:
    """Return the safetensors bytes of tensors that lie on the CPU without gaps."""
    from safetensors import TensorSpec, serialize

    return serialize({
        name: TensorSpec(
            dtype=_name(one.dtype), shape=one.shape, data_ptr=one.data_ptr(), data_len=one.nbytes
        )
        for name, one in tensors.items()
    })  # fmt: skip


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def unpack(tree: object, payload: bytes, strides: bool = False) -> object:
    """Return the value of a tree.

    Args:
        tree: What `pack` made.
        payload: The bytes beside it.
        strides: Accept strided and shared tensors. Only the worker does: it trusts the judge,
            while a worker's reply could name one tensor many times and have it copied as often.

    Raises:
        WireError: If tree or payload is not what `pack` makes.
    """
    try:
        return _unpack(tree, _Unpacking(_load(payload), strides), 0)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise WireError("a tensor that cannot be rebuilt") from error


def _load(payload: bytes) -> dict[str, torch.Tensor]:
    if not payload:
        return {}
    header_bytes = int.from_bytes(payload[:8], "little")  # safetensors starts with this length
    if header_bytes > MAX_HEADER_BYTES:
        raise WireError("more tensors than a value may hold")
    from safetensors.torch import load

    try:
        return load(payload)
    except Exception as error:  # the parser is the library's: whatever it raises is bad bytes
        raise WireError("tensor bytes that do not parse") from error


def _pack(value: object, state: _Packing, depth: int) -> Any:
    state.nodes_left -= 1
    if depth > MAX_DEPTH or state.nodes_left < 0:
        return ["opaque", "a value nested or filled beyond every bound"]
    kind = type(value)
    if value is None:
        return ["none"]
    if kind is bool:
        return ["bool", value]
    if isinstance(value, int) and kind is int:
        return _pack_int(value)
    if isinstance(value, float) and kind is float:
        return ["float", value.hex()]
    if isinstance(value, str) and kind is str:
        # a lone surrogate is not text that JSON can carry
        return ["str", value[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")]
    if isinstance(value, Kept):
        return ["kept", value.call, list(value.path), value.count, value.axis, value.turned]
    if isinstance(value, Opaque):
        return ["opaque", value.what[:MAX_TEXT]]
    if isinstance(value, dict) and kind is dict:
        items = list(value.items())[: state.nodes_left + 1]
        return ["dict", [[_pack(part, state, depth + 1) for part in item] for item in items]]
    if isinstance(value, (list, tuple)):
        name = "tuple" if isinstance(value, tuple) else "list"
        items = list(value[: state.nodes_left + 1])
        return [name, [_pack(item, state, depth + 1) for item in items]]
    return _pack_array(value, state)


def _pack_int(value: int) -> Any:
    if value.bit_length() > 3 * MAX_DIGITS:
        return ["opaque", f"an integer of {value.bit_length()} bits"]
    return ["int", str(value)]


def _pack_array(value: object, state: _Packing) -> Any:
    import numpy
    import torch

    if isinstance(value, numpy.generic):
        scalar = value.item()
        if type(scalar) in (bool, int, float):
            return _pack(scalar, state, 0)
    if type(value) is numpy.ndarray:
        if value.dtype.name not in DTYPES or value.dtype.name == "bfloat16":
            return ["opaque", f"a numpy array of dtype {value.dtype.name[:50]}"]
        if value.size * value.itemsize > state.bytes_left:
            return ["opaque", f"a numpy array of {value.size} elements"]
        if state.strides:
            if id(value) not in state.packed:
                state.packed[id(value)] = ["asarray", _pack_plain(torch.from_numpy(value), state)]
            return state.packed[id(value)]
        native = value.dtype.newbyteorder("=")  # the only order of bytes that torch takes
        plain = numpy.array(value, dtype=native, order="C")
        return _pack_tensor("array", torch.from_numpy(plain), state)
    if isinstance(value, torch.Tensor):
        if state.strides and id(value) in state.packed:
            return state.packed[id(value)]
        node = _pack_plain(value, state)
        state.packed[id(value)] = node
        return node
    return ["opaque", f"an object of type {type(value).__name__[:100]}"]


def _pack_plain(value: torch.Tensor, state: _Packing) -> Any:
    import torch

    with torch._C.DisableTorchFunctionSubclass():
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            return ["opaque", f"a tensor subclass, {type(value).__name__[:100]}"]
        if value.layout is not torch.strided or value.is_quantized:
            return ["opaque", "a tensor that is sparse or quantised"]
        if value.device.type not in ("cpu", "cuda"):
            return ["opaque", f"a tensor on the device {value.device.type}"]
        if _name(value.dtype) not in DTYPES:
            return ["opaque", f"a tensor of dtype {value.dtype}"]
        return _pack_tensor("tensor", value.detach(), state)


def _pack_tensor(kind: str, value: torch.Tensor, state: _Packing) -> Any:
    size = math.prod(value.shape) * value.element_size()  # a stride of 0 makes storage smaller
    if max((size, *value.shape)) > state.bytes_left:  # an axis of 0 hides how long others are
        return ["opaque", f"a tensor of shape {tuple(value.shape)}, more than the bound"]
    state.bytes_left -= size
    name = str(len(state.tensors))
    state.tensors[name] = _resolved(value).contiguous()
    strides, offset = [*value.stride()], value.storage_offset()
    if not state.strides or value.is_contiguous() or not _may_lie_as(value, strides, offset):
        return [kind, name]
    return ["strided", name, strides, offset]


def _may_lie_as(value: torch.Tensor, strides: Sequence[Any], offset: Any) -> bool:
    """Return whether the numbers can be written with these strides, within bounds of memory.

    Numbers that share a place, as in a view of windows, are equal here, and so they are there.
    """
    size = (offset + _span(value.shape, strides)) * value.element_size()
    return min(offset, *strides) >= 0 and 0 not in strides and size <= MAX_QUESTION_BYTES


def _span(shape: Sequence[int], strides: Sequence[int]) -> int:
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def _resolved(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose numbers stand in memory as they are: no view conjugates or negates."""
    return value.resolve_conj().resolve_neg().cpu()


def _unpack(node: object, state: _Unpacking, depth: int) -> object:
    state.nodes_left -= 1
    if depth > MAX_DEPTH + 1 or state.nodes_left < 0:
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
        case ["kept", int(call), list(path), int(count), int(axis), bool(turned)]:
            if all(type(step) is int for step in path):
                return Kept(call, tuple(path), count, axis, turned)
        case ["list", list(items)]:
            return [_unpack(item, state, depth + 1) for item in items]
        case ["tuple", list(items)]:
            return tuple(_unpack(item, state, depth + 1) for item in items)
        case ["dict", list(items)]:
            return _unpack_dict(items, state, depth)
        case ["tensor", str(name)]:
            return _take(name, state)
        case ["strided", str(name), list(strides), int(offset)] if state.strides:
            if name not in state.made:
                state.made[name] = _restride(_take(name, state), strides, offset)
            return state.made[name]
        case ["asarray", [str(), str(name), *_] as node] if state.strides:
            if name not in state.arrays:
                state.arrays[name] = _unpack(node, state, depth + 1).numpy()  # type: ignore[attr-defined]
            return state.arrays[name]
        case ["array", str(name)]:
            return _take(name, state).numpy()
    raise WireError(f"a node of unknown kind or form: {str(node[0])[:40]!r}")


def _take(name: str, state: _Unpacking) -> torch.Tensor:
    """Return a tensor of the payload; from a worker each may be named once."""
    tensor = state.tensors.get(name) if state.strides else state.tensors.pop(name, None)
    if tensor is None:
        raise WireError("a tensor that is not in the payload")
    if _name(tensor.dtype) not in DTYPES or tensor.dim() > MAX_DIMENSIONS:
        raise WireError(f"a tensor of dtype {tensor.dtype} and {tensor.dim()} dimensions")
    if max(tensor.shape, default=0) > MAX_QUESTION_BYTES:
        raise WireError(f"a tensor of shape {tuple(tensor.shape)}")
    return tensor


def _unpack_dict(items: list[Any], state: _Unpacking, depth: int) -> dict[object, object]:
    result: dict[object, object] = {}
    for item in items:
        if not isinstance(item, list) or len(item) != 2:
            raise WireError("a dict entry that is not a pair")
        key = _unpack(item[0], state, depth + 1)
        if not isinstance(key, (str, int, float, bool, type(None))):
            key = str(key)[:100]
        result[key] = _unpack(item[1], state, depth + 1)
    return result


def _restride(plain: torch.Tensor, strides: list[Any], offset: int) -> torch.Tensor:
    """Return a tensor that lies in memory as the sender's did, with zeros around it."""
    if not _may_lie_as(plain, strides, offset):
        raise WireError("strides that no tensor of the sender has")
    whole = plain.new_zeros(offset + _span(plain.shape, strides))
    return whole.as_strided(plain.shape, strides, offset).copy_(plain)


def _number(parse: Callable[[str], float], text: str) -> float:
    try:
        return parse(text)
    except (ValueError, OverflowError) as error:
        raise WireError("a number that does not parse") from error
