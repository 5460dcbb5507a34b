"""The sizes of a question: its items, and heads and widths that it can have instead."""

from __future__ import annotations

from collections.abc import Sequence

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.checks.cases import Case, made_with

MANY_HEADS, MANY_GROUPS = 18, 9
"""Counts of heads, and of groups in which they share keys and values."""
HALF_WIDTHS = (33, 45)
"""Half the width of a wide head, as a range: rotations need an even one."""
_COUNTS = {
    "many": (MANY_HEADS, 3),
    "groups": (MANY_HEADS, MANY_GROUPS),
    "wide": (2, 2),
    "single": (1, 1),
    "one group": (2, 1),
    "least": (4, 2),
}
"""Heads of a layer, and their groups."""
_LEAST_HEADS, _LEAST_WIDTH = 2, 3
"""Of a function's inputs."""
_MOST_WIDTHS = 32
HEADS_AXIS = "heads"
"""The name of a leading axis without a letter, the second of two."""
LENGTHS, OTHER_LENGTHS = (4, 9), (6, 6)
"""Two lengths, and two others with the same product; none of them has less keys than queries."""
LEADING = ("items", HEADS_AXIS)
"""Names for leading axes that have no letters."""


def sizes_of(case: Case) -> dict[str, int]:
    """Return the size of each letter, and those of leading axes without one."""
    return {**case.shapes.letters, **dict(zip(LEADING, case.shapes.leading, strict=False))}


def _lengths_and_heads(case: Case) -> set[str]:
    """Return the sizes that may be long, those that must be divided, and those that divide them."""
    return {*case.long, *case.domain.divides, *case.domain.divides.values()}


def free_letters(case: Case) -> list[str]:
    """Return the sizes besides lengths that a call can choose: items, and a function's widths.

    The widths of what a layer returned, such as a cache, are the layer's.
    """
    fixed = {*made_with(case.target), *_lengths_and_heads(case)}
    if "G" in case.shapes.letters:  # heads share keys and values in as many groups
        fixed |= {"H", "G"}
    free = [one for one in case.shapes.letters if one not in fixed]
    return [one for one in free if case.shapes.places(one) or not isinstance(case.target, Layer)]


def free_widths(case: Case) -> list[str]:
    """Return the widths that a call can choose; none for a layer."""
    if isinstance(case.target, Layer):
        return []
    return [one for one in free_letters(case) if one not in ("B", "H")]


def with_lengths(case: Case, sizes: Sequence[int]) -> dict[str, int]:
    """Return the letters of a question's two lengths with these sizes; empty if it has not two."""
    letters = {one: size for equal, size in zip(case.lengths, sizes, strict=False) for one in equal}
    fits = len(case.lengths) == len(sizes) and case.fitting(letters) == letters
    are_single = any(case.shapes.letters[one] == 1 for one in letters)  # a single step stays one
    return letters if fits and not are_single else {}


def items_of(case: Case) -> str | None:
    """Return the name of the size that counts items; None if there is none."""
    if case.shapes.leading:
        return LEADING[0]
    return "B" if "B" in case.shapes.letters else None


def head_sizes(case: Case, how: str | int, wide: int = 0) -> dict[str, int]:
    """Return the sizes of a call with other heads; empty if heads are no size of it.

    Args:
        case: The question.
        how: `many`, many `groups`, `wide` ones, a `single` one, `one group`, the `least`, so many
            of a layer, or empty for the same.
        wide: The width of wide ones.
    """
    letters, divides = case.shapes.letters, case.domain.divides
    if not how:
        return {}
    if how in ("groups", "one group") and divides.keys().isdisjoint(divides.values()):
        return {}
    if isinstance(case.target, Layer):
        count, groups = _COUNTS[how] if isinstance(how, str) else (how, how)
        sizes: dict[str, int] = {}
        for whole, heads in divides.items():
            if heads in divides:  # the heads share keys and values in groups
                sizes[divides[heads]] = groups
            if whole not in divides.values():
                sizes[heads] = count
                width = letters.get(whole, 2) if how in ("single", "one group") else 2
                sizes[whole] = sizes[heads] * (wide if how == "wide" else width)
                if "D" in letters:
                    sizes["D"] = sizes[whole] // sizes[heads]
        return sizes
    if divides or how == "single":
        return {}
    if how == "wide":
        return {"D": wide} if "D" in letters else {}
    if how == "least":
        return {HEADS_AXIS: _LEAST_HEADS} if len(case.shapes.leading) > 1 else {}
    if "H" in letters:
        return {"H": MANY_HEADS}
    return {HEADS_AXIS: MANY_HEADS} if len(case.shapes.leading) > 1 else {}


def narrow(case: Case) -> dict[str, int]:
    """Return least widths of a function's inputs, odd where they are odd; empty for a layer."""
    if isinstance(case.target, Layer):
        return {}
    domain = case.domain
    fixed = {*_lengths_and_heads(case), *domain.wide, "B", "H"}
    given = domain.shapes.values()
    fixed |= {axes[1:] for axes in given if isinstance(axes, str) and axes.startswith("#")}
    return {
        letter: min(size, _LEAST_WIDTH + 1 - size % 2)
        for letter, size in case.shapes.letters.items()
        if letter not in fixed
    }


def own_widths(case: Case, number: int) -> dict[str, int]:
    """Return widths of a function's inputs that hardly any other question has; empty for a layer.

    Args:
        case: The question.
        number: The question's own.
    """
    letters, more = case.shapes.letters, 2 * (1 + number % _MOST_WIDTHS)
    return {one: letters[one] + more for one in free_widths(case)}


def broad_widths(case: Case) -> list[str]:
    """Return the widths that a layer is made with and that have nothing to do with heads."""
    if not isinstance(case.target, Layer):
        return []
    fixed = _lengths_and_heads(case)
    return [
        name
        for name, size in case.target.sizes.items()
        if name not in fixed and type(size) is int and size > 1
    ]
