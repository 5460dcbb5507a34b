"""Masks that mean the same in every dtype."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import torch

from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding, dtype_name

MASK_DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip
"""Those that −1e9 fits, the plain one first: a mask may be multiplied with it."""
_FEW = 3


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
