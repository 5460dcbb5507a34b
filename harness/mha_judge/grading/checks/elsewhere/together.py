"""Two respects at once: rows of a covering array, in which every two values of two axes meet.

What is wrong in one respect was found before. Here a mask of int8 meets a batch of seventy, half
precision meets `no_grad`, and three hundred positions meet keys that are blocked at their start.
Where a row is answered wrongly, its axes are made plain again one after another, until what is left
is the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import torch
from covertable import make

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.shapes import signed_like
from mha_judge.grading.checks.cases import Case, in_dtype, shapes_of
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding, dtype_name, is_too_much
from mha_judge.grading.checks.elsewhere.masks import (
    MASK_DTYPES,
    blocked_keys,
    blocking,
    without_a_row,
)
from mha_judge.grading.checks.elsewhere.scores import enlarged, shows_scores
from mha_judge.grading.draw import Draw
from mha_judge.grading.failures import CheckFailure

_DTYPES = (torch.float64, torch.bfloat16)
"""Those besides the plain one; float16 does not hold −1e9."""
_FEW_MASK_DTYPES = 4
_ITEMS = {"several": (9, 16), "many": (65, 80)}
_TENS, _HUNDREDS, _THOUSANDS = (33, 70), (257, 300), (2_060, 2_200)
_LENGTHS = {"tens": (_TENS, _TENS), "hundreds": (_HUNDREDS, _HUNDREDS)}
"""What the first length is, and the last; None where it is plain."""
_LENGTHS_APART = {"first": (_THOUSANDS, None), "last": (None, _THOUSANDS)}
_LESS = {_HUNDREDS: (129, 150), _THOUSANDS: _HUNDREDS}
"""Where heads are many, or wide, or nothing so long is graded, or not in half precision."""
_HEADS, _GROUPS, _WIDE = 18, 3, (33, 45)
_LONGEST = 200
"""Sizes of a check's own beyond which its question is not varied here."""
_MOST_SCORES = 500_000
"""Pairs of positions, of all items and heads, above which a row has fewer items."""
_USUAL_HEADS, _FEWEST = 4, 3
_ALL_S = 2.0
"""What an answer may take for all rows."""
_AGAIN = 2
"""How often a row is asked with other numbers. In half precision it must be wrong each time: where
two scores nearly tie, rounding may turn a query to either key."""
_WORDS = {
    ("size", "tens"): "at tens of positions",
    ("size", "hundreds"): "at hundreds of positions",
    ("size", "first"): "where the first length alone is long",
    ("size", "last"): "where the last length alone is long",
    ("size", "several"): "in a batch of ten or so",
    ("size", "many"): "in a batch of seventy or so",
    ("heads", "many"): f"with {_HEADS} heads",
    ("heads", "wide"): "with wide heads",
    ("mask", "left"): "where the first keys are blocked",
    ("mask", "right"): "where the last keys are blocked",
    ("mask", "one"): "where one key is blocked",
    ("mask", "alone"): "where one key alone is open",
    ("mask", "row"): "where a row has no open key",
    ("scores", "large"): "where scores are large",
    **{("mode", mode): words for mode, words in AXES["mode"].items()},
}
_CASE = "case"
_LEADING = ("items", "heads")
"""What leading axes are called here that have no letters."""
_ABOUT = ("mode", "mask dtype", "mask", "scores", "size", "heads", "dtype")
"""Axes in the order in which a cause is about them, where it has several."""

_ALONE = {"mask": "alone", "scores": "large"}
_HARD = (
    {**_ALONE, "dtype": "bfloat16"},
    {**_ALONE, "dtype": "float64"},
    {**_ALONE, "size": "hundreds"},
    {"mask": "left", "size": "hundreds", "mode": "no_grad"},
    {"mask": "left", "size": "last", "mode": "no_grad"},
)
"""Three values that must meet, as in a number for −∞ in one dtype, or whole blocks of keys that are
blocked; every dtype of masks meets `_ALONE` too."""

Row = Mapping[str, str]
"""By axis, its value; the plain one is empty."""
Able = Mapping[tuple[str, str], tuple[str, ...]]
"""By axis and value, the questions that can be asked so."""


def together(asking: Asking, cases: Sequence[Case]) -> Iterator[Finding]:
    """Ask the questions of one entry with every two values of two axes, until one is wrong."""
    short = [one for one in cases if max(one.shapes.letters.values(), default=1) <= _LONGEST]
    plain = [one for one in short if one.dtype is torch.float32]
    plain = plain or [one for one in short if one.dtype is torch.float64]
    if not plain:
        return
    rows = _Rows(asking, plain)
    for row in rows.drawn():
        failure = rows.ask(row)
        if failure is not None:
            yield rows.attributed(row, failure)
        if failure is not None or rows.is_over:
            return


class _Rows:
    """Asks the rows of one entry."""

    def __init__(self, asking: Asking, cases: Sequence[Case]) -> None:
        self._asking = asking
        self._cases = cases
        self._layers: dict[object, Layer] = {}
        self._before_s = asking.context.session.computed_s
        able = {
            one: [str(number) for number, case in enumerate(cases) if self._can(case, *one)]
            for one in self._values()
        }
        self._axes: dict[str, tuple[str, ...]] = {_CASE: tuple(map(str, range(len(cases))))}
        for axis, value in able:
            if able[axis, value]:
                self._axes[axis] = (*self._axes.get(axis, ("",)), value)
        self._able = {one: tuple(found) for one, found in able.items() if found}

    def _values(self) -> Iterator[tuple[str, str]]:
        """Yield every axis with each value that is not plain."""
        draw = self._asking.draw
        _, *others = map(dtype_name, MASK_DTYPES)
        order = draw.permutation(len(others)).tolist()[:_FEW_MASK_DTYPES]
        axes = {
            "mode": [*AXES["mode"]][1:],
            "dtype": map(dtype_name, _DTYPES),
            "size": [*_ITEMS, *_LENGTHS, *_LENGTHS_APART],
            "heads": ["many", "wide"],
            "mask": ["left", "right", "one", "alone", "row"],
            "mask dtype": [others[index] for index in order],
            "scores": ["large"],
        }
        yield from ((axis, value) for axis, values in axes.items() for value in values)

    def _can(self, case: Case, axis: str, value: str) -> bool:
        """Return whether a question can be asked with one value of an axis."""
        asking, flags = self._asking, case.shapes.flags().values()
        is_torch = case.target.entry.arrays == "torch"
        match axis:
            case "mode":
                return is_torch
            case "dtype":
                dtype = getattr(torch, value)
                return dtype is not case.dtype and asking.is_also_in(dtype, case)
            case "size" if value in _ITEMS:
                return _has_items(case)
            case "size":
                return len(case.lengths) > (value in _LENGTHS_APART)
            case "heads":
                return bool(_head_sizes(case, value, asking.draw))
            case "mask dtype":
                return bool(flags) and (is_torch or value != "bfloat16")
            case "mask":
                if value == "row":
                    return bool(blocked_keys(case)) and case.target.entry.name in asking.row_blocked
                return bool(blocked_keys(case) or (value == "alone" and _lengths_given(case)))
            case _:
                # where every weight is 0 or 1 gradients are 0, but for the rounding of the rest
                by_hand = "autograd" in asking.context.task.problem.forbid
                return case.domain.scores and not by_hand

    @property
    def is_over(self) -> bool:
        """Whether the time for all rows is used up, or the process is gone."""
        took_s = self._asking.context.session.computed_s - self._before_s
        return took_s > _ALL_S or not all(one.target.is_usable for one in self._cases)

    def drawn(self) -> Iterator[Row]:
        """Yield the rows of a covering array in an order drawn from the seed."""
        if len(self._axes) < 3:
            return
        rows = _array(tuple(self._axes.items()), tuple(self._able.items()))
        for index in self._asking.draw.permutation(len(rows)).tolist():
            yield rows[index]

    def ask(self, row: Row) -> CheckFailure | None:
        """Return how the answer to a row is wrong; in half precision every time."""
        tries = (self._asked(row, turn) for turn in range(1 + _AGAIN))
        if row.get("mask") == "alone" and row.get("scores"):
            # a number for −∞ is overtaken in some of them only, and nothing nearly ties
            return next((failure for failure in tries if failure is not None), None)
        if row.get("dtype") != "bfloat16":
            return next(tries)
        failure = None
        for failure in tries:
            if failure is None:
                return None
        return failure

    def _asked(self, row: Row, turn: int) -> CheckFailure | None:
        """Return how the answer to a row is wrong with some numbers."""
        told = " ".join(f"{axis}={value}" for axis, value in sorted(row.items()))
        self._asking.enter(f"domain {self._cases[0].target.entry.name} {turn} {told}")
        case = self._made(row)
        if case is None:
            return None
        args, score = enlarged(case) if row.get("scores") else ([*case.args], 0.0)
        asked = args
        if row.get("mask") == "row":
            asked = without_a_row(case, args, self._asking.draw)
        failure = self._asking.ask(case, asked, row.get("mode", ""), score, alike=args)
        return None if is_too_much(failure) else failure

    def attributed(self, row: Row, failure: CheckFailure) -> Finding:
        """Return the fewest values with which the answer is wrong."""
        left = dict(row)
        for axis in _ABOUT:
            if left.get(axis):
                plainer = {**left, axis: ""}
                again = self.ask(plainer)
                if again is not None:
                    left, failure = plainer, again
        values = [(axis, left[axis]) for axis in _ABOUT if left.get(axis)]
        where = ", ".join(_WORDS.get(one) or _words_of_dtype(*one) for one in values)
        return Finding(where or "with other numbers", failure, values[0][0] if values else "size")

    def _made(self, row: Row) -> Case | None:
        """Return the question of a row, with numbers drawn anew; None where no layer is such."""
        case, draw = self._cases[int(row[_CASE])], self._asking.draw
        letters = self._letters(case, row)
        spread = [letters.pop(name, 0) for name in _LEADING][: len(case.shapes.leading)]
        try:
            case = self._resized(case, letters, self._dtype(case, row))
        except CheckFailure:
            return None
        args = case.shapes.at(letters, draw, spread=spread)
        for index, value in case.shapes.numbers().items():
            if args[index] is value:  # a check's own may be huge where they are blocked
                args[index] = signed_like(value, self._asking.like(value))
        if row.get("mask") == "alone":
            for index in _lengths_given(case):
                args[index] = torch.ones_like(args[index])
        if row.get("mask") and row["mask"] != "row":
            args = blocking(case, args, row["mask"], draw)
        for index in case.shapes.flags():
            if row.get("mask dtype"):
                args[index] = args[index].to(getattr(torch, row["mask dtype"]))
        return replace(case, args=tuple(args), shapes=shapes_of(case.target, case.domain, args))

    def _dtype(self, case: Case, row: Row) -> str:
        """Return the dtype of a row; float64 where rounding might be felt that nobody knows."""
        if row.get("scores") and self._can(case, "dtype", "float64") and not shows_scores(case):
            return "float64"
        return row.get("dtype", "")

    def _resized(self, case: Case, letters: Mapping[str, int], dtype: str) -> Case:
        """Return a case in a dtype, a layer made with other sizes; one layer serves all rows."""
        wanted = getattr(torch, dtype) if dtype else case.dtype
        if not isinstance(case.target, Layer):
            return case if wanted is case.dtype else in_dtype(case, wanted)
        sizes = {name: letters.get(name, size) for name, size in case.target.sizes.items()}
        key = (wanted, *sizes.items())
        if key not in self._layers:
            self._layers[key] = case.target.like(dtype=wanted, **sizes)
        return in_dtype(case, wanted, self._layers[key])

    def _letters(self, case: Case, row: Row) -> dict[str, int]:
        """Return the sizes of a row, those of leading axes without letters as `_LEADING`."""
        draw = self._asking.draw
        letters = _head_sizes(case, row.get("heads", ""), draw)
        ranges = {**_LENGTHS, **_LENGTHS_APART}.get(row.get("size", ""), (None, None))
        for group, within in ((case.lengths[:-1], ranges[0]), (case.lengths[-1:], ranges[1])):
            for equal in group if within else ():
                assert within is not None
                # thousands of weights that are added up one by one in half precision are lost
                adds_up = within is _THOUSANDS and row.get("dtype") == "bfloat16"
                if row.get("heads") or adds_up or case.domain.longest < within[1]:
                    within = _LESS.get(within, within)
                letters |= dict.fromkeys(equal, draw.integer(*within))
        letters = case.fitting(letters)
        if row.get("size"):
            scores = _HEADS if row.get("heads") == "many" else _USUAL_HEADS
            sizes = [letters.get(one, case.shapes.letters[one]) for one in case.long]
            if isinstance(case.target, Layer):  # which may let a length attend to itself
                sizes = [max(sizes, default=1)]
            scores *= max(sizes, default=1) * min(sizes, default=1)
            wanted = _ITEMS.get(row["size"], (2, 2))
            items = min(draw.integer(*wanted), max(_FEWEST, _MOST_SCORES // scores))
            if _has_items(case):
                letters[_LEADING[0] if case.shapes.leading else "B"] = items
        return letters


@cache
def _array(
    axes: tuple[tuple[str, tuple[str, ...]], ...],
    able: tuple[tuple[tuple[str, str], tuple[str, ...]], ...],
) -> tuple[Row, ...]:
    """Return a covering array of strength 2, each value with questions that can be asked so."""
    values = {axis: list(values) for axis, values in axes}
    of_masks = [{**_ALONE, "mask dtype": dtype} for dtype in values.get("mask dtype", ())]
    hard = [*_HARD, *of_masks]
    hard = [one for one in hard if all(told in values.get(axis, ()) for axis, told in one.items())]
    asked = [_fitting(row, dict(able), number) for number, row in enumerate(hard)]
    rows = make(values, strength=2, presets=[one for one in asked if one is not None])
    found = [one for number, row in enumerate(rows) for one in _possible(row, dict(able), number)]
    return tuple({tuple(sorted(row.items())): row for row in found}.values())


def _fitting(row: Row, able: Able, number: int) -> Row | None:
    """Return a row with one of the questions that can be asked so; None where there is none."""
    others = set.intersection(*({*able[one]} for one in row.items() if one in able))
    return {**row, _CASE: sorted(others)[number % len(others)]} if others else None


def _possible(row: Row, able: Able, number: int) -> Iterator[Row]:
    """Yield a row, or one with a question that can be asked so, and its own with what is left."""
    asked = row[_CASE]
    unfit = [one for one in row.items() if asked not in able.get(one, (asked,))]
    if unfit:
        yield {axis: value for axis, value in row.items() if (axis, value) not in unfit}
        if (other := _fitting(row, able, number)) is not None:
            yield other
    else:
        yield row


def _lengths_given(case: Case) -> list[int]:
    """Return the places of whole numbers up to which keys are open."""
    names = case.target.entry.arguments[: len(case.args)]
    given = [names.index(name) for name in case.domain.lengths if name in names]
    return [index for index in given if case.args[index] is not None]


def _has_items(case: Case) -> bool:
    return "B" in case.shapes.letters or bool(case.shapes.leading)


def _head_sizes(case: Case, how: str, draw: Draw) -> dict[str, int]:
    """Return sizes with many heads, or with wide ones; none where heads are no size of a case."""
    letters, divides = case.shapes.letters, case.domain.divides
    if not how:
        return {}
    wide = 2 * draw.integer(*_WIDE)
    if isinstance(case.target, Layer):
        sizes: dict[str, int] = {}
        for whole, heads in divides.items():
            if heads in divides:  # the heads share keys and values in groups
                sizes[divides[heads]] = _GROUPS if how == "many" else 2
            if whole not in divides.values():
                sizes[heads] = _HEADS if how == "many" else 2
                sizes[whole] = sizes[heads] * (2 if how == "many" else wide)
                if "D" in letters:
                    sizes["D"] = sizes[whole] // sizes[heads]
        return sizes
    if divides:
        return {}
    if how == "wide":
        return {"D": wide} if "D" in letters else {}
    if "H" in letters:
        return {"H": _HEADS}
    return {_LEADING[1]: _HEADS} if len(case.shapes.leading) > 1 else {}


def _words_of_dtype(axis: str, value: str) -> str:
    return f"in {value}" if axis == "dtype" else f"where a mask is {value}"
