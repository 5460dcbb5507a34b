"""Parameters that hold several maps along a leading axis, as `W[0]`, `W[1]`, `W[2]`.

They are taken apart into what a list of maps would be, and their numbers joined again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.layouts import layouts_of, leaves_no_choice
from mha_judge.grading.binding.maps import RoleWeights
from mha_judge.grading.binding.roles import is_bias

Parts = dict[str, list[ParameterInfo]]
"""By path of a parameter, the maps or biases that it holds, in order."""


def taken_apart(parameters: Sequence[ParameterInfo], roles: Sequence[RoleWeights]) -> Parts:
    """Return the parts of each stack of maps (n, …), and of the stack of biases beside it."""
    linear = [role for role in roles if role.kind == "linear"]
    stacks = {one.path: _parts(one, linear) for one in parameters}
    found = dict(itertools.islice(((p, parts) for p, parts in stacks.items() if parts), len(roles)))
    for path, parts in list(found.items()):
        sizes = {role.bias.numel() for part in parts for role in _fitting(part, linear)}
        for other in parameters:
            if other.path not in found and _holds_biases(other, path, len(parts), sizes, linear):
                shape = [math.prod(other.shape or []) // len(parts)]
                found[other.path] = [_part(part, shape, ".bias") for part in parts]
                break
    return found


def in_parts(parameters: Sequence[ParameterInfo], parts: Parts) -> list[ParameterInfo]:
    """Return parameters with the parts of a stack in its place."""
    return [part for one in parameters for part in parts.get(one.path, [one])]


def joined(
    values: Mapping[str, Tensor], parameters: Sequence[ParameterInfo], parts: Parts
) -> dict[str, Tensor] | None:
    """Return values by the paths that are there; None where one is for a part of a stack only."""
    whole = dict(values)
    for parameter in parameters:
        paths = [part.path for part in parts.get(parameter.path, [])]
        tensors = [whole.pop(path) for path in paths if path in whole]
        if tensors and len(tensors) < len(paths):
            return None
        if tensors:
            whole[parameter.path] = torch.stack(tensors).reshape(parameter.shape or [])
    return whole


def _parts(parameter: ParameterInfo, roles: Sequence[RoleWeights]) -> list[ParameterInfo]:
    """Return the parts of a parameter if they, but not it as a whole, fit a role."""
    shape = parameter.shape or []
    if leaves_no_choice(parameter.owner) or _fitting(parameter, roles):
        return []
    for axes in range(1, len(shape) - 1):
        leading, rest = shape[:axes], shape[axes:]
        if 1 < math.prod(leading) <= len(roles) and _fitting(_part(parameter, rest, ""), roles):
            places = itertools.product(*map(range, leading))
            return [_part(parameter, rest, "".join(f".{i}" for i in place)) for place in places]
    return []


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
    """Return whether a parameter beside a stack of maps has room for as many biases."""
    shape = parameter.shape or []
    beside = parameter.path.rpartition(".")[0] == stack.rpartition(".")[0]
    room = any(math.prod(shape) == count * size for size in sizes)
    own = is_bias(parameter.path) or not _fitting(parameter, roles)
    return beside and room and own
