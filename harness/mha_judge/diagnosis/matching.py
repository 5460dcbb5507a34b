"""When two results count as the same in a diagnosis."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mha_judge.diagnosis.programs import REFUSED
from mha_judge.grading.failures import CheckFailure, Raised
from mha_judge.grading.formulas.growth import FormulaError, from_answer, same_growth

NEAR, CLOSE, ALIKE, SAME = 0.1, 1e-2, 1e-4, 1e-7
"""Shares of the largest number: worth a closer look, equal but for the rounding of large scores,
equal but for rounding, equal for certain."""
_LETTERS = "abcdefghijklmnpqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ"  # O is no letter: O(n)


def alike(found: Any, own: Any, share: float) -> bool:
    """Return whether two leaves differ by no more than a share of the largest number."""
    if not isinstance(own, Tensor):
        return bool(type(found) is type(own) and found == own)
    if not isinstance(found, Tensor) or found.shape != own.shape or found.dtype != own.dtype:
        return False
    if not own.dtype.is_floating_point:
        return bool(torch.equal(found, own))
    one, other = found.detach().double(), own.detach().double()
    return torch.allclose(one, other, rtol=0.0, atol=share * _largest(other), equal_nan=True)


def nearness(found: Tensor, own: Tensor) -> float:
    """Return 1 minus the mean difference of two tensors of one shape, as shares of the largest
    number; a number that is nowhere near counts as 0, and NaN is near NaN."""
    one, other = found.detach().double(), own.detach().double()
    apart = (one - other).abs() / max(_largest(other), 1e-30)
    apart = apart.masked_fill((one == other) | (one.isnan() & other.isnan()), 0)
    return 1 - float(apart.nan_to_num(1).clamp(max=1).mean()) if apart.numel() else 0.0


def _largest(numbers: Tensor) -> float:
    finite = numbers[torch.isfinite(numbers)]
    return float(finite.abs().max()) if finite.numel() else 1.0


def same_error(failure: CheckFailure, error: Exception) -> bool:
    """Return whether the candidate raised what a program raised, by type and by torch's words."""
    if not isinstance(failure, Raised) or failure.kind != type(error).__name__:
        return False
    words = str(error).split("\n")[0].strip()  # NumPy's end on a space; the candidate's are cut
    return words == REFUSED or words[:100] in failure.message


def same_answer(found: Any, answers: Any, key: str) -> bool:
    """Return whether an answer equals the program's, or is a formula that grows alike."""
    if not isinstance(answers, dict) or key not in answers:
        return False
    if found == answers[key]:
        return True
    try:
        one, other = (from_answer(text, _LETTERS) for text in (found, answers[key]))
        return bool(same_growth(one, other).is_equal)
    except (FormulaError, ValueError):
        return False
