"""Plain arrays to which several paths lead: one array, or several that start as one object."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mha_judge.bank.vocabulary import Vocabulary
from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.roles import said_of

_APART = "each path by itself"


@dataclass(frozen=True)
class View:
    """One way to read the paths that a worker found."""

    key: tuple[str, ...]
    parameters: list[ParameterInfo]
    """Each array once."""
    aliases: Mapping[str, str]
    """Further paths, each with the path that stands for its array in `parameters`."""


def views(
    parameters: Sequence[ParameterInfo],
    words: Vocabulary,
    names: Mapping[str, Sequence[str]],
    wanted: Collection[str] = (),
) -> Iterator[View]:
    """Yield a view in which all paths to an array are one parameter, then one with each by itself.

    Paths that name different roles are never one: an array at an attribute and in a dict is one
    parameter, but `W_q = W_k = eye(E)` are two that start equal.

    Args:
        parameters: The candidate's.
        words: What candidates call roles.
        names: By role, further names of the problem's own.
        wanted: A key; only the view that it names is yielded.
    """
    aliases = _aliases(parameters, words, names)
    if not aliases:
        yield View((), list(parameters), {})
        return
    if _APART not in wanted:
        yield View((), [one for one in parameters if one.path not in aliases], aliases)
    if _APART in wanted or not wanted:
        yield View((_APART,), list(parameters), {})


def _aliases(
    parameters: Sequence[ParameterInfo], words: Vocabulary, names: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return further paths to an array, each with the one that stands for it: named, or first."""
    arrays: dict[int, list[ParameterInfo]] = {}
    for parameter in parameters:
        if parameter.number is not None:
            arrays.setdefault(parameter.number, []).append(parameter)
    aliases: dict[str, str] = {}
    for paths in arrays.values():
        if len(paths) == 1:
            continue
        said = {one.path: said_of(one.path, words, names) for one in paths}
        named = {told: path for path, told in said.items() if told[0] is not None}
        if len(named) > 1:
            continue
        first = next((path for path in said if said[path][0] is not None), paths[0].path)
        aliases |= {path: first for path in said if path != first}
    return aliases
