"""The maps among a module's parameters: each a weight, and a bias where there is one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

from mha_judge.bank.vocabulary import Vocabulary
from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.layouts import layouts_of
from mha_judge.grading.binding.norms import scales_and_shifts
from mha_judge.grading.binding.roles import groups_in, heads_index, is_bias, map_path, role_of


@dataclass(frozen=True, eq=False)  # tensors have no one truth value
class RoleWeights:
    """What the reference puts into one role."""

    name: str
    """q, k, v, out, …; two groups may have roles of the same name."""
    weight: Tensor
    """(out, in), or (width,) of a normalisation."""
    bias: Tensor
    """(out,); zero where the reference has none."""
    heads: int = 1
    split: str = "out"
    kind: str = "linear"
    group: str = ""
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.group}_{self.name}" if self.group else self.name


@dataclass
class Map:
    """A candidate's weight, and its bias."""

    path: str
    weight: ParameterInfo
    bias: ParameterInfo | None = None
    role: str | None = None
    """Name of the role that its path names."""
    index: tuple[int, ...] = ()
    kind: str = "linear"
    groups: frozenset[str] = frozenset()
    """Groups of roles that its path names."""

    def fits(self, role: RoleWeights) -> bool:
        """Return whether its shape can hold the numbers of a role."""
        if "norm" in (self.kind, role.kind) and self.kind != role.kind:
            return False
        shape, owner = self.weight.shape or [], self.weight.owner
        return bool(layouts_of(shape, owner, role.weight, role.heads, role.split))


def names_of(roles: Sequence[RoleWeights]) -> dict[str, tuple[str, ...]]:
    """Return the further names that a problem gives each role, over all groups."""
    names: dict[str, tuple[str, ...]] = {}
    for role in roles:
        names[role.name] = (*names.get(role.name, ()), *role.names)
    return names


def maps_of(
    parameters: Sequence[ParameterInfo], roles: Sequence[RoleWeights], words: Vocabulary
) -> list[Map]:
    """Return the maps of a module in order of definition, those of normalisations last."""
    tables = {_squeezed(role.weight.shape) for role in roles if role.kind == "table"}
    tables |= {shape[::-1] for shape in tables}
    names = names_of(roles)
    groups = {role.group for role in roles}
    maps: dict[str, Map] = {}
    flat: list[ParameterInfo] = []
    for parameter in parameters:
        if parameter.shape is None:
            continue
        if _is_weight(parameter, tables) and not _is_vector(parameter, roles):
            # a table of biases belongs to no other map
            path = parameter.path if is_bias(parameter.path) else map_path(parameter.path)
            path = path if path not in maps else parameter.path
            index = heads_index(parameter.path)
            named = role_of(parameter.path, words, names)
            spoken_of = groups_in(path, groups, words)
            maps[path] = Map(path, parameter, None, named, index, groups=spoken_of)
        else:
            flat.append(parameter)
    _leave_parts_open(maps.values())
    alone = []
    for parameter in flat:
        owner = maps.get(map_path(parameter.path))
        if owner is not None and owner.bias is None:
            owner.bias = parameter
        else:
            alone.append(parameter)
    sizes = [role.weight for role in roles if role.kind == "norm"]
    norms = _norms(
        [one for one in alone if any(layouts_of(one.shape or [], "", w, 1, "norm") for w in sizes)],
        len(sizes),
    )
    taken = {id(vector) for one in norms for vector in (one.weight, one.bias)}
    _pair_in_order(maps.values(), [vector for vector in alone if id(vector) not in taken])
    return [*maps.values(), *norms]


def _leave_parts_open(maps: Iterable[Map]) -> None:
    """Remove the role of a fused map from the maps in a list of that name: each is only a part."""
    lists: dict[tuple[str | None, str], list[Map]] = {}
    for one in maps:
        parent, _, last = one.path.rpartition(".")
        if last.isdigit():
            lists.setdefault((one.role, parent), []).append(one)
    for (role, _), members in lists.items():
        if role in ("qkv", "kv") and len(members) > 1:
            for one in members:
                one.role = None


def _pair_in_order(maps: Iterable[Map], vectors: Sequence[ParameterInfo]) -> None:
    """Give maps without a bias the vectors that no name placed, if each map gets one."""
    bare = [one for one in maps if one.bias is None]
    rest = [vector for vector in vectors if vector.start != "ones"]
    pairs = list(zip(bare, rest, strict=False))
    fit = all((bias.shape or [0])[0] in (one.weight.shape or []) for one, bias in pairs)
    if len(bare) == len(rest) and fit:
        for one, bias in pairs:
            one.bias = bias


def _is_weight(parameter: ParameterInfo, tables: Collection[tuple[int, ...]]) -> bool:
    bare = parameter.path.split(".")[-1] in ("b", "B")  # a, b, c, d may be the names of matrices
    shape = _squeezed(parameter.shape or [])
    return bare or shape in tables or not is_bias(parameter.path)


def _is_vector(parameter: ParameterInfo, roles: Sequence[RoleWeights]) -> bool:
    """Return whether a parameter is no map: it has one axis, or holds a norm's row (1, E).

    A map of one feature, or a head with one, is such a row too, but does not start constant.
    """
    shape = parameter.shape or []
    if len(shape) < 2:
        return True
    wide = [role.weight for role in roles if role.kind == "norm"]
    if not any(layouts_of(shape, "", weight, 1, "norm") for weight in wide):
        return False
    linear = [role for role in roles if role.kind == "linear"]
    heads = [role.weight.chunk(role.heads, 0 if role.split == "out" else 1)[0] for role in linear]
    whole = [role.weight for role in linear]
    return parameter.start is not None or not any(
        layouts_of(shape, "", weight, 1, "fused") for weight in (*whole, *heads)
    )


def _squeezed(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


def _norms(vectors: Sequence[ParameterInfo], wanted: int) -> list[Map]:
    """Return the scales of normalisations, each with the shift beside it."""
    pairs = scales_and_shifts(vectors, wanted)
    parents = [scale.path.rpartition(".")[0] for scale, _ in pairs]
    maps = []
    for (scale, shift), parent in zip(pairs, parents, strict=True):
        name = parent if parents.count(parent) == 1 and parent else scale.path
        maps.append(Map(name, scale, shift, "norm", heads_index(name), "norm"))
    return maps
