"""Scales and shifts of normalisations, among the vectors that are no named map's bias."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.roles import fold

_WORD = re.compile(r"(?P<shift>beta|bias|shift|offset|^add)|gamma|weight|scale|gain|^mul")
_LETTER = re.compile(r"^(?:(?P<shift>b)|[agw])[_0-9]*$")
_STARTS = {"ones": False, "zeros": True}


def scales_and_shifts(
    vectors: Sequence[ParameterInfo], wanted: int
) -> list[tuple[ParameterInfo, ParameterInfo | None]]:
    """Return each scale with the shift beside it, if there is one.

    Words in their names tell them apart, else the numbers they start with, ones in a scale, zeros
    in a shift, else a single letter. If fewer than wanted are found, the unknown vectors are taken
    in turns, a scale before its shift; if these are too few as well, each is a scale.
    """
    beside: dict[str, list[ParameterInfo]] = {}
    for vector in vectors:
        beside.setdefault(vector.path.rpartition(".")[0], []).append(vector)
    plain, in_turns, scales = (
        [pair for members in beside.values() for pair in _pairs(members, guess)]
        for guess in ("", "in turns", "scales")
    )
    return next((one for one in (plain, in_turns, scales) if len(one) >= wanted), in_turns)


def _pairs(
    members: Sequence[ParameterInfo], guess: str
) -> Iterator[tuple[ParameterInfo, ParameterInfo | None]]:
    kinds: list[bool | None] = []  # whether it is a shift; None for neither
    for known in _are_shifts(members):
        if known is None and kinds and kinds[-1] is False and guess != "scales":
            known = True  # right after a scale
        kinds.append(False if known is None and guess else known)
    scales = [place for place, shift in enumerate(kinds) if shift is False]
    shifts = [place for place, shift in enumerate(kinds) if shift]
    for number, scale in enumerate(scales):
        if len(shifts) > len(scales):  # biases of other maps are among them
            own = [place for place in shifts if place == scale + 1]
        else:
            own = shifts[number : number + 1]
        yield members[scale], members[own[0]] if own else None


def _are_shifts(members: Sequence[ParameterInfo]) -> Iterator[bool | None]:
    """Yield whether each vector of one owner is a shift; None if nothing tells."""
    names = [fold(member.path.split(".")[-1]) for member in members]
    words = [_said(list(_WORD.finditer(name))[-1:]) for name in names]  # the last one counts
    letters = [_said(list(_LETTER.finditer(name))[:1]) for name in names]
    starts = [_STARTS.get(member.start or "") for member in members]
    told = {True, False} <= {*starts}
    alike = (
        len({*words} - {None}) == 1 and len(words) - words.count(None) > 1
    )  # `weight_0`, `weight_1`
    for word, start, letter in zip(words, starts, letters, strict=True):
        ways = (None if told and alike else word, start if told else None, letter, word, start)
        yield next((way for way in ways if way is not None), None)


def _said(found: Sequence[re.Match[str]]) -> bool | None:
    return bool(found[0]["shift"]) if found else None
