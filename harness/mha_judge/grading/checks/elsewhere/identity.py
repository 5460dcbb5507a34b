"""One tensor for several inputs, and one layer with other weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.checks.cases import Case, resized
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding
from mha_judge.grading.failures import CheckFailure
from mha_judge.problem import axes_of

_MOST = 4
"""Questions in which two inputs become one object."""
_FEW_WEIGHTS = 8
"""How many weights and biases are set anew one at a time in each mode."""


def one_object(asking: Asking, case: Case, number: int) -> Iterator[Finding]:
    """Ask with one tensor for several inputs, made equal in size where they are not."""
    if number >= _MOST:
        return
    names = case.target.entry.arguments
    axes = {i: axes_of(case.domain.shapes[names[i]]) for i in case.shapes.numbers()}
    for first, own in axes.items():
        same = [i for i, others in axes.items() if i >= first and len(others) == len(own)]
        groups = [[first, second] for second in same[1:]]
        for group in [*groups, same] if len(same) > 2 else groups:
            given = " and ".join(f"`{names[index]}`" for index in group)
            pairs = [pair for index in group for pair in zip(axes[index], own, strict=True)]
            failure = _with_one_object(asking, case, group, dict(pairs))
            yield Finding(f"where {given} are one object", failure)


def _with_one_object(
    asking: Asking, case: Case, group: Sequence[int], equal: Mapping[str, str]
) -> CheckFailure | None:
    """Ask with the first input of a group for all; not if no layer has such sizes."""
    letters = {letter: case.shapes.letters[other] for letter, other in equal.items()}
    try:
        case = resized(case, letters)
    except CheckFailure:
        return None
    args = case.shapes.at(letters, asking.draw)
    if any(args[index].shape != args[group[0]].shape for index in group):
        return None
    return asking.ask(case, [args[group[0]] if i in group else a for i, a in enumerate(args)])


def other_weights(asking: Asking, case: Case, number: int) -> Iterator[Finding]:
    """Ask a fresh layer again with other weights, all and then one of them, in each mode."""
    layer = case.target
    if number or not isinstance(layer, Layer) or layer.entry.arrays == "numpy":
        return
    for mode, words in AXES["mode"].items():
        fresh = layer.like()
        again = replace(case, target=fresh)
        asking.ask(again, case.args, mode)
        fresh.redraw()
        where = f"after weights were set anew {words}".rstrip()
        yield Finding(where, asking.ask(again, case.args, mode))
        roles = len(layer.entry.roles)
        for index in asking.draw.permutation(2 * roles).tolist()[:_FEW_WEIGHTS]:
            fresh.redraw_one(index // 2, bias=bool(index % 2))
            where = f"after one of its weights was set anew {words}".rstrip()
            yield Finding(where, asking.ask(again, case.args, mode))
