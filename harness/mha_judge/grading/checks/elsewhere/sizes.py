"""Sizes that do not belong together, and must raise; sizes that are equal, and mean nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.checks.cases import Case, made_with, without_masks
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding, accepted, sizes_in_words

_MOST = 4
"""Questions that are asked with sizes that do not belong together."""
_MOST_EQUAL = 2
"""Questions of which two sizes are made equal."""


def unfit(asking: Asking, case: Case, number: int) -> Iterator[Finding]:
    """Ask for sizes that the contract rules out."""
    if case.is_half or number >= _MOST:
        return
    yield from _uncovered(asking, case)
    case = without_masks(case)
    for size in case.domain.fits:
        name, _, letter = size.partition(".")
        old = case.shapes.letters.get(letter, 0)
        for new in (old + 1, old - 1, 2 * old):  # not 1, which PyTorch would broadcast
            given = case.args[case.target.entry.arguments.index(name)]
            if new > 1 and given is not None:
                yield _refused(asking, case, name, {letter: new})
    for letter, divisor in case.domain.divides.items():
        yield from _not_divided(asking, case, letter, divisor)


def _uncovered(asking: Asking, case: Case) -> Iterator[Finding]:
    """Ask with masks and the like that are too small."""
    for size in case.domain.covers:
        name, _, letter = size.partition(".")
        old = case.shapes.letters.get(letter, 0)
        index = case.target.entry.arguments.index(name)
        for new in (old - 1, old - 2, old // 2):
            if new > 1 and index < len(case.args) and case.args[index] is not None:
                yield _refused(asking, case, name, {letter: new})


def _refused(asking: Asking, case: Case, name: str, letters: Mapping[str, int]) -> Finding:
    """Ask with one argument of other sizes, which must raise."""
    args = case.shapes.at(letters, asking.draw, only=name)
    return accepted(case.target, args, _shown(case, args))


def _not_divided(asking: Asking, case: Case, letter: str, divisor: str) -> Iterator[Finding]:
    """Ask for sizes that do not divide, but multiply out over all positions."""
    size = case.shapes.letters.get(letter, 0)
    unfit = [count for count in range(2, size + 2) if size % count]
    if not unfit:
        return
    chosen = {unfit[asking.draw.integer(0, len(unfit) - 1)] for _ in range(3)}
    for count in sorted(chosen):
        for length in (count, count * max(1, size // count)):
            letters = {**dict.fromkeys(case.long, length), divisor: count}
            args = case.shapes.at(letters, asking.draw)
            target: Any = case.target
            if isinstance(target, Layer):
                others = {d: 1 for d in case.domain.divides.values() if d != divisor}
                others.pop(letter, None)  # it must stay what it is
                sizes = {**target.sizes, **others}
                sizes |= {name: n for name, n in letters.items() if name in sizes}
                target = _Made(target, sizes)
            else:
                args[target.entry.arguments.index(divisor)] = count
            why = f"{letter} = {size} with {divisor} = {count}, and inputs {_shown(case, args)}"
            yield accepted(target, args, why)


def equal(asking: Asking, case: Case, number: int) -> Iterator[Finding]:
    """Ask with two sizes of a call equal: what tells axes apart by their sizes fails there."""
    if case.is_half or number >= _MOST_EQUAL:
        return
    fixed = {*made_with(case.target), *case.domain.divides.values()}
    groups = [[letter] for letter in case.shapes.letters if letter not in {*fixed, *case.long}]
    known = dict.fromkeys([*case.shapes.letters.values(), *case.shapes.leading])
    for group in [*case.lengths, *groups]:
        for size in known:
            letters = case.fitting(dict.fromkeys(group, size))
            if size > 1 and case.shapes.letters[group[0]] != size and {*letters.values()} == {size}:
                failure = asking.ask(case, case.shapes.at(letters, asking.draw))
                others = [n for n, s in case.shapes.letters.items() if s == size and n not in group]
                where = sizes_in_words({**letters, **dict.fromkeys(others, size)})
                yield Finding(f"where {where}", failure)


class _Made:
    """A layer that the contract rules out, made and called at once."""

    def __init__(self, layer: Layer, sizes: Mapping[str, Any]) -> None:
        self._layer, self._sizes = layer, sizes

    def attempt(self, *args: Any) -> None:
        self._layer.maker.try_once(self._sizes, args)


def _shown(case: Case, args: Sequence[Any]) -> str:
    """Return the shapes of a call's arguments in words."""
    named = zip(case.target.entry.arguments, args, strict=False)
    return ", ".join(
        f"`{name}` {tuple(value.shape)}" for name, value in named if isinstance(value, Tensor)
    )
