"""Masks that mean the same in every dtype, and whichever keys they block."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.problem import Entry
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.draw import Draw

MASK_DTYPES = {
    "integer": (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    "floating": (torch.float32, torch.float64, torch.bfloat16),
}
"""Besides bool, by kind; without float16, as a mask may be multiplied with −1e9."""
_FEW, _PAIR = 3, 2
_FEW_OPEN = 3
_NEARLY = ("nearly causal", "unlike")
_NEARLY_CAUSAL = 3
"""How many kinds of masks are nearly causal: one key more, one less, and both. Of several masks the
first may be causal, too."""
UNLIKE = 5
"""How many kinds are unlike in some rows, or items: in the last key, or in which keys are open,
where their number and the sum of their places are the same; or unlike in heads but for one item."""
_ALIKE = ((True, False, False, True), (False, True, True, False))
_LOW = -20_000.0
"""Below what answers may take for −∞."""


def blocking(case: Case, args: Sequence[Any], which: str, draw: Draw, number: int = 0) -> list[Any]:
    """Return arguments whose mask blocks the first keys, the last, a few, one, or all but one.

    Each row blocks different keys; of the first keys, the last row blocks all but a few. Or the
    mask is nearly one that an answer may assume: causal, or the same for all rows or items. Or the
    numbers that it adds are all low, or zero, which changes nothing. Of several masks one blocks at
    a time, in turns, as two may leave a row no open key.
    """
    changed = [*args]
    if which in ("low", "zero"):
        for index in added(case):
            changed[index] = args[index] + _LOW if which == "low" else 0 * args[index]
        return changed
    found = []
    for index in blocked_keys(case):
        if masks := _masks(args[index].shape, which, draw, number):
            found.append((index, masks))
    if not found:
        return changed
    for index, _ in found:  # two masks together may leave a row no open key
        changed[index] = torch.full_like(args[index], not _is_inverted(case, index))
    index, kinds = found[number // (1 + _NEARLY_CAUSAL) % len(found)]
    open_ = kinds[number % len(kinds)]
    changed[index] = (open_ ^ _is_inverted(case, index)).to(args[index].dtype)
    return changed


def _masks(shape: Sequence[int], which: str, draw: Draw, number: int) -> list[Tensor]:
    """Return where masks of a shape are open, one of each kind; none if there is only one key.

    If the number is odd, the first keys that are blocked, or the last, are at least half.
    """
    if which in _NEARLY:
        return nearly(shape, which, draw)
    keys = shape[-1]
    if keys < 2:
        return []
    are_few_open = which in ("left", "right") and number % 2
    at = draw.lengths(*shape[:-1], most=keys // 2 if are_few_open else keys - 1)[..., None]
    if which == "left" and are_few_open:
        at = keys - at
    if which == "left":
        at.view(-1)[-1] = keys - 1 - min(_FEW_OPEN, keys // 4)
    place = torch.arange(keys)
    opened = {
        "left": place >= at,
        "right": place < at,
        "few": (place < keys - _FEW).expand(*shape),
        "pair": (place < keys - _PAIR).expand(*shape),
        "last": (place == keys - 1).expand(*shape),
        "one": place != at,
        "alone": place == at,
    }
    return [opened[which]]


def added(case: Case) -> list[int]:
    """Return the places of the masks that are added to the scores."""
    names = case.target.entry.arguments
    return [
        index
        for index, value in enumerate(case.args)
        if names[index] in case.domain.masks and value is not None and value.is_floating_point()
    ]


def lengths_given(case: Case) -> list[int]:
    """Return the places of the arguments that say up to which key keys are open."""
    names = case.target.entry.arguments[: len(case.args)]
    given = [names.index(name) for name in case.domain.lengths if name in names]
    return [index for index in given if case.args[index] is not None]


def may_be_square(case: Case) -> bool:
    """Return whether a mask has as many rows as keys once all lengths are equal."""
    axes = [case.shapes.axes(index)[-2:] for index in blocked_keys(case)]
    return any(len(one) == 2 and {*one} <= {*case.long} for one in axes)


def nearly_causal(case: Case) -> Iterable[int]:
    """Return the numbers with which each kind of a nearly causal mask is asked.

    Where it is the same for all items and heads that is each kind, else the last: the first item's
    alone is causal.
    """
    shapes = [case.args[index].shape for index in blocked_keys(case)]
    if all(math.prod(one[:-2]) == 1 for one in shapes):
        return range(_NEARLY_CAUSAL)
    kinds = 1 + _NEARLY_CAUSAL
    return range(_NEARLY_CAUSAL, kinds * len(shapes), kinds)


def axes_of_masks(case: Case) -> tuple[tuple[bool, ...], ...]:
    """Return along which axes each mask that blocks something differs."""
    return tuple(tuple(one > 1 for one in case.args[index].shape) for index in blocked_keys(case))


def may_be_unlike(case: Case, draw: Draw) -> bool:
    """Return whether a mask can be the same for all rows or items but one."""
    return any(nearly(case.args[index].shape, "unlike", draw) for index in blocked_keys(case))


def nearly(shape: Sequence[int], which: str, draw: Draw) -> list[Tensor]:
    """Return masks of a shape that are not quite causal, or the same but for one row or item."""
    keys, rows = shape[-1], shape[-2] if len(shape) > 1 else 1
    if keys < _FEW:
        return []
    if which == "nearly causal":
        if rows != keys:
            return []
        causal = torch.ones(rows, keys, dtype=torch.bool).tril()
        row = draw.integer(1, rows - 2)
        more, less = causal.clone(), causal.clone()
        more[row, draw.integer(row + 1, keys - 1)] = True
        less[row, draw.integer(0, row - 1)] = False
        every = torch.stack((more ^ less ^ causal, more, less))
        turns = torch.arange(math.prod(shape[:-2]))  # items and heads must not be alike
        made = [every[(turns + first) % len(every)] for first in range(len(every))]
        if len(turns) > 1:
            made.append(torch.cat((causal[None], made[0][1:])))
        return [one.view(*shape) for one in made]
    found = []
    for axis in dict.fromkeys((0, len(shape) - 2)):
        if axis >= 0 and shape[axis] > 1:
            sizes = [1 if one == axis else size for one, size in enumerate(shape)]
            same = draw.mask(*sizes)
            mask = same.expand(*shape).clone()
            unlike = mask.select(axis, draw.integer(0, shape[axis] - 1))
            unlike.copy_(_with_another_last_key(same.select(axis, 0)))
            found.append(mask)
            if keys > len(_ALIKE[0]):
                found.append(_alike_in_totals(mask, axis))
    if len(shape) > 3 and 1 not in shape[:2]:  # heads are alike in the first item alone
        mask = draw.mask(*shape)
        mask[0] = mask[0, :1]
        found.append(mask)
    return found


def _alike_in_totals(mask: Tensor, axis: int) -> Tensor:
    """Return a mask whose rows or items have as many open keys, with places of the same sum."""
    turns = torch.arange(mask.shape[axis]) % 2
    every = torch.tensor(_ALIKE)[turns]
    mask = mask.narrow(axis, 0, 1).expand_as(mask).clone()
    shape = [mask.shape[axis] if one == axis else 1 for one in range(mask.dim() - 1)]
    mask[..., 1 : 1 + every.shape[-1]] = every.view(*shape, -1)
    mask[..., :1] = True
    return mask


def _with_another_last_key(mask: Tensor) -> Tensor:
    """Return a mask that differs in the last key alone, which stays open if no other is."""
    last = ~mask[..., -1:] | ~mask[..., :-1].any(-1, keepdim=True)
    return torch.cat((mask[..., :-1], last), dim=-1)


def without_a_row(case: Case, args: Sequence[Any], draw: Draw) -> list[Any]:
    """Return the arguments with one row wholly blocked in each mask that has several rows."""
    blocked = [*args]
    for index in blocked_keys(case):
        rows = args[index].numel() // args[index].shape[-1]
        if rows > 1:
            blocked[index] = args[index].clone()
            row = draw.integer(0, rows - 1)
            blocked[index].view(rows, -1)[row] = _is_inverted(case, index)
    return blocked


def opened(case: Case, args: Sequence[Any], every: bool = False) -> list[Any]:
    """Return the arguments with masks open, those of a single key or every one.

    Without a key nothing is defined.
    """
    single = [one if isinstance(one, Tensor) and one.shape[-1:] == (1,) else None for one in args]
    found = open_keys(case.target.entry, args if every else single)
    return [
        torch.full_like(value, not _is_inverted(case, index)) if index in found else value
        for index, value in enumerate(args)
    ]


def blocked_keys(case: Case) -> list[int]:
    """Return the places of the masks that block something.

    If a check's own masks block nothing, an answer may be wrong as soon as something is blocked.
    """
    found = open_keys(case.target.entry, case.args)
    return [index for index, open_ in found.items() if not bool(open_.all())]


def open_keys(entry: Entry, args: Sequence[Any]) -> dict[int, Tensor]:
    """Return where the masks of a call are open, by their places; additive masks are left out."""
    found: dict[int, Tensor] = {}
    for index, (name, value) in enumerate(zip(entry.arguments, args, strict=False)):
        if isinstance(value, Tensor) and entry.domain is not None:
            if name in entry.domain.flags:
                found[index] = (value == 0) if name in entry.domain.blocking else (value != 0)
            elif name in entry.domain.masks and value.dtype is torch.bool:
                found[index] = ~value
    return found


def _is_inverted(case: Case, index: int) -> bool:
    """Return whether a mask blocks where it is True, or 1."""
    return case.target.entry.arguments[index] in (*case.domain.masks, *case.domain.blocking)
