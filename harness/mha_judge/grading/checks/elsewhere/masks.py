"""Masks that mean the same in every dtype, and whichever keys they block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.checks.assertions import assert_inputs_unchanged
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding, dtype_name
from mha_judge.grading.draw import Draw
from mha_judge.grading.failures import CheckFailure
from mha_judge.problem import Entry

MASK_DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip
"""Those that −1e9 fits, the plain one first: a mask may be multiplied with it."""
_FEW = 3
_FEW_OPEN = 3


class MaskDtypes:
    """Asks with masks of other dtypes: of all in the first question, of the next few in others."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._asked: Counter[str] = Counter()

    def ask(self, case: Case, number: int) -> Iterator[Finding]:
        """Ask with each mask of a question in other dtypes."""
        for index, mask in case.shapes.flags().items():
            name = case.target.entry.arguments[index]
            for _ in range(_FEW if name in self._asked else len(MASK_DTYPES)):
                dtype = MASK_DTYPES[self._asked[name] % len(MASK_DTYPES)]
                self._asked[name] += 1
                if dtype is torch.bfloat16 and case.target.entry.arrays == "numpy":
                    continue  # which NumPy does not have
                failure = self._asking.ask(case, case.with_numbers({index: mask.to(dtype)}))
                yield Finding(f"where `{name}` is {dtype_name(dtype)}", failure)


def unchanged(asking: Asking, case: Case, number: int) -> Iterator[Finding]:
    """Ask whether inputs stay as they are where a row has no open key, which some open then."""
    del number
    if blocked_keys(case) and case.target.entry.name in asking.row_blocked:
        failure = None
        try:
            assert_inputs_unchanged(case.target, *without_a_row(case, case.args, asking.draw))
        except CheckFailure as found:
            failure = found
        yield Finding("where a row has no open key", failure)


def blocking(case: Case, args: Sequence[Any], which: str, draw: Draw) -> list[Any]:
    """Return arguments whose mask blocks the first keys, the last, one, or all but one.

    In each row others are blocked. Of the first keys, all but a few are in the last row.
    """
    changed = [*args]
    for index in blocked_keys(case):
        keys = args[index].shape[-1]
        if keys > 1:
            at = draw.lengths(*args[index].shape[:-1], most=keys - 1)[..., None]
            if which == "left":
                at.view(-1)[-1] = keys - 1 - min(_FEW_OPEN, keys // 4)
            place = torch.arange(keys)
            open_ = {
                "left": place >= at, "right": place < at, "one": place != at, "alone": place == at
            }[which]  # fmt: skip
            changed[index] = (open_ ^ _is_inverted(case, index)).to(args[index].dtype)
    return changed


def without_a_row(case: Case, args: Sequence[Any], draw: Draw) -> list[Any]:
    """Return the arguments with one row blocked wholly in each mask that has several."""
    blocked = [*args]
    for index in blocked_keys(case):
        rows = args[index].numel() // args[index].shape[-1]
        if rows > 1:
            blocked[index] = args[index].clone()
            row = draw.integer(0, rows - 1)
            blocked[index].view(rows, -1)[row] = _is_inverted(case, index)
    return blocked


def blocked_keys(case: Case) -> list[int]:
    """Return the place of the mask that blocks something; none where there are several.

    An answer may be right only where nothing is blocked, if a check's own masks block nothing; and
    two masks together may leave a row no open key.
    """
    found = open_keys(case.target.entry, case.args)
    blocking = [index for index, open_ in found.items() if not bool(open_.all())]
    return blocking if len(blocking) == 1 else []


def open_keys(entry: Entry, args: Sequence[Any]) -> dict[int, Tensor]:
    """Return where the masks of a call are open, by their places; those that are added are not."""
    found: dict[int, Tensor] = {}
    for index, (name, value) in enumerate(zip(entry.arguments, args, strict=False)):
        if isinstance(value, Tensor) and entry.domain is not None:
            if name in entry.domain.flags:
                found[index] = value != 0
            elif name in entry.domain.masks and value.dtype is torch.bool:
                found[index] = ~value
    return found


def _is_inverted(case: Case, index: int) -> bool:
    """Return whether a mask blocks where it is True."""
    return case.target.entry.arguments[index] in case.domain.masks
