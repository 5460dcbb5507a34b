"""Sizes that do not belong together, and must raise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.problem import axes_of
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.checks.cases import Case, bare
from mha_judge.grading.checks.corners.asking import Asking, Later, must_raise, refused
from mha_judge.grading.checks.corners.masks import opened
from mha_judge.grading.checks.corners.widths import free_letters
from mha_judge.grading.expecting.expected import leaves

_MOST = 4
"""Questions whose numbers are laid out in other sizes."""
_BLOCKS = 256
"""A length that is a multiple of an answer's block size, as twice this length is."""
_PARTS = (64, 128)
"""Lengths of a block, or two, beside which an answer may leave out what is left."""
_FEW, _MOST_ROWS = 3, 16
"""The length of a mask's rows that fill a row of the right length if joined, and the most rows."""


def unfit(asking: Asking, cases: Sequence[Case]) -> Iterator[Later]:
    """Ask one entry with sizes that the contract rules out.

    An answer may refuse them in one form of a question only: each size is a little too large, and a
    little too small, in every form.
    """
    cut: set[str] = set()
    taken: set[tuple[str, str]] = set()
    for case in cases:
        yield from _unlike(asking, case)
        yield from _like_another(asking, case, taken)
        yield from _unlike_in_part(asking, case)
        yield from _without_the_rest(asking, case, cut)
    forms: set[object] = set()
    for case in [one for one in cases if not one.is_half][:_MOST]:
        yield from _uncovered(asking, case)
        plain = bare(case)
        if plain.shapes.pattern not in forms:
            yield from _multiplied_out(asking, plain, first=not forms)
            yield from _unlike(
                asking, _at(asking, plain, plain.fitting(dict.fromkeys(plain.long, 1)))
            )
            yield from _half_the_items(asking, plain)
            forms.add(plain.shapes.pattern)
        if case.shapes.tuples and case.shapes.pattern not in forms:
            yield from _half_the_items(asking, case)
            forms.add(case.shapes.pattern)


def _unlike(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask with sizes that differ a little from those of other arguments."""
    for name, letter, old in _given(case, case.domain.fits):
        if old > 1:
            yield _refused(asking, case, name, {letter: old + 1})
        if old > 2:  # 1 may be broadcast
            yield _refused(asking, case, name, {letter: old - 1}, "no_grad")


def _like_another(asking: Asking, case: Case, taken: set[tuple[str, str]]) -> Iterator[Later]:
    """Ask with sizes that other axes of the call have, for which they may be taken.

    Args:
        asking: Asks the candidate.
        case: The question.
        taken: Sizes that were asked so; those of this question join them.
    """
    for name, letter, old in _given(case, case.domain.fits):
        if old > 1 and (name, letter) not in taken:  # 1 may be broadcast
            taken.add((name, letter))
            for size in sorted({*case.shapes.letters.values()} - {1, old}):
                yield _refused(asking, case, name, {letter: size})


def _unlike_in_part(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask with masks of other lengths, and with parts of caches of another width.

    They must raise where the reference refuses them, also where a mask blocks nothing. Other
    numbers of items and heads may be served by a right loop.
    """
    names = case.target.entry.arguments
    for index in case.shapes.masks:
        axes = axes_of(case.domain.shapes[names[index]])
        for letter in sorted({*axes} & {*case.long}):
            old = case.shapes.letters[letter]
            for new in (old - 1, old + 1):
                if old > 1 and new > 1:  # 1 may be broadcast
                    args = case.shapes.at({letter: new}, asking.draw, only=names[index])
                    args = opened(case, args, every=True) if new < old else args
                    yield from _also_refused(asking, case, args)
    for index, parts in case.shapes.tuples.items():
        if len({part.shape for part in parts}) > 1:
            yield from _also_refused(asking, case, case.with_numbers({index: parts[::-1]}))
        for place, part in enumerate(parts):
            width = part.shape[-1]
            for new in (width - 1, width + 1):
                if width > 1 and new > 1:
                    other = part[..., torch.arange(new) % width]
                    changed = (*parts[:place], other, *parts[place + 1 :])
                    yield from _also_refused(asking, case, case.with_numbers({index: changed}))


def _given(case: Case, sizes: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    """Yield argument, letter and size of those sizes whose argument a question has."""
    for size in sizes:
        name, _, letter = size.partition(".")
        if _argument(case, name) is not None:
            yield name, letter, case.shapes.letters.get(letter, 0)


def _argument(case: Case, name: str) -> Any:
    index = case.target.entry.arguments.index(name)
    return case.args[index] if index < len(case.args) else None


def _multiplied_out(asking: Asking, case: Case, first: bool) -> Iterator[Later]:
    """Ask with sizes that do not agree, or divide, but would if numbers were laid out anew."""
    for name, letter, old in _given(case, case.domain.fits):
        if old == 1:  # which may be broadcast
            continue
        if first:
            yield _refused(asking, case, name, {letter: 2 * old})
            yield _refused(asking, case, name, {letter: 3 * old})  # as of three maps in one
        yield from _turned(asking, case, name, letter)
        lengths = [one for one in axes_of(case.domain.shapes[name]) if one in case.long]
        if first and lengths and letter not in lengths:  # the numbers of `old` longer items
            letters = {one: old * case.shapes.letters[one] for one in lengths}
            yield _refused(asking, _at(asking, case, letters), name, {letter: old + 1})
        if first and letter in case.long and case.domain.longest >= 2 * _BLOCKS:
            long = _at(asking, case, dict.fromkeys(case.long, _BLOCKS), leading=1)
            yield _refused(asking, long, name, {letter: 2 * _BLOCKS})
    for letter, divisor in case.domain.divides.items():
        yield from _not_divided(asking, case, letter, divisor)


def _without_the_rest(asking: Asking, case: Case, asked: set[str]) -> Iterator[Later]:
    """Ask with one argument of whole blocks, and others that are longer by a part of one.

    Args:
        asking: Asks the candidate.
        case: The question.
        asked: Sizes that were asked so; those of this question join them.
    """
    sizes = [one for one in (*case.domain.fits, *case.domain.covers) if one not in asked]
    for name, letter, _ in _given(case, sizes):
        asked.add(f"{name}.{letter}")
        for size in _PARTS if letter in case.long and case.domain.longest >= 2 * _PARTS[-1] else ():
            longer = dict.fromkeys(case.long, size + asking.draw.integer(2, size - 2))
            long = _at(asking, case, case.fitting(longer), leading=1)
            yield _refused(asking, long, name, {letter: size})


def _uncovered(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask with masks that are much too small."""
    for name, letter, old in _given(case, case.domain.covers):
        for new in {old - 2, old // 2}:
            if new > 1:  # 1 may be broadcast
                yield _refused(asking, case, name, {letter: new})
        yield from _joined(asking, case, name, letter)


def _half_the_items(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask with one input of half the items, each of which may be taken to serve two others.

    One more than half does not divide them, but all its positions may.

    The first input says how many items there are. The others' positions are odd in number, so that
    no view makes twice the items of them.
    """
    items = case.shapes.letters.get("B", 0)
    odd = {one: case.shapes.letters[one] // 2 * 2 + 1 for one in case.long}
    if items < 2 or case.fitting(odd) != odd:
        return
    twice = _at(asking, case, {**odd, "B": 2 * items})
    given = sorted({index for index, _ in case.shapes.places("B")})[1:]
    for index in [*given, *case.shapes.tuples]:
        name = case.target.entry.arguments[index]
        for fewer in (items, items + 1):
            args = twice.shapes.at({"B": fewer}, asking.draw, only=name)
            yield from _also_refused(asking, twice, args)


def _also_refused(asking: Asking, case: Case, args: Sequence[Any]) -> Iterator[Later]:
    """Ask for what must raise if the reference refuses it."""
    if _is_refused(case, args):
        yield must_raise(asking, case, args, _shown(case, args))


def _is_refused(case: Case, args: Sequence[Any]) -> bool:
    """Return whether the reference refuses a call."""
    try:
        case.target.expected(args)
    except Exception:
        return True
    return False


def _joined(asking: Asking, case: Case, name: str, letter: str) -> Iterator[Later]:
    """Ask with a mask whose rows are too short, but fill one row of the right length if joined."""
    mask = _argument(case, name)
    equal = next((one for one in case.lengths if letter in one), [])
    if isinstance(mask, Tensor) and equal and mask.shape[-1] == case.shapes.letters[letter]:
        rows = mask.numel() // mask.shape[-1]
        if 1 < rows <= _MOST_ROWS:
            joined = _at(asking, case, dict.fromkeys(equal, _FEW * rows))
            yield _refused(asking, joined, name, {letter: _FEW})


def _at(asking: Asking, case: Case, letters: Mapping[str, int], leading: int = 0) -> Case:
    """Return the same question at other sizes."""
    return case.asked_with(case.shapes.at(letters, asking.draw, leading=leading))


def _turned(asking: Asking, case: Case, name: str, letter: str) -> Iterator[Later]:
    """Ask with the last two axes of one argument exchanged, which keeps its count of numbers."""
    index = case.target.entry.arguments.index(name)
    value = case.args[index]
    if not isinstance(value, Tensor) or index not in case.shapes.numbers:
        return
    last = {axis - value.dim() for where, axis in case.shapes.places(letter) if where == index}
    one, other = value.shape[-2:] if value.dim() > 1 else (1, 1)
    if last & {-1, -2} and 1 not in (one, other) and one != other:
        args = case.with_numbers({index: value.mT.contiguous()})
        yield must_raise(asking, case, args, _shown(case, args))


def _refused(
    asking: Asking, case: Case, name: str, letters: Mapping[str, int], mode: str = ""
) -> Later:
    """Ask with one argument of other sizes, which must raise, in a gradient mode."""
    args = case.shapes.at(letters, asking.draw, only=name)
    mode = mode if case.target.entry.arrays == "torch" else ""
    return must_raise(asking, case, args, _shown(case, args), mode)


def _not_divided(asking: Asking, case: Case, letter: str, divisor: str) -> Iterator[Later]:
    """Ask with sizes that do not divide, but do if they are multiplied by all positions."""
    size = case.shapes.letters.get(letter, 0)
    unfit = [count for count in range(2, size + 2) if size % count]
    if not unfit:
        return
    free = [] if isinstance(case.target, Layer) else free_letters(case)
    chosen = {unfit[asking.draw.integer(0, len(unfit) - 1)] for _ in range(3)} | {2 * size}
    for count in sorted(chosen):
        whole = count * max(1, size // count)
        for length, wider in ((count, {}), (whole, {}), (whole, dict.fromkeys(free, whole))):
            letters = {**dict.fromkeys(case.long, length), **wider, divisor: count}
            args = case.shapes.at(letters, asking.draw)
            why = f"{letter} = {size} with {divisor} = {count}, and inputs {_shown(case, args)}"
            if isinstance(case.target, Layer):
                others = {d: 1 for d in case.domain.divides.values() if d != divisor}
                others.pop(letter, None)  # it must stay what it is
                sizes = {**case.target.sizes, **others}
                sizes |= {name: n for name, n in letters.items() if name in sizes}
                make = partial(case.target.maker.try_once, sizes, args)
                yield partial(refused, make, why)
                continue
            args[case.target.entry.arguments.index(divisor)] = count
            yield must_raise(asking, case, args, why)


def _shown(case: Case, args: Sequence[Any]) -> str:
    """Return the shapes of a call's arguments in words."""
    named = zip(case.target.entry.arguments, args, strict=False)
    parts = (
        (name, [one for one in leaves([value]) if isinstance(one, Tensor)]) for name, value in named
    )
    return ", ".join(
        f"`{name}` {' and '.join(str(tuple(one.shape)) for one in given)}"
        for name, given in parts
        if given
    )
