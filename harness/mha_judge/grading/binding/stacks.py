"""Parameters that hold several maps along an axis, as `W[0]`, `W[1]`, `W[2]`, or a whole norm.

They are taken apart into the parameters that a list of maps would have; numbers for these parts are
joined again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.layouts import layouts_of, leaves_no_choice
from mha_judge.grading.binding.maps import RoleWeights
from mha_judge.grading.binding.roles import is_bias

_AXES = range(4)
_NORM = (".scale", ".shift")
_LONGEST_FUSED = 3
"""The most maps in one matrix that are bound as a fused map, which has further layouts."""


@dataclass(frozen=True)
class Stack:
    """The maps, biases or vectors that a parameter holds, in order."""

    axis: int
    parts: list[ParameterInfo]


Parts = dict[str, Stack]
"""Stacks by the path of their parameter."""


def ways_apart(
    parameters: Sequence[ParameterInfo], roles: Sequence[RoleWeights], wanted: Collection[str]
) -> Iterator[tuple[tuple[str, ...], Parts]]:
    """Yield each way to take stacks apart, with a key: along the leading axis, then along others.

    Args:
        parameters: The candidate's.
        roles: What the contract has.
        wanted: A key; only the way that it names is yielded, whatever the sizes would allow.
    """
    tried: list[Parts] = []
    for axes in [_AXES] if wanted else [range(axis, axis + 1) for axis in _AXES]:
        parts = taken_apart(parameters, roles, axes, wanted)
        if parts not in tried:
            tried.append(parts)
            yield tuple(_key(path, stack.axis) for path, stack in parts.items()), parts


def taken_apart(
    parameters: Sequence[ParameterInfo],
    roles: Sequence[RoleWeights],
    axes: Sequence[int] = (0,),
    wanted: Collection[str] = (),
) -> Parts:
    """Return the parts of stacks of maps along these axes, of biases beside them, and of norms."""
    linear = [role for role in roles if role.kind == "linear"]
    open_ = [
        (one, axis)
        for one in parameters
        for axis in _AXES
        if not wanted or _key(one.path, axis) in wanted
    ]
    stacks = (
        (one, axis, _maps(one, linear, axis, bool(wanted))) for one, axis in open_ if axis in axes
    )
    several = ((one.path, Stack(axis, parts)) for one, axis, parts in stacks if parts)
    found = dict(itertools.islice(several, len(roles)))
    for path, stack in list(found.items()):
        sizes = {role.bias.numel() for part in stack.parts for role in _fitting(part, linear)}
        count = len(stack.parts)
        for other in parameters:
            if other.path not in found and _holds_biases(other, path, count, sizes, linear):
                shape = [math.prod(other.shape or []) // count]
                found[other.path] = Stack(0, [_part(part, shape, ".bias") for part in stack.parts])
                break
    norms = [role for role in roles if role.kind == "norm"]
    for one, axis in open_:
        if one.path not in found and (parts := _norm(one, roles, norms, axis, bool(wanted))):
            found[one.path] = Stack(axis, parts)
    return found


def _key(path: str, axis: int) -> str:
    return f"{path} in parts along axis {axis}"


def in_parts(parameters: Sequence[ParameterInfo], parts: Parts) -> list[ParameterInfo]:
    """Return parameters with each stack replaced by its parts."""
    return [
        part
        for one in parameters
        for part in (parts[one.path].parts if one.path in parts else [one])
    ]


def joined(
    values: Mapping[str, Tensor], parameters: Sequence[ParameterInfo], parts: Parts
) -> dict[str, Tensor] | None:
    """Return values by the candidate's paths; None if only a part of some stack has a value."""
    whole = dict(values)
    for parameter in parameters:
        stack = parts.get(parameter.path)
        if stack is None:
            continue
        paths = [part.path for part in stack.parts]
        tensors = [whole.pop(path) for path in paths if path in whole]
        if tensors and len(tensors) < len(paths):
            return None
        if tensors:
            whole[parameter.path] = torch.stack(tensors, stack.axis).reshape(parameter.shape or [])
    return whole


def _maps(
    parameter: ParameterInfo, roles: Sequence[RoleWeights], axis: int, forced: bool
) -> list[ParameterInfo]:
    """Return the parts of a parameter if they fit a role and the whole does not."""
    shape = parameter.shape or []
    if leaves_no_choice(parameter.owner) or (_fitting(parameter, roles) and not forced):
        return []
    for axes in range(1, len(shape) - 1):
        stacked, rest = shape[axis : axis + axes], shape[:axis] + shape[axis + axes :]
        if 1 < math.prod(stacked) <= len(roles) and _fitting(_part(parameter, rest, ""), roles):
            places = itertools.product(*map(range, stacked))
            return [_part(parameter, rest, "".join(f".{i}" for i in place)) for place in places]
    for count in range(_LONGEST_FUSED + 1, len(roles) + 1):  # one after the other in a matrix
        if len(shape) == 2 and axis < 2 and shape[axis] % count == 0:
            rest = [size // count if i == axis else size for i, size in enumerate(shape)]
            if _fitting(_part(parameter, rest, ""), roles):
                return [_part(parameter, rest, f".{i}") for i in range(count)]
    return []


def _norm(
    parameter: ParameterInfo,
    roles: Sequence[RoleWeights],
    norms: Sequence[RoleWeights],
    axis: int,
    forced: bool,
) -> list[ParameterInfo]:
    """Return scale and shift of a norm if one parameter holds both, and itself fits no role."""
    shape = parameter.shape or []
    if shape[axis : axis + 1] != [2] or is_bias(parameter.path):
        return []
    rest = shape[:axis] + shape[axis + 1 :]
    fits = rest and _fitting(_part(parameter, rest, ""), norms)
    free = forced or not _fitting(parameter, roles)
    return [_part(parameter, rest, word) for word in _NORM] if fits and free else []


def _part(of: ParameterInfo, shape: list[int], suffix: str) -> ParameterInfo:
    return ParameterInfo(path=f"{of.path[:150]}{suffix}", shape=shape, owner="")


def _fitting(parameter: ParameterInfo, roles: Sequence[RoleWeights]) -> list[RoleWeights]:
    shape, owner = parameter.shape or [], parameter.owner
    return [role for role in roles if layouts_of(shape, owner, role.weight, role.heads, role.split)]


def _holds_biases(
    parameter: ParameterInfo,
    stack: str,
    count: int,
    sizes: set[int],
    roles: Sequence[RoleWeights],
) -> bool:
    """Return whether a parameter beside a stack of maps has room for a bias of each."""
    shape = parameter.shape or []
    beside = parameter.path.rpartition(".")[0] == stack.rpartition(".")[0]
    room = any(math.prod(shape) == count * size for size in sizes)
    own = is_bias(parameter.path) or not _fitting(parameter, roles)
    return beside and room and own
