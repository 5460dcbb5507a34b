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


def blocking(mask: Tensor, which: str, draw: Draw) -> Tensor:
    """Return a mask that blocks the first keys, the last, one, or all but one, in each row others.

    Of the first keys, all but a few are blocked in the last row.
    """
    keys = mask.shape[-1]
    if which in ("", "row") or keys < 2:
        return mask
    at = draw.lengths(*mask.shape[:-1], most=keys - 1)[..., None]
    if which == "left":
        at.view(-1)[-1] = keys - 1 - min(_FEW_OPEN, keys // 4)
    place = torch.arange(keys)
    open_ = {"left": place >= at, "right": place < at, "one": place != at, "alone": place == at}
    return open_[which].to(mask.dtype)


def without_a_row(case: Case, args: Sequence[Any], draw: Draw) -> list[Any]:
    """Return the arguments with one row blocked wholly in each mask that has several."""
    blocked = [*args]
    for index in blocked_keys(case):
        rows = args[index].numel() // args[index].shape[-1]
        if rows > 1:
            blocked[index] = args[index].clone()
            blocked[index].view(rows, -1)[draw.integer(0, rows - 1)] = 0
    return blocked


def blocked_keys(case: Case) -> list[int]:
    """Return the places of masks that block something.

    An answer may be right only where nothing is blocked, if a check's own masks block nothing.
    """
    return [index for index, mask in case.shapes.flags().items() if not bool(mask.all())]
