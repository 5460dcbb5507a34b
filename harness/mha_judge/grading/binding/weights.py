"""Binding a module's parameters to roles, in the layout that the candidate chose.

A search may only relabel weights; it never excuses wrong mathematics. An arrangement says which
numbers go into which parameter; `arrangements` lists those that names, order of definition and
shapes admit, the most plausible first.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from mha_judge.bank.vocabulary import Vocabulary
from mha_judge.grading.binding.aliases import View, views
from mha_judge.grading.binding.assignments import Assignment, assignments, fused_maps
from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.layouts import (
    FUSED_LAYOUTS,
    fuse,
    layouts_of,
    leaves_no_choice,
    place,
)
from mha_judge.grading.binding.maps import Map, RoleWeights, maps_of, names_of
from mha_judge.grading.binding.stacks import in_parts, joined, taken_apart, ways_apart
from mha_judge.grading.failures import CheckFailure

MAX_ARRANGEMENTS = 400
_PLACE = re.compile(r"(?P<key>[^:]*): (?P<slot>\w+) is (?P<path>.*)=", re.DOTALL)
"""The part of a key that says which map carries a role."""


@dataclass(frozen=True)
class Arrangement:
    """Numbers for the candidate's parameters."""

    key: tuple[str, ...]
    """The choices made; the same choices serve instances of other sizes."""
    values: Mapping[str, Tensor]
    biased: frozenset[str]
    """Roles that have a bias here; the reference's is zero for the others."""
    unbound: tuple[str, ...] = ()
    """Parameters that no role claims; they keep the candidate's values."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Further paths to a plain array, each with the one in `values`."""


class Unbound(CheckFailure):
    """The parameters found cannot carry the weights wanted."""


def arrangements(
    parameters: Sequence[ParameterInfo],
    roles: Sequence[RoleWeights],
    words: Vocabulary,
    wanted: Collection[str] = (),
) -> Iterator[Arrangement]:
    """Yield every arrangement worth trying, the most plausible first; at least one.

    Each is computed only when it is asked for, as most callers want the first.

    Args:
        parameters: The candidate's.
        roles: What the contract has.
        words: What candidates call roles.
        wanted: The key of an arrangement at another size, whose layouts are kept if they fit.

    Raises:
        Unbound: If nothing fits; lists the parameters found and the roles wanted.
    """
    every = (
        arrangement
        for view in views(parameters, words, names_of(roles), wanted)
        for arrangement in _of_view(view, roles, words, wanted)
    )
    first = next(every, None)
    if first is None:
        parts = taken_apart(parameters, roles)
        maps = maps_of(in_parts(parameters, parts), roles, words)
        raise Unbound(_complaint(parameters, maps, roles))
    yield from itertools.islice(itertools.chain([first], every), MAX_ARRANGEMENTS)


def _of_view(
    view: View, roles: Sequence[RoleWeights], words: Vocabulary, wanted: Collection[str]
) -> Iterator[Arrangement]:
    """Yield the arrangements of a view, in which each parameter is an array of its own."""
    for apart, parts in ways_apart(view.parameters, roles, wanted):
        maps = maps_of(in_parts(view.parameters, parts), roles, words)
        for assignment in itertools.chain(_as_before(maps, wanted), assignments(maps, roles)):
            for found in _lay_out(assignment, roles, wanted):
                values = joined(found.values, view.parameters, parts)
                if values is not None:
                    yield replace(
                        found,
                        key=(*view.key, *apart, *found.key),
                        values=values,
                        unbound=tuple(p.path for p in view.parameters if p.path not in values),
                        aliases={path: one for path, one in view.aliases.items() if one in values},
                    )


def _as_before(maps: Sequence[Map], wanted: Collection[str]) -> Iterator[Assignment]:
    """Yield the assignment of a key: at another size, shapes may not tell the same maps apart."""
    by_path = {one.path: one for one in maps}
    places = [found for part in wanted if (found := _PLACE.fullmatch(part))]
    if places and all(found["path"] in by_path for found in places):
        yield places[0]["key"], {found["slot"]: [by_path[found["path"]]] for found in places}


def nearest(found: Iterable[Arrangement], wanted: Collection[str]) -> Arrangement:
    """Return the first arrangement that shares the most choices with a key."""
    best, most = None, -1
    for arrangement in found:
        common = len({*arrangement.key} & {*wanted})
        if common > most:
            best, most = arrangement, common
        if common == len({*wanted}):
            break
    assert best is not None  # `arrangements` raises where there is none
    return best


def _lay_out(
    assignment: Assignment,
    roles: Sequence[RoleWeights],
    wanted: Collection[str],
) -> Iterator[Arrangement]:
    """Yield the layouts in which an assignment's maps can hold the weights."""
    key, chosen = assignment
    alone = all(len(maps) == 1 for maps in chosen.values())  # else their number may change
    places = [f"{key}: {slot} is {one.path}=" for slot, [one] in chosen.items()] if alone else []
    by_id = {role.id: role for role in roles}
    fused = {name: parts for name, parts in fused_maps(roles).items() if name in chosen}
    count = max((len(parts) for parts in fused.values()), default=0)
    orders = list(itertools.permutations(range(count)))  # one choice for all fused maps
    styles = itertools.product(FUSED_LAYOUTS, repeat=len(fused))
    for order, each in sorted(itertools.product(orders, styles), key=_unlike):
        targets = _targets(chosen, by_id, fused, order, dict(zip(fused, each, strict=True)))
        if targets is None:
            continue
        told = ", ".join(each if _unlike((order, each)) else each[:1])
        kinds, options = _common_layouts(targets, wanted)
        for choice in itertools.product(*options.values()):
            picked = dict(zip(options, choice, strict=True))
            arrangement = _arrange(
                (key, _order(fused, order), told, *places),
                targets,
                [picked[kind] for kind in kinds],
            )
            if arrangement is not None:
                yield arrangement


@dataclass(frozen=True)
class _Filled:
    """One map and the numbers that it is to hold."""

    map: Map
    roles: tuple[str, ...]
    weight: Tensor
    bias: Tensor
    heads: int
    split: str


def _unlike(choice: tuple[Sequence[int], tuple[str, ...]]) -> bool:
    """Return whether fused maps have layouts of their own; one for all is more plausible."""
    _, styles = choice
    return len({*styles}) > 1


def _order(fused: Mapping[str, Sequence[str]], order: Sequence[int]) -> str:
    longest = max(fused.values(), key=len, default=())
    return "".join(longest[index].rpartition("_")[2] for index in order)


def _targets(
    chosen: Mapping[str, list[Map]],
    roles: Mapping[str, RoleWeights],
    fused: Mapping[str, Sequence[str]],
    order: Sequence[int],
    styles: Mapping[str, str],
) -> list[_Filled] | None:
    targets = []
    for name, maps in chosen.items():
        if name in fused:
            size = len(fused[name])
            # two parts have the order of the last two of three
            places = [i - (len(order) - size) for i in order if i >= len(order) - size]
            parts = [roles[fused[name][place]] for place in places]
            heads = [part.heads for part in parts]
            weight = fuse([part.weight for part in parts], heads, styles[name])
            bias = fuse([part.bias for part in parts], heads, styles[name])
            if weight is None or bias is None:
                return None
            targets.append(_Filled(maps[0], tuple(fused[name]), weight, bias, 1, "fused"))
            continue
        role = roles[name]
        if len(maps) == 1:
            split = role.split if role.kind == "linear" else role.kind
            targets.append(_Filled(maps[0], (name,), role.weight, role.bias, role.heads, split))
            continue
        axis = 0 if role.split == "out" else 1
        weights = role.weight.chunk(len(maps), axis)
        biases = role.bias.chunk(len(maps)) if axis == 0 else (role.bias,) * len(maps)
        for one, weight, bias in zip(maps, weights, biases, strict=True):
            targets.append(_Filled(one, (name,), weight, bias, 1, role.split))
    return targets


def _common_layouts(
    targets: Sequence[_Filled], wanted: Collection[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the kind of each target, and the layouts that all maps of a kind can have.

    Maps whose outputs are split are one kind, those whose inputs are split another. A map that
    shares no layout with its kind is a kind of its own. So is a `Linear`, as its layout says
    nothing about the matrices beside it.
    """
    kinds: list[str] = []
    options: dict[str, list[str]] = {}
    for target in targets:
        shape, owner = target.map.weight.shape or [], target.map.weight.owner
        found = layouts_of(shape, owner, target.weight, target.heads, target.split)
        turned = ["in out"] if list(shape) == [*target.weight.shape][::-1] else []
        before = [n for n in dict.fromkeys([*found, *turned]) if _choice(target, n) in wanted]
        if before:  # at another size more layouts fit, but the candidate's is the same
            kinds.append(f"{len(kinds)} as before")
            options[kinds[-1]] = before
            continue
        kind = f"{_kind(target)} {owner}" if leaves_no_choice(owner) else _kind(target)
        while found and kind in options and not set(found) & set(options[kind]):
            kind += " other"
        options[kind] = [name for name in options.get(kind, found) if name in found]
        kinds.append(kind)
    return kinds, options


def _choice(target: _Filled, layout: str) -> str:
    """Return the part of a key that names a target's layout."""
    return f"{'+'.join(target.roles)}={layout}"


def _kind(target: _Filled) -> str:
    return {"in": "output", "table": "table", "norm": "norm"}.get(target.split, "input")


def _arrange(
    key: tuple[str, ...],
    targets: Sequence[_Filled],
    layouts: Sequence[str],
) -> Arrangement | None:
    values: dict[str, Tensor] = {}
    biased: set[str] = set()
    for target, layout in zip(targets, layouts, strict=True):
        weight = target.map.weight
        values[weight.path] = place(
            target.weight, layout, weight.shape or [], target.heads, target.split
        )
        bias = target.map.bias
        if bias is not None and bias.shape is not None:
            if math.prod(bias.shape) != target.bias.numel():
                return None
            values[bias.path] = target.bias.reshape(bias.shape)
            biased.update(target.roles)
    chosen = dict.fromkeys(map(_choice, targets, layouts))
    return Arrangement((*key, *chosen), values, frozenset(biased))


def _complaint(
    parameters: Sequence[ParameterInfo], maps: Sequence[Map], roles: Sequence[RoleWeights]
) -> str:
    found = ", ".join(
        f"{p.path} {'×'.join(map(str, p.shape)) if p.shape is not None else '(lazy)'}"
        for p in parameters[:16]
    )
    wanted = ", ".join(f"{r.id} {'×'.join(map(str, r.weight.shape))}" for r in roles)
    return (
        f"the layer's weights do not fit the contract{_lack(maps, roles)}: "
        f"found {found or 'none'}; wanted {wanted}"
    )


def _lack(maps: Sequence[Map], roles: Sequence[RoleWeights]) -> str:
    """Return what is plainly missing: norms, or maps that nothing fits and that have no parts."""
    norms = sum(one.kind == "norm" for one in maps)
    asked = sum(role.kind == "norm" for role in roles)
    if norms < asked:
        return f" (it has {asked} norms; {norms or 'none'} of the vectors found can scale one)"
    in_parts = {part for parts in fused_maps(roles).values() for part in parts}
    whole = [role for role in roles if role.heads == 1 and role.id not in in_parts]
    lacking = [role.id for role in whole if not any(one.fits(role) for one in maps)]
    return f" (nothing fits {', '.join(lacking)})" if lacking else ""
