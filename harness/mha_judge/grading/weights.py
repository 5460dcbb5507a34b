"""Binding a module's parameters to roles, in the layout that the candidate chose.

A search may only relabel weights; it never excuses wrong mathematics. An arrangement says which
numbers go into which parameter; `arrangements` lists those that names, order of definition and
shapes admit, the most plausible first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from mha_judge.grading.failures import CheckFailure
from mha_judge.grading.layouts import FUSED_LAYOUTS, fuse, layouts_of, place
from mha_judge.grading.replies import ParameterInfo
from mha_judge.grading.roles import heads_index, is_bias, map_path, role_of

MAX_ARRANGEMENTS = 400
_FUSED = {"qkv": ("q", "k", "v"), "kv": ("k", "v")}


@dataclass(frozen=True)
class RoleWeights:
    """What the reference puts into one role."""

    name: str
    weight: Tensor
    """(out, in)"""
    bias: Tensor
    """(out,)"""
    heads: int
    split: str


@dataclass(frozen=True)
class Arrangement:
    """Numbers for the candidate's parameters."""

    key: tuple[str, ...]
    """The choices made; the same choices serve instances of other sizes."""
    values: Mapping[str, Tensor]
    biased: frozenset[str]
    """Roles that have a bias here; the reference's is zero for the others."""
    unbound: tuple[str, ...]
    """Parameters that no role claims; they keep the candidate's values."""


class Unbound(CheckFailure):
    """The parameters found cannot carry the weights wanted."""


@dataclass
class _Map:
    path: str
    weight: ParameterInfo
    bias: ParameterInfo | None = None
    role: str | None = None
    index: tuple[int, ...] = field(default=())


_Assignment = tuple[str, dict[str, list[_Map]]]


def arrangements(
    parameters: Sequence[ParameterInfo], roles: Sequence[RoleWeights]
) -> list[Arrangement]:
    """Return every arrangement worth trying, the most plausible first; never none.

    Raises:
        Unbound: If nothing fits; lists the parameters found and the roles wanted.
    """
    maps = _maps(parameters)
    found = []
    for assignment in _assignments(maps, roles):
        for arrangement in _lay_out(assignment, roles, parameters):
            found.append(arrangement)
            if len(found) >= MAX_ARRANGEMENTS:
                return found
    if not found:
        raise Unbound(_complaint(parameters, roles))
    return found


def _maps(parameters: Sequence[ParameterInfo]) -> list[_Map]:
    maps: dict[str, _Map] = {}
    flat: list[ParameterInfo] = []
    for parameter in parameters:
        if parameter.shape is None:
            continue
        bare = parameter.path.split(".")[-1] == "b"  # a, b, c, d may be the names of matrices
        if len(parameter.shape) >= 2 and (bare or not is_bias(parameter.path)):
            path = map_path(parameter.path)
            path = path if path not in maps else parameter.path
            index = heads_index(parameter.path)
            maps[path] = _Map(path, parameter, None, role_of(parameter.path), index)
        else:
            flat.append(parameter)
    for parameter in flat:
        owner = maps.get(map_path(parameter.path))
        if owner is not None and owner.bias is None:
            owner.bias = parameter
    return list(maps.values())


def _assignments(maps: list[_Map], roles: Sequence[RoleWeights]) -> Iterator[_Assignment]:
    """Yield which maps carry which role: by name, else by order and then by permutation."""
    named = _by_name(maps, roles)
    if named is not None:
        yield "names", named
        return
    names = [role.name for role in roles]
    if len(maps) == len(roles):
        for order in itertools.permutations(range(len(roles))):
            if all(_could_be(maps[i], roles[j]) for i, j in enumerate(order)):
                key = "definition order" if order == tuple(range(len(roles))) else f"order {order}"
                yield key, {names[j]: [maps[i]] for i, j in enumerate(order)}
    for fused, parts in _FUSED.items():
        rest = [name for name in names if name not in parts]
        if set(parts) <= set(names) and len(maps) == len(rest) + 1:
            at = names.index(parts[0])
            slots = [*rest[:at], fused, *rest[at:]]
            yield (
                f"definition order, fused {fused}",
                {name: [one] for name, one in zip(slots, maps, strict=True)},
            )
    yield from _per_head_lists(maps, roles)


def _per_head_lists(maps: list[_Map], roles: Sequence[RoleWeights]) -> Iterator[_Assignment]:
    """Yield unnamed lists of per-head maps: head by head, or list by list."""
    inner = [role for role in roles if role.split == "out"]
    outer = [role for role in roles if role.split == "in"]
    heads = inner[0].heads if inner else 0
    if heads < 2 or any(role.heads != heads for role in inner):
        return
    if len(maps) != heads * len(inner) + len(outer):
        return
    tail = {role.name: [one] for role, one in zip(outer, maps[heads * len(inner) :], strict=True)}
    step = len(inner)
    yield (
        "heads in order",
        {r.name: maps[i : heads * step : step] for i, r in enumerate(inner)} | tail,
    )
    yield (
        "lists in order",
        {r.name: maps[i * heads : (i + 1) * heads] for i, r in enumerate(inner)} | tail,
    )


def _by_name(maps: list[_Map], roles: Sequence[RoleWeights]) -> dict[str, list[_Map]] | None:
    """Return the maps of each role where the names, and what they leave over, settle it."""
    groups: dict[str, list[_Map]] = {}
    for one in maps:
        if one.role is not None:
            groups.setdefault(one.role, []).append(one)
    wanted = {role.name: role for role in roles}
    chosen: dict[str, list[_Map]] = {}
    for fused, parts in _FUSED.items():
        if len(groups.get(fused, [])) == 1 and set(parts) <= set(wanted):
            if any(part in groups or part in chosen for part in parts):
                return None
            chosen[fused] = groups[fused]
    covered = {part for fused in chosen for part in _FUSED[fused]}
    for name, role in wanted.items():
        group = groups.get(name, [])
        if name in covered or not group:
            continue
        if len(group) not in (1, role.heads):
            return None
        chosen[name] = sorted(group, key=lambda one: one.index) if len(group) > 1 else group
        covered.add(name)
    missing = [name for name in wanted if name not in covered]
    taken = {id(one) for group in chosen.values() for one in group}
    left = [one for one in maps if id(one) not in taken and one.role is None]
    if not missing:
        return chosen
    if chosen and len(missing) == len(left):
        return chosen | {name: [one] for name, one in zip(missing, left, strict=True)}
    return None


def _could_be(one: _Map, role: RoleWeights) -> bool:
    return bool(
        layouts_of(one.weight.shape or [], one.weight.owner, role.weight, role.heads, role.split)
    )


def _lay_out(
    assignment: _Assignment, roles: Sequence[RoleWeights], parameters: Sequence[ParameterInfo]
) -> Iterator[Arrangement]:
    """Yield the layouts in which an assignment's maps can hold the weights."""
    key, chosen = assignment
    by_name = {role.name: role for role in roles}
    fused = next((name for name in chosen if name in _FUSED), None)
    orders: Sequence[tuple[str, ...]] = [()]
    styles: Sequence[str] = [""]
    if fused is not None:
        orders = list(itertools.permutations(_FUSED[fused]))
        styles = FUSED_LAYOUTS
    for order, style in itertools.product(orders, styles):
        targets = _targets(chosen, by_name, order, style)
        if targets is None:
            continue
        options = _common_layouts(targets)
        for choice in itertools.product(*options.values()):
            picked = dict(zip(options, choice, strict=True))
            arrangement = _arrange(
                (key, "".join(order), style, *choice), targets, picked, parameters
            )
            if arrangement is not None:
                yield arrangement


@dataclass(frozen=True)
class _Target:
    """One map and the numbers that it is to hold."""

    map: _Map
    roles: tuple[str, ...]
    weight: Tensor
    bias: Tensor
    heads: int
    split: str


def _targets(
    chosen: Mapping[str, list[_Map]],
    roles: Mapping[str, RoleWeights],
    order: tuple[str, ...],
    style: str,
) -> list[_Target] | None:
    targets = []
    for name, maps in chosen.items():
        if name in _FUSED:
            parts = [roles[part] for part in order]
            heads = [part.heads for part in parts]
            weight = fuse([part.weight for part in parts], heads, style)
            bias = fuse([part.bias for part in parts], heads, style)
            if weight is None or bias is None:
                return None
            targets.append(_Target(maps[0], _FUSED[name], weight, bias, 1, "fused"))
            continue
        role = roles[name]
        if len(maps) == 1:
            targets.append(
                _Target(maps[0], (name,), role.weight, role.bias, role.heads, role.split)
            )
            continue
        axis = 0 if role.split == "out" else 1
        weights = role.weight.chunk(len(maps), axis)
        biases = role.bias.chunk(len(maps)) if axis == 0 else (role.bias,) * len(maps)
        for one, weight, bias in zip(maps, weights, biases, strict=True):
            targets.append(_Target(one, (name,), weight, bias, 1, role.split))
    return targets


def _common_layouts(targets: Sequence[_Target]) -> dict[str, list[str]]:
    """Return the layouts to choose from: one choice for what splits outputs, one for the rest."""
    options: dict[str, list[str]] = {}
    for target in targets:
        shape, owner = target.map.weight.shape or [], target.map.weight.owner
        found = layouts_of(shape, owner, target.weight, target.heads, target.split)
        kind = "output" if target.split == "in" else "input"
        if kind in options:
            options[kind] = [name for name in options[kind] if name in found]
        else:
            options[kind] = found
    return options


def _arrange(
    key: tuple[str, ...],
    targets: Sequence[_Target],
    layouts: Mapping[str, str],
    parameters: Sequence[ParameterInfo],
) -> Arrangement | None:
    values: dict[str, Tensor] = {}
    biased: set[str] = set()
    for target in targets:
        layout = layouts["output" if target.split == "in" else "input"]
        weight = target.map.weight
        values[weight.path] = place(
            target.weight, layout, weight.shape or [], target.heads, target.split
        )
        bias = target.map.bias
        if bias is not None and bias.shape is not None:
            size = 1
            for length in bias.shape:
                size *= length
            if size != target.bias.numel():
                return None
            values[bias.path] = target.bias.reshape(bias.shape)
            biased.update(target.roles)
    unbound = tuple(p.path for p in parameters if p.path not in values)
    return Arrangement(key, values, frozenset(biased), unbound)


def _complaint(parameters: Sequence[ParameterInfo], roles: Sequence[RoleWeights]) -> str:
    found = ", ".join(
        f"{p.path} {'×'.join(map(str, p.shape)) if p.shape is not None else '(lazy)'}"
        for p in parameters[:16]
    )
    wanted = ", ".join(f"{r.name} {'×'.join(map(str, r.weight.shape))}" for r in roles)
    return f"the layer's weights do not fit the contract: found {found or 'none'}; wanted {wanted}"
