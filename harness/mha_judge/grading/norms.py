"""The vectors of a module that are no named map's bias: scales and shifts of normalisations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mha_judge.grading.replies import ParameterInfo
from mha_judge.grading.roles import fold

_SHIFT = re.compile(r"beta|bias|shift|offset|^b[_0-9]*$|^add")
_SCALE = re.compile(r"gamma|weight|scale|gain|^[agw][_0-9]*$|^mul")


def scales_and_shifts(
    vectors: Sequence[ParameterInfo], wanted: int
) -> list[tuple[ParameterInfo, ParameterInfo | None]]:
    """Return each scale with the shift beside it, if there is one.

    Names tell them apart, else what they start as: a scale as ones, a shift as zeros. If that
    leaves fewer than wanted, what says nothing is taken in turns, a scale before its shift.
    """
    beside: dict[str, list[ParameterInfo]] = {}
    for vector in vectors:
        beside.setdefault(vector.path.rpartition(".")[0], []).append(vector)
    plain, guessed = (
        [pair for members in beside.values() for pair in _pairs(members, in_turns)]
        for in_turns in (False, True)
    )
    return plain if len(plain) >= wanted else guessed


def _pairs(
    members: Sequence[ParameterInfo], in_turns: bool
) -> Iterator[tuple[ParameterInfo, ParameterInfo | None]]:
    kinds: list[bool | None] = []  # whether it is a shift; None for neither
    for member in members:
        known = _is_shift(member)
        if known is None and kinds and kinds[-1] is False:  # right after a scale
            known = True
        kinds.append(False if known is None and in_turns else known)
    scales = [place for place, shift in enumerate(kinds) if shift is False]
    shifts = [place for place, shift in enumerate(kinds) if shift]
    for number, scale in enumerate(scales):
        if len(shifts) > len(scales):  # biases of other maps are among them
            own = [place for place in shifts if place == scale + 1]
        else:
            own = shifts[number : number + 1]
        yield members[scale], members[own[0]] if own else None


def _is_shift(vector: ParameterInfo) -> bool | None:
    name = fold(vector.path.split(".")[-1])
    if _SHIFT.search(name):
        return True
    if _SCALE.search(name):
        return False
    return {"ones": False, "zeros": True}.get(vector.start or "")
