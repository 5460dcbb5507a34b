"""The relative rates at which letters go to infinity, and how to name them."""

import itertools
import math
from collections.abc import Collection, Sequence

_LEVELS = ((1, 2, 3, 5, 8), (1, 2, 4, 8), (1, 2, 8), (1, 8))
_SLOW, _FAST = 0, 8
_MAX_DIRECTIONS = 300
_MAX_SUBSET_LETTERS = 6

Direction = dict[str, int]


def directions_of(letters: Collection[str], at_most: Sequence[tuple[str, str]]) -> list[Direction]:
    """Return the directions to compare along, those easiest to describe first."""
    names = sorted(letters)
    pairs = [pair for pair in closure(at_most) if set(pair) <= set(names)]
    directions = [dict(zip(names, levels, strict=True)) for levels in _levels(len(names))]
    allowed = [a for a in directions if all(a[small] <= a[large] for small, large in pairs)]
    return sorted(allowed, key=lambda a: (len(set(a.values())), max(a.values(), default=0)))


def describe(direction: Direction) -> str:
    """Say which letters outgrow which, as in "when d grows faster than n"."""
    ordered = sorted(direction, key=lambda name: -direction[name])
    groups = [list(names) for _, names in itertools.groupby(ordered, key=direction.__getitem__)]
    if not groups:
        return "everywhere"
    if len(groups) == 1:
        return f"when {listed(groups[0])} {_verb(groups[0])}" + " alike" * (len(groups[0]) > 1)
    steps = [
        f"{listed(fast)} {_verb(fast)} faster than {listed(slow)}"
        for fast, slow in itertools.pairwise(groups)
    ]
    return "when " + ", ".join(steps)


def bits(level: int, size: int) -> int:
    """Return the logarithm to base 2 of a letter that grows at `level`."""
    # A slow letter is a power of the logarithm of a fast one: its own logarithm lags too.
    return 8 * int(math.log2(size)) if level == _SLOW else level * size


def closure(at_most: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return pairs with a ≤ c added wherever a ≤ b and b ≤ c: b may occur in neither formula."""
    pairs = set(at_most)
    for middle in {name for pair in at_most for name in pair}:
        below = [small for small, large in pairs if large == middle]
        above = [large for small, large in pairs if small == middle]
        pairs.update(itertools.product(below, above))
    return frozenset(pairs)


def _levels(count: int) -> list[tuple[int, ...]]:
    """Return rates for `count` letters: a grid, and some letters slow beside the others."""
    choices = [levels for levels in _LEVELS if len(levels) ** count <= _MAX_DIRECTIONS]
    grid = list(itertools.product(choices[0], repeat=count)) if choices else _one_apart(count, 1)
    directions = [(1,) * count, *grid, *_one_apart(count, _SLOW)]
    if count <= _MAX_SUBSET_LETTERS:
        directions += itertools.product((_SLOW, _FAST), repeat=count)
    return list(dict.fromkeys(_reduced(levels) for levels in directions if _is_fast(levels)))


def _one_apart(count: int, slow: int) -> list[tuple[int, ...]]:
    """Return the directions in which one letter is fast among slow ones, or the reverse."""
    pairs = ((slow, _FAST), (_FAST, slow))
    return [
        tuple(one if place == i else rest for place in range(count))
        for rest, one in pairs
        for i in range(count)
    ]


def _is_fast(levels: tuple[int, ...]) -> bool:
    return not levels or max(levels) > _SLOW


def _reduced(levels: tuple[int, ...]) -> tuple[int, ...]:
    if _SLOW in levels:
        return levels
    divisor = math.gcd(*levels) or 1
    return tuple(level // divisor for level in levels)


def listed(names: list[str]) -> str:
    """Join names with commas and "and"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(names: list[str]) -> str:
    return "grow" if len(names) > 1 else "grows"
