"""Which map carries which role: by shape and name if they decide it, else by order."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from mha_judge.grading.binding.layouts import layouts_of
from mha_judge.grading.binding.maps import Map, RoleWeights

Assignment = tuple[str, dict[str, list[Map]]]
"""How it was found, and the maps of each role or fused map by its id."""
Unit = Sequence[Map]
"""What carries a role: one map, or one for each head."""

_FUSED = {
    "qkv": ("q", "k", "v"), "kv": ("k", "v"), "gate_up": ("gate", "up"),
    "q_with_rope": ("q", "q_rope"), "down_with_rope": ("down", "k_rope"),
}  # fmt: skip
_MAX_PERMUTED = 6
"""Roles up to which every order is tried; a block has more."""


def fused_maps(roles: Sequence[RoleWeights]) -> dict[str, tuple[str, ...]]:
    """Return every fused map that a module may have, with the ids of the roles in it."""
    ids = {(role.group, role.name): role.id for role in roles}
    fused = {}
    for group in dict.fromkeys(role.group for role in roles):
        for name, parts in _FUSED.items():
            if all((group, part) in ids for part in parts):
                fused[f"{group}_{name}" if group else name] = tuple(
                    ids[group, part] for part in parts
                )
    return fused


def assignments(maps: Sequence[Map], roles: Sequence[RoleWeights]) -> Iterator[Assignment]:
    """Yield which maps carry which role, the most plausible first."""
    norms = [one for one in maps if one.kind == "norm"]
    wanted = [role.id for role in roles if role.kind == "norm"]
    if len(norms) < len(wanted):
        return
    maps = [_as_its_shape_allows(one, roles) for one in maps if one.kind != "norm"]
    for key, assignment in _found(maps, [role for role in roles if role.kind != "norm"]):
        for number, order in enumerate(itertools.permutations(norms, len(wanted))):
            placed = {role: [norm] for role, norm in zip(wanted, order, strict=True)}
            yield key + (f", norms {number}" if number else ""), assignment | placed


def _as_its_shape_allows(one: Map, roles: Sequence[RoleWeights]) -> Map:
    """Return a map without its name's role if its shape can hold neither that nor one head of it.

    So the `linear1` of a feed-forward layer is no output map.
    """
    of_name = [role for role in roles if role.name == one.role]
    possible = any(_carries([one] * count, role) for role in of_name for count in (1, role.heads))
    return one if possible or not of_name else replace(one, role=None)


def _found(maps: list[Map], roles: Sequence[RoleWeights]) -> Iterator[Assignment]:
    named = _by_name(maps, roles)
    if named is not None:
        yield from named
        settled = {id(one) for _, one in _by_shape(maps, roles)}
        if sum(one.role is None and id(one) not in settled for one in maps) < 2:
            return
        # some names say nothing, so those that seem to name a role may say nothing either
    yield from _in_order(_group_by_group(maps, roles), roles)
    yield from _fused_in_order(maps, roles)
    yield from _bundled(maps, roles)
    yield from _per_head_lists(maps, roles)


def _in_order(maps: list[Map], roles: Sequence[RoleWeights]) -> Iterator[Assignment]:
    if len(maps) != len(roles):
        return
    for number, (order, fitting) in enumerate(_orders([[one] for one in maps], roles)):
        if fitting:
            key = f"order {order}" if number else "definition order"
            yield key, {role.id: [maps[i]] for role, i in zip(roles, order, strict=True)}


def _orders(
    units: Sequence[Unit], roles: Sequence[RoleWeights]
) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield the orders in which units may carry roles, and whether their shapes allow it."""
    plain = tuple(range(len(roles)))
    few = len(roles) <= _MAX_PERMUTED
    for order in itertools.permutations(plain) if few else [plain]:
        yield order, all(_carries(units[i], role) for role, i in zip(roles, order, strict=True))


def _fused_in_order(maps: list[Map], roles: Sequence[RoleWeights]) -> Iterator[Assignment]:
    names = [role.id for role in roles]
    for fused, parts in fused_maps(roles).items():
        rest = [name for name in names if name not in parts]
        if len(maps) == len(rest) + 1:
            at = names.index(parts[0])
            slots = [*rest[:at], fused, *rest[at:]]
            yield (
                f"definition order, fused {fused}",
                {name: [one] for name, one in zip(slots, maps, strict=True)},
            )


def _bundled(maps: list[Map], roles: Sequence[RoleWeights]) -> Iterator[Assignment]:
    """Yield orders in which lists of one map per head, and whole maps, carry the roles.

    A name may only seem to say a role, so orders that contradict the fewest names come first.
    """
    bundles: dict[str, list[Map]] = {}
    for one in maps:
        of_a_head = any(_carries([one] * role.heads, role) for role in roles if role.heads > 1)
        path = re.sub("[0-9]+", "#", one.path) if of_a_head else one.path
        bundles.setdefault(path, []).append(one)
    units = [*bundles.values()]
    if len(units) != len(roles) or len(units) == len(maps):
        return
    orders = [order for order, fitting in _orders(units, roles) if fitting]
    orders.sort(key=lambda order: _contradicted([units[i] for i in order], roles))
    for order in orders:
        placed = {role.id: units[i] for role, i in zip(roles, order, strict=True)}
        yield f"lists per head, order {order}", placed


def _carries(unit: Unit, role: RoleWeights) -> bool:
    """Return whether one map, or one for each head, can hold the numbers of a role."""
    if len(unit) == 1:
        return unit[0].fits(role)
    if len(unit) != role.heads or role.kind != "linear":
        return False
    part = role.weight.chunk(len(unit), 0 if role.split == "out" else 1)[0]
    return all(
        bool(layouts_of(one.weight.shape or [], one.weight.owner, part, 1, role.split))
        for one in unit
    )


def _contradicted(units: Sequence[Unit], roles: Sequence[RoleWeights]) -> int:
    """Return how many units have a name that says another role than theirs."""
    pairs = zip(units, roles, strict=True)
    return sum(unit[0].role not in (None, role.name) for unit, role in pairs)


def _per_head_lists(maps: list[Map], roles: Sequence[RoleWeights]) -> Iterator[Assignment]:
    """Yield unnamed lists of per-head maps: head by head, or list by list."""
    inner = [role for role in roles if role.split == "out"]
    outer = [role for role in roles if role.split == "in"]
    heads = inner[0].heads if inner else 0
    if heads < 2 or any(role.heads != heads for role in inner):
        return
    if len(maps) != heads * len(inner) + len(outer):
        return
    tail = {role.id: [one] for role, one in zip(outer, maps[heads * len(inner) :], strict=True)}
    step = len(inner)
    yield (
        "heads in order",
        {r.id: maps[i : heads * step : step] for i, r in enumerate(inner)} | tail,
    )
    yield (
        "lists in order",
        {r.id: maps[i * heads : (i + 1) * heads] for i, r in enumerate(inner)} | tail,
    )


def _by_name(maps: list[Map], roles: Sequence[RoleWeights]) -> list[Assignment] | None:
    """Return the maps of each role if shapes, names and the maps left over decide it."""
    chosen = {role.id: [one] for role, one in _by_shape(maps, roles)}
    taken = {id(one) for group in chosen.values() for one in group}
    groups: dict[str, list[Map]] = {}
    for one in maps:
        if one.role is not None and id(one) not in taken:
            groups.setdefault(one.role, []).append(one)
    covered = set(chosen)
    for fused, parts, one in _fused_by_name(groups, roles, covered):
        if covered & set(parts):
            return None
        chosen[fused] = [one]
        covered |= set(parts)
    in_fused = covered - chosen.keys()
    for name, members in groups.items():
        of_name = [role for role in roles if role.name == name]
        open_ = [role for role in of_name if role.id not in covered]
        if not open_ and in_fused & {role.id for role in of_name}:
            return None  # a fused map, and one of its parts again
        for role, share in _distribute(members, open_):
            if len(share) not in (1, role.heads):
                return None
            chosen[role.id] = sorted(share, key=lambda one: one.index) if share[1:] else share
            covered.add(role.id)
    return _with_rest(maps, chosen, [role for role in roles if role.id not in covered])


def _with_rest(
    maps: list[Map], chosen: dict[str, list[Map]], missing: list[RoleWeights]
) -> list[Assignment] | None:
    """Return the assignments in which maps without a name carry the missing roles."""
    if not missing:
        return [("names", chosen)]
    taken = {id(one) for group in chosen.values() for one in group}
    left = [one for one in maps if id(one) not in taken and one.role is None]
    if not chosen:
        return None
    if len(missing) != len(left):
        return _with_fused_rest(left, chosen, missing) or None
    left = _group_by_group(left, missing)
    found = []
    for number, (order, fitting) in enumerate(_orders([[one] for one in left], missing)):
        if fitting or not number:
            rest = {role.id: [left[i]] for role, i in zip(missing, order, strict=True)}
            found.append((f"names, order {order}" if number else "names", chosen | rest))
    return found


def _group_by_group(maps: list[Map], roles: Sequence[RoleWeights]) -> list[Map]:
    """Return maps in the order of the roles' groups, if words on their paths tell the groups."""
    groups = [role.group for role in roles]
    named = [next((g for g in groups if g in one.groups), "") for one in maps]
    if sorted(named) != sorted(groups):
        return maps
    queues = {
        g: iter([one for one, own in zip(maps, named, strict=True) if own == g]) for g in groups
    }
    return [next(queues[group]) for group in groups]


def _with_fused_rest(
    left: list[Map], chosen: dict[str, list[Map]], missing: list[RoleWeights]
) -> list[Assignment]:
    """Return the assignments in which fused maps carry several of the missing roles."""
    found = []
    for slots in _disjoint(fused_maps(missing)):
        parts = {part for own in slots.values() for part in own}
        rest = [role for role in missing if role.id not in parts]
        together = [[role for role in missing if role.id in own] for own in slots.values()]
        if len(left) != len(rest) + len(slots):
            continue
        for fused in itertools.permutations(left, len(slots)):
            others = [other for other in left if other not in fused]
            pairs = list(zip(rest, others, strict=True))
            if all(map(_fits_fused, fused, together)) and all(o.fits(role) for role, o in pairs):
                placed = {name: [one] for name, one in zip(slots, fused, strict=True)}
                placed |= {role.id: [other] for role, other in pairs}
                found.append((f"names, fused {' and '.join(slots)}", chosen | placed))
    return found


def _disjoint(fused: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, tuple[str, ...]]]:
    """Yield each choice of fused maps that share no role, single ones first."""
    for count in range(1, len(fused) + 1):
        for names in itertools.combinations(fused, count):
            parts = [part for name in names for part in fused[name]]
            if len(parts) == len({*parts}):
                yield {name: fused[name] for name in names}


def _fits_fused(one: Map, roles: Sequence[RoleWeights]) -> bool:
    shape = [sum(role.weight.shape[0] for role in roles), roles[0].weight.shape[-1]]
    return one.weight.shape in (shape, shape[::-1])


def _by_shape(
    maps: Sequence[Map], roles: Sequence[RoleWeights]
) -> Iterator[tuple[RoleWeights, Map]]:
    """Yield each role that only one map fits, if that map fits no other role."""
    fits = {id(one): [role for role in roles if one.fits(role)] for one in maps}
    for role in roles:
        able = [one for one in maps if role in fits[id(one)]]
        if len(able) == 1 and len(fits[id(able[0])]) == 1:
            yield role, able[0]


def _fused_by_name(
    groups: Mapping[str, list[Map]], roles: Sequence[RoleWeights], covered: Set[str]
) -> Iterator[tuple[str, tuple[str, ...], Map]]:
    """Yield each named fused map with its id and the roles that it carries.

    Args:
        groups: Maps by the name of the role that their paths name.
        roles: All that are wanted.
        covered: Ids of roles that have a map; grows while the maps are taken.
    """
    fused = fused_maps(roles)
    for name in _FUSED:
        every = [slot for slot in fused if _is(slot, name)]
        free = [slot for slot in every if covered.isdisjoint(fused[slot])]
        slots = {slot.removesuffix(name).rstrip("_"): slot for slot in free or every}
        members = groups.get(name, [])
        if members and len(members) <= len(slots):
            for group, one in _in_groups(members, list(slots)):
                yield slots[group], fused[slots[group]], one


def _is(slot: str, name: str) -> bool:
    return slot == name or slot.endswith(f"_{name}")


def _distribute(
    members: list[Map], roles: Sequence[RoleWeights]
) -> Iterator[tuple[RoleWeights, list[Map]]]:
    """Yield each of several roles of one name with its maps."""
    if len(roles) == 1:
        yield roles[0], members
        return
    shares: dict[str, list[Map]] = {}
    rest = []
    for one in members:
        able = [role for role in roles if one.fits(role)]
        if len(able) == 1:
            shares.setdefault(able[0].group, []).append(one)
        else:
            rest.append(one)
    open_ = [role.group for role in roles if role.group not in shares]
    for group, one in _in_groups(rest, open_) if open_ else ():
        shares.setdefault(group, []).append(one)
    yield from ((role, shares[role.group]) for role in roles if role.group in shares)


def _in_groups(members: Sequence[Map], groups: Sequence[str]) -> Iterator[tuple[str, Map]]:
    """Yield each map with its group: by a word on its path, else in order."""
    left, free = [], list(groups)
    for one in members:
        group = next((g for g in groups if g in one.groups), None)
        if group is None or len(groups) == 1:
            left.append(one)
        else:
            if group in free:
                free.remove(group)
            yield group, one
    if len(groups) == 1:
        yield from ((groups[0], one) for one in left)
        return
    for group, owner in zip(free, dict.fromkeys(_owner(one, left) for one in left), strict=False):
        yield from ((group, one) for one in left if _owner(one, left) == owner)


def _owner(one: Map, members: Sequence[Map]) -> str:
    """Return the path that tells a map's module apart from those of the other members.

    It is the path of its parent, without numbers at the end, which count heads, unless only they
    differ. If all have the same parent, it is the map's own path.
    """
    for part in (_list_of, _parent_of):
        if len({part(member.path) for member in members}) > 1:
            return part(one.path)
    return one.path


def _parent_of(path: str) -> str:
    return path.rpartition(".")[0]


def _list_of(path: str) -> str:
    return re.sub(r"(\.[0-9]+)+$", "", _parent_of(path))
