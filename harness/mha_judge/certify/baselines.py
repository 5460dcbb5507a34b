"""Worthless answers: the reference with its results spoilt."""

from __future__ import annotations

from mha_judge.bank.problem import Entry, Problem

_DETACHED = "cut from the graph"
_WIDE = "float64"
_SPOILERS: dict[str, str] = {
    "zeros": "torch.zeros_like(t)",
    "ones": "torch.ones_like(t)",
    "NaN": ("torch.full_like(t, float('nan')) if t.is_floating_point() else torch.zeros_like(t)"),
    "noise": "torch.randn(t.shape).to(t.dtype)",
    "the mean over positions": "t.mean(-2, keepdim=True).expand_as(t).clone()",
    "positions in reverse": "t.flip(-2)",
    "the batch mixed up": "t.roll(1, 0)",
    "1 % too large": "t * 1.01",
    "1 ‰ of noise": "t + 1e-3 * t.abs().max() * torch.randn_like(t)",
    "two decimals": "(t * 100).round() / 100",
    "the other sign": "-t",
    _DETACHED: "t.detach().clone()",
    _WIDE: "t.double() if t.dtype is torch.float32 else t.float()",
    "a flat tensor": "t.reshape(-1)",
}

WORTHLESS = frozenset({"zeros", "ones", "noise", "a flat tensor", "nothing"})
"""Answers with nothing right; the others may have only one thing wrong."""
_NOTHING = "nothing"
_ANSWERS: dict[str, str] = {
    "the first letter everywhere": "'a'",
    _NOTHING: "''",
    "the number 1 everywhere": "'1'",
    "the question back": "question",
}
_NUMBERS: dict[str, str] = {
    _NOTHING: "0",
    "zero": "0",
    "one more": "value + 1",
    "twice": "2 * value",
}

_HEAD = """

import functools as _functools
import numpy
import torch


def _spoil(value):
    if isinstance(value, numpy.ndarray):
        return numpy.asarray(_spoil(torch.from_numpy(value.copy())))
    if isinstance(value, torch.Tensor):
        t = value
        return {tensor}
    if isinstance(value, (int, float)):
        return {number}
    if isinstance(value, (list, tuple)):
        return type(value)(_spoil(item) for item in value)
    return value


def _spoilt(function):
    @_functools.wraps(function)
    def call(*args, **kwargs):
        return _spoil(function(*args, **kwargs))

    return call
"""


def baselines(problem: Problem, reference: str) -> dict[str, str]:
    """Return the source of each worthless answer, by what it returns.

    Args:
        problem: Its entries are spoilt: their tensors or, if it asks for counts, their numbers.
        reference: The reference's source.
    """
    if all(entry.kind == "answers" for entry in problem.entry):
        names = [entry.name for entry in problem.entry]
        return {
            name: reference
            + "".join(f"\n{n} = {{question: {answer} for question in {n}}}\n" for n in names)
            for name, answer in _ANSWERS.items()
        }
    spoilt = "".join(_spoilt(entry) for entry in problem.entry if entry.kind != "answers")
    sheets = [entry.name for entry in problem.entry if entry.kind == "answers"]
    counts = bool(sheets)
    learns = problem.has_gradients and any(
        entry.kind != "object" and entry.arrays == "torch" for entry in problem.entry
    )
    either = any(entry.arrays == "either" for entry in problem.entry)  # NumPy's float64 is fine
    found = {}
    for name, expression in (_NUMBERS if counts else _SPOILERS).items():
        if (name == _DETACHED and not learns) or (name == _WIDE and either):
            continue
        tensor, number = ("value", expression) if counts else (expression, "value")
        head = _HEAD.replace("{tensor}", tensor).replace("{number}", number)
        found[name] = reference + head + spoilt
        if name == _NOTHING:
            found[name] += "".join(f"\n{answers} = {{}}\n" for answers in sheets)
    return found


def _spoilt(entry: Entry) -> str:
    if entry.kind == "function":
        return f"\n\n{entry.name} = _spoilt({entry.name})\n"
    if entry.kind == "object":
        names = [f"{entry.name}.{method.name}" for method in entry.methods]
        return "\n" + "".join(f"\n{name} = _spoilt({name})" for name in names) + "\n"
    return f"\n\n{entry.name}.forward = _spoilt({entry.name}.forward)\n"
