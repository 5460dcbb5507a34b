"""What a row asks: of which target, at which sizes, with which numbers and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from mha_judge.grading.binding.weights import Unbound
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.shapes import Shapes
from mha_judge.grading.calling.target import Target, Wanted
from mha_judge.grading.checks.cases import Case, in_dtype, made_once
from mha_judge.grading.checks.corners import masks, numbers
from mha_judge.grading.checks.corners.asking import Asking
from mha_judge.grading.checks.corners.axes import (
    BROAD,
    CASE,
    DROPOUT,
    ITEMS,
    MANNERS,
    OWN,
    TURN,
    is_told_by_some,
)
from mha_judge.grading.checks.corners.scores import enlarged, shows_scores
from mha_judge.grading.checks.corners.ties import made_equal, ties_of
from mha_judge.grading.checks.corners.widths import (
    HALF_WIDTHS,
    LEADING,
    LENGTHS,
    MANY_HEADS,
    broad_widths,
    head_sizes,
    items_of,
    narrow,
    own_widths,
    sizes_of,
    with_lengths,
)
from mha_judge.grading.covering import Row
from mha_judge.grading.failures import CheckFailure

_ITEMS = dict(zip(ITEMS, ((9, 16), (65, 80)), strict=True))
_TENS, _HUNDREDS, _THOUSANDS = (65, 80), (257, 300), (2_060, 2_200)
"""Beyond blocks of 64, a byte's whole numbers, and large buffers."""
_LENGTHS = {"tens": (_TENS, _TENS), "first": (_THOUSANDS, None), "last": (None, _THOUSANDS)}
"""The ranges of the first length and of the last; None for a plain one."""
_LESS = {_TENS: (33, 40), _HUNDREDS: _TENS, _THOUSANDS: _HUNDREDS}
"""Shorter ranges, if heads are many or wide, or the length is not graded, or too long for half
precision."""
_OF_SIZES = (CASE, TURN, OWN, "size", "heads", "width", "equal")
"""What sizes are drawn from: a row keeps them when other values of it are made plain, so that these
alone are to blame for what changes."""
_BROAD = (1_030, 1_100)
"""A width other than that of heads, beyond buffers of 1,024."""
_NEXT_TO_NOTHING = 1e-12
"""A probability of dropout that is not 0, as answers have branches for that, but too small to drop
anything."""
_MOST_SCORES = 45_000
"""Pairs of positions, of all items and heads, above which a row has fewer items."""
_USUAL_HEADS, _FEWEST = 4, 3
"""Heads that a layer may have, and the fewest items of many."""
AGAIN = 2
"""How often a row is asked again with other numbers. In half precision it must be wrong each time:
if two scores nearly tie, rounding may turn a query to either key. Gradients must be wrong each time
too, as they jump where a ReLU is nearly 0."""


@dataclass(frozen=True)
class Question:
    """What a row asks."""

    args: list[Any]
    shapes: Shapes
    asked: list[Any]
    """The arguments of the call, for which the contract may not define all results."""
    score: float
    wanted: Wanted | None


@dataclass(frozen=True)
class Prepared:
    """A row that is ready to be asked."""

    case: Case
    manner: Mapping[str, Any]
    question: Question


class Questions:
    """Makes the questions of one entry's rows."""

    def __init__(self, asking: Asking, cases: Sequence[Case], wrt: Sequence[int]) -> None:
        """Take what rows are made of.

        Args:
            asking: Draws, and knows what checks ask of the entry.
            cases: The questions that rows vary.
            wrt: The inputs whose gradients checks ask for.
        """
        self._asking = asking
        self._cases = cases
        self._wrt = wrt
        self._layers: dict[object, Layer] = {}
        self._wide = 2 * asking.draw.integer(*HALF_WIDTHS)

    def prepared(self, row: Row, turn: int) -> Prepared | CheckFailure | None:
        """Return a row with the numbers of one turn; None if it cannot be asked.

        Args:
            row: What is asked.
            turn: Of how many with other numbers.
        """
        asking, case = self._asking, self._cases[int(row[CASE])]
        place, dtype = self.place(row, turn), self._dtype(case, row)
        sized = {axis: value for axis, value in row.items() if axis in _OF_SIZES}
        asking.enter(f"{self.place(sized, turn)} sizes")
        letters = self._letters(case, row)
        asking.enter(place)
        manner: dict[str, Any] = {axis: row[axis] for axis in MANNERS if row.get(axis)}
        manner["number"] = int(row[TURN])
        try:
            target = self._target(case, letters, row, dtype)
        except Unbound as unbound:  # in some sizes its parameters may look alike
            if row.get("equal"):
                return self.prepared({**row, "equal": ""}, turn)
            return unbound if row.get("width") else None
        except CheckFailure as refusal:
            return refusal
        question = target.remembered(
            (place, asking.context.task.seed, case.args, case.names, self._wrt, letters, dtype),
            lambda: self._made(case, target, row, letters, dtype, manner),
        )
        if question is None:
            return None
        if row.get("gradient"):
            if row["gradient"] == "expanded":
                manner["upstream"] = "expanded"
            if row.get("leaf") != "made":
                manner.pop("leaf", None)
        case = replace(case, target=target, args=tuple(question.args), shapes=question.shapes)
        return Prepared(case, manner, question)

    def place(self, row: Row, turn: int) -> str:
        """Return the name of the place from which a question's numbers are drawn."""
        told = " ".join(f"{axis}={value}" for axis, value in sorted(row.items()))
        return f"domain {self._cases[0].target.entry.name} {turn} {told}"

    def _made(
        self,
        case: Case,
        target: Target,
        row: Row,
        letters: Mapping[str, int],
        dtype: torch.dtype,
        manner: Mapping[str, Any],
    ) -> Question | None:
        """Return the question of a row, with numbers drawn anew; None if it cannot be asked."""
        draw, number, letters = self._asking.draw, int(row[TURN]), {**letters}
        group = self._group(case, row)
        spread = [letters.pop(name, 0) for name in LEADING][: len(case.shapes.leading)]
        layer = target if isinstance(target, Layer) else None
        if layer is not None or dtype is not case.dtype:
            case = in_dtype(case, dtype, layer)
        args = case.shapes.at(letters, draw, spread=spread, plain=True)  # the check's may be huge
        args = numbers.changed(case, args, row.get("values", ""), self._asking, number)
        if row.get("mask") == "alone":
            for index in masks.lengths_given(case):
                args[index] = torch.ones_like(args[index])
        blocked = row.get("mask", "")
        if blocked == "row":  # one open key elsewhere: a fill that is not low enough shows there
            blocked = "alone" if row.get("scores") else ""
        args = (
            masks.blocking(case, args, blocked, draw, number)
            if blocked
            else masks.opened(case, args)
        )
        for index in case.shapes.flags:
            if row.get("mask dtype"):
                flag = args[index] = args[index].to(getattr(torch, row["mask dtype"]))
                if flag.is_floating_point() and number % 2:  # a zero may be negative
                    args[index] = flag.copysign(flag - 0.5)
        if row.get("layout") == "expanded":
            # where all features are equal a gradient may be zero, and large scores nearly tie
            of_items = case.has_norms or row.get("gradient") or row.get("scores") or number % 2
            args = numbers.alike_along(
                case, args, 0 if of_items else -1, masks=number // 2 % 2 == 0
            )
        if row.get("layout") == "one position":
            args = numbers.of_one_position(case, args, number)
        if any(args[index].shape != args[group[0]].shape for index in group):
            return None
        if row.get("layout") == "one memory":
            args = [args[group[0]].clone() if i in group else one for i, one in enumerate(args)]
        elif row.get("object"):
            args = [args[group[0]] if index in group else one for index, one in enumerate(args)]
        elif group:
            args = numbers.with_one_start(args, group)
        case = case.asked_with(args)
        score = 0.0
        if row.get("scores"):
            try:
                args, score = enlarged(case, row["scores"], draw)
            except Exception:  # the reference refuses it: it is outside the domain
                return None
        asked = args
        if row.get("mask") == "row":
            asked = masks.without_a_row(case, args, draw)
        wanted = None
        if row.get("gradient"):
            through = case.target.entry.returns[:1] if row["gradient"] != "of weights" else []
            if not through:  # alone, or with the first result; what comes alone may be overwritten
                is_alone = not row.get("leaf") and (number % 2 == 0 or not row.get("layout"))
                through = ["weights", *case.target.entry.returns[: 1 - is_alone]]
            wanted = numbers.wanted(case, args, self._asking, self._wrt, manner, through)
            if row["gradient"] == "expanded":
                wanted = numbers.with_cotangents(wanted, lambda one: numbers.alike_in(one, -1))
            if row.get("values") == "centred":
                wanted = numbers.with_cotangents(wanted, numbers.centred)
        return Question(args, case.shapes, asked, score, wanted)

    def _group(self, case: Case, row: Row) -> Sequence[int]:
        """Return the inputs that are one object in a row, or lie in one memory."""
        groups, number = [], int(row[TURN])
        if row.get("object") or row.get("layout") == "one memory":
            groups = numbers.alike(case)
        elif row.get("layout") == "one start":
            groups = numbers.of_one_start(case)
        if row.get("leaf") == "one":  # which one of them learns follows from the number, too
            number //= len(case.shapes.numbers)
        return groups[number % len(groups)] if groups else []

    def _dtype(self, case: Case, row: Row) -> torch.dtype:
        """Return the dtype of a row; float64 if rounding of unknown size might matter."""
        scores = row.get("scores")
        asking, is_apart = self._asking, scores in ("low", "apart")
        is_felt = scores and (is_apart or asking.by_hand or not shows_scores(case))
        if is_felt and asking.is_also_in(torch.float64, case):
            return torch.float64
        return getattr(torch, row["dtype"]) if row.get("dtype") else case.dtype

    def _target(
        self, case: Case, letters: Mapping[str, int], row: Row, dtype: torch.dtype
    ) -> Target:
        """Return what is called; a layer made with other sizes serves all rows.

        But each row after inference mode gets a new layer, so that tensors which it makes in its
        first call and keeps are made in that mode; and so does one in which a weight is replaced
        that lies where it was made.
        """
        if not isinstance(case.target, Layer):
            return case.target
        sizes = {name: letters.get(name, size) for name, size in case.target.sizes.items()}
        # every second row leaves the default; and in bfloat16 a random number may be exactly 0
        if row.get("training") and int(row[TURN]) % 2 == 0 and dtype is not torch.bfloat16:
            sizes[DROPOUT] = _NEXT_TO_NOTHING
        is_new = row.get("before") == "inference" or row.get("weights") == "one replaced"
        return made_once(self._layers, case.target, dtype, sizes, is_new)

    def _letters(self, case: Case, row: Row) -> dict[str, int]:
        """Return the sizes of a row, those of leading axes without letters as `LEADING`."""
        letters = self._lengths_of(case, row)
        if row.get("before") == "other lengths":
            letters |= with_lengths(case, LENGTHS)
        if row.get("mask") == "nearly causal":
            letters |= case.square(
                max(letters.get(one, case.shapes.letters[one]) for one in case.long)
            )
        if row.get("equal"):
            letters |= made_equal(case, ties_of(row["equal"]))
        is_small, items = row.get("size", "") in ("", "one", "next"), items_of(case)
        if is_told_by_some(row) and is_small and items is not None:
            letters[items] = (1 + AGAIN) * letters.get(items, sizes_of(case)[items])
        return letters | numbers.made_alike(case, self._group(case, row), letters)

    def _lengths_of(self, case: Case, row: Row) -> dict[str, int]:
        draw, size, heads = self._asking.draw, row.get("size", ""), row.get("heads", "")
        others = "" if size in ("", "one", "next") or row.get("width") else "least"
        letters = head_sizes(case, heads or others, self._wide)
        if row.get(OWN):
            letters = {**own_widths(case, int(row[OWN])), **letters}
        if size in ("one", "next"):
            plain = case.shapes.letters
            more = size == "next"
            letters |= {one: plain[one] + 1 if more and plain[one] > 1 else 1 for one in case.long}
            return case.fitting(letters)
        if row.get("width"):
            widths, is_one = broad_widths(case), row["width"] == "one"
            chosen = int(row[TURN]) if is_one else BROAD.index(row["width"])
            letters[widths[chosen]] = 1 if is_one else draw.integer(*_BROAD)
        ranges = _LENGTHS.get(size, (None, None))
        for group, within in ((case.lengths[:-1], ranges[0]), (case.lengths[-1:], ranges[1])):
            for equal in group if within else ():
                assert within is not None
                if case.shapes.letters[equal[0]] == 1:  # a single step stays one
                    continue
                # thousands of weights, added one by one in half precision, are lost
                adds_up = within is _THOUSANDS and row.get("dtype") == "bfloat16"
                if heads or adds_up:
                    within = _LESS.get(within, within)
                while within in _LESS and case.domain.longest < within[1]:
                    within = _LESS[within]
                letters |= dict.fromkeys(equal, draw.integer(*within))
        letters = case.fitting(letters)
        if size:
            scores = MANY_HEADS if heads == "many" else _USUAL_HEADS
            sizes = [letters.get(one, case.shapes.letters[one]) for one in case.long]
            if isinstance(case.target, Layer):  # which may let a length attend to itself
                sizes = [max(sizes, default=1)]
            scores *= max(sizes, default=1) * min(sizes, default=1)
            wanted = _ITEMS.get(size, (2, 2))
            fewest = _FEWEST if size in _ITEMS else 2  # of one alone, layouts hardly tell
            count = min(draw.integer(*wanted), max(fewest, _MOST_SCORES // scores))
            if (items := items_of(case)) is not None:
                letters[items] = count
            letters = {**narrow(case), **letters}
        return letters
