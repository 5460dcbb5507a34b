"""Which rows the questions of an entry are asked with: a covering array, and a few besides."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.checks.cases import Case, form_of, other_forms
from mha_judge.grading.checks.corners import axes, masks, numbers
from mha_judge.grading.checks.corners.asking import Asking
from mha_judge.grading.checks.corners.axes import CASE, DROPOUT, OWN, TURN
from mha_judge.grading.checks.corners.ties import Ties
from mha_judge.grading.checks.corners.widths import (
    HALF_WIDTHS,
    OTHER_LENGTHS,
    broad_widths,
    head_sizes,
    items_of,
    with_lengths,
)
from mha_judge.grading.covering import Row, Value, covering
from mha_judge.grading.expecting.compare import dtype_name
from mha_judge.grading.expecting.memory import key_of, memory

_MOST_PARAMETERS = 64
"""How many of a layer's parameters are frozen, learn, or held other numbers, one at a time."""


class Rows:
    """Chooses the rows of one entry."""

    def __init__(self, asking: Asking, cases: Sequence[Case], wrt: Sequence[int]) -> None:
        """Take the questions.

        Args:
            asking: Draws, and knows what checks ask of the entry.
            cases: The questions.
            wrt: The inputs whose gradients checks ask for.
        """
        self._asking = asking
        self._cases = cases
        self._wrt = wrt
        self._ties = Ties(cases, axes.HIDING)
        self._excluded = axes.excluded(cases[0].has_norms)
        every = [(axis, value) for axis, values in axes.VALUES.items() for value in values]
        also = [(axis, value) for axis, values in axes.ALSO.items() for value in values]
        self._unable = {
            one: {str(i) for i, case in enumerate(cases) if not self._can(case, *one)}
            for one in (*every, *also)
        }
        """By value, the questions that cannot be asked with it."""
        self._axes: dict[str, list[str]] = {CASE: list(map(str, range(len(cases))))}
        for axis, value in every:
            if len(self._unable[axis, value]) < len(cases):
                self._axes.setdefault(axis, [""]).append(value)

    def drawn(self) -> Iterator[Row]:
        """Yield the rows of the array in an order drawn from the seed."""
        if len(self._axes) < 3:
            return
        dtypes = self._mask_dtypes()
        of_masks = [
            {**axes.ALONE, "mask dtype": kind} for kind, every in dtypes.items() for _ in every
        ]
        of_cases = [{**one, CASE: case} for one in axes.OF_EACH_CASE for case in self._axes[CASE]]
        of_cases += [
            {**one, CASE: case} for one in axes.OF_EACH_FORM for case in self._of_each_form(one)
        ]
        presets = [one for one in (*axes.HARD, *of_masks, *of_cases) if self._is_possible(one)]
        presets = [{a: v for a, v in one.items() if a in self._axes} for one in presets]
        draw = self._asking.draw
        seed = draw.integer(0, 2**31)
        unable = [[*one, *sorted(cases)] for one, cases in self._unable.items()]
        rows = memory().recall(
            key_of("rows", repr((self._axes, unable, seed, presets, self._cases[0].has_norms))),
            lambda: covering(self._axes, self._are_apart, seed, presets, axes.HIDING),
        )
        turns = {kind: itertools.cycle(every) for kind, every in dtypes.items()}
        rows = [
            {**row, "mask dtype": next(turns[row["mask dtype"]])} if "mask dtype" in row else row
            for row in rows
        ]
        for number, index in enumerate(draw.permutation(len(rows)).tolist()):
            row = {axis: value for axis, value in rows[index].items() if value}
            # what is made for this width, or for a long input, is made in that mode
            if row.get("before") == "inference" and row.get("size") not in axes.LENGTHS_APART:
                row[OWN] = str(number)
            yield {**row, TURN: str(number), "equal": self._equal(row)}
        yield from self._of_each_parameter()
        yield from self._of_each_role()
        yield from self._of_each_width()
        yield from self._of_each_input()
        yield from self._by_themselves()
        yield from self._of_one_input()
        yield from self._of_causal_masks()
        yield from self._of_unlike_masks()

    def _mask_dtypes(self) -> dict[str, list[str]]:
        """Return, by kind, the dtypes that masks have in turn; the plain one has no name."""
        is_torch = self._cases[0].target.entry.arrays == "torch"
        named = {
            kind: [dtype_name(one) for one in every if is_torch or one is not torch.bfloat16]
            for kind, every in masks.MASK_DTYPES.items()
        }
        return {kind: named.get(kind, [""]) for kind in self._axes.get("mask dtype", ())}

    def _of_each_parameter(self) -> Iterator[Row]:
        """Yield rows in which one parameter alone is unlike the others.

        It learns, it does not, or it held other numbers in an earlier call. A weight is frozen with
        its bias, and learns beside inputs that do, too.
        """
        layer = self._cases[0].target
        if not isinstance(layer, Layer):
            return
        paths = [one.path for one in layer.parameters]
        for number in self._asking.draw.permutation(len(paths)).tolist()[:_MOST_PARAMETERS]:
            owner = paths[number].rpartition(".")[0]
            is_first = all(one.rpartition(".")[0] != owner for one in paths[:number])
            for preset in axes.OF_A_WEIGHT if is_first else axes.OF_A_BIAS:
                if self._is_possible({CASE: "0", **preset}):
                    yield {CASE: "0", **preset, TURN: str(number)}
            if self._is_possible({CASE: "0", **axes.AFTER_OTHER_WEIGHTS}):
                yield {CASE: "0", **axes.AFTER_OTHER_WEIGHTS, TURN: str(2 * number + 1)}

    def _of_each_role(self) -> Iterator[Row]:
        """Yield rows in which one weight of a layer is unlike what weights are."""
        for preset in axes.OF_A_ROLE:
            if self._is_possible({CASE: "0", **preset}):
                for number in range(len(self._cases[0].target.entry.roles)):
                    yield {CASE: "0", **preset, TURN: str(number)}

    def _of_each_width(self) -> Iterator[Row]:
        """Yield rows in which one of the widths that a layer is made with is 1."""
        for number in range(len(broad_widths(self._cases[0]))):
            yield {CASE: "0", "width": "one", TURN: str(number)}

    def _of_each_input(self) -> Iterator[Row]:
        """Yield rows in which one input alone learns, with masks and without."""
        for case in self._of_each_form(axes.INPUT_ALONE):
            given = {*numbers.floating(self._cases[int(case)])} & {*self._wrt}
            for number in range(len(given)):
                yield {CASE: case, **axes.INPUT_ALONE, TURN: str(number)}
                if self._is_possible({**axes.INPUT_ALONE, "frozen": "yes", CASE: case}):
                    yield {CASE: case, **axes.INPUT_ALONE, "frozen": "yes", TURN: str(number)}

    def _by_themselves(self) -> Iterator[Row]:
        """Yield the rows of their own that a question of each form has."""
        for preset in axes.BY_THEMSELVES:
            for number, case in enumerate(self._of_each_form(preset)):
                yield {CASE: case, **preset, TURN: str(number)}

    def _of_one_input(self) -> Iterator[Row]:
        """Yield rows in which one input is unlike what inputs are, where most is given."""
        given = {
            name: sum(one is not None for one in self._cases[int(name)].args)
            for name in self._axes[CASE]
        }
        for preset in axes.OF_AN_INPUT:
            for case in sorted(self._of_each_form(preset), key=lambda one: -given[one])[:1]:
                asked = self._cases[int(case)]
                groups = numbers.alike(asked)
                count = len(asked.shapes.numbers)
                if "object" in preset:
                    count = len(groups)
                elif {"layout", "leaf"} <= preset.keys():
                    count *= len(groups)
                for number in range(count):
                    yield {CASE: case, **preset, TURN: str(number)}

    def _of_causal_masks(self) -> Iterator[Row]:
        """Yield rows in which masks are causal but for a key or two, or but for the first alone."""
        unable = self._unable["mask", "nearly causal"]
        for case in (one for one in self._axes[CASE] if one not in unable):
            for number in masks.nearly_causal(self._cases[int(case)]):
                yield {CASE: case, "mask": "nearly causal", TURN: str(number)}

    def _of_unlike_masks(self) -> Iterator[Row]:
        """Yield rows with every kind of mask that is nearly the same for all rows or items."""
        forms = {}
        for name in self._axes[CASE]:
            if name not in self._unable["mask", "unlike"]:
                forms[masks.axes_of_masks(self._cases[int(name)])] = name
        for case in forms.values():
            for number in range(masks.UNLIKE):
                yield {CASE: case, "mask": "unlike", TURN: str(number)}

    def _of_each_form(self, preset: Row) -> list[str]:
        """Return a question of each form: by what is given, what is true, and a size of one."""
        forms: dict[object, str] = {}
        for name in self._axes[CASE]:
            case = self._cases[int(name)]
            if self._is_possible({**preset, CASE: name}):
                forms[1 in case.shapes.letters.values(), form_of(case)] = name
        return [*forms.values()]

    def _is_possible(self, preset: Row) -> bool:
        """Return whether some question can be asked with all these values."""
        if not all(
            value in (*self._axes.get(axis, ("",)), *axes.ALSO.get(axis, ()))
            for axis, value in preset.items()
        ):
            return False
        unable = set.union(*(self._unable.get(one, set()) for one in preset.items()))
        return not {*self._axes[CASE]} <= unable and preset.get(CASE) not in unable

    def _are_apart(self, one: Value, other: Value) -> bool:
        for first, second in ((one, other), (other, one)):
            if first[0] == CASE:
                if first[1] in self._unable.get(second, ()):
                    return True
            elif second[1] and not {second, second[0]}.isdisjoint(self._excluded.get(first, ())):
                return True
        unable = self._unable.get(one, set()) | self._unable.get(other, set())
        return len(unable) == len(self._cases)

    def _equal(self, row: Row) -> str:
        """Return sizes that are made equal in a row, if its sizes are plain otherwise."""
        if axes.WITHOUT_EQUAL & row.keys():
            return ""
        case = int(row[CASE])
        values = [one for one in row.items() if one[0] not in (CASE, "equal")]
        square = self._cases[case].long if row.get("mask") == "nearly causal" else ()
        return self._ties.chosen(case, values, square)

    def _can(self, case: Case, axis: str, value: str) -> bool:
        """Return whether a question with one value of an axis can be asked, and tell anything."""
        if not self._asking.context.may_notice(axis, value):
            return False
        asking, flags, entry = self._asking, case.shapes.flags, case.target.entry
        is_torch, is_layer = entry.arrays == "torch", isinstance(case.target, Layer)
        by_hand, in_float64 = asking.by_hand, asking.is_also_in(torch.float64, case)
        match axis:
            case "mode":
                return is_torch
            case "leaf":
                several = len(numbers.floating(case)) > (1 if value == "one" else 2)
                fits = {"none": is_layer, "made": True}.get(value, several)
                return is_torch and not by_hand and fits
            case "frozen" | "instance":
                return is_torch and is_layer
            case "layout" | "after" if entry.arrays == "either":
                return False
            case "layout" if value == "one start":
                return bool(numbers.of_one_start(case))
            case "layout" if value == "one position":
                return bool(numbers.with_positions(case))
            case "layout" if value == "one memory":
                return bool(numbers.alike(case))
            case "layout" if value == "expanded":
                return bool(numbers.with_items(case)) and entry.name in asking.left_alone
            case "layout" if value == "innermost":  # of three axes, it is the last but one
                return any(one.dim() > 3 for one in case.shapes.numbers.values())
            case "layout" if value == "parts":
                shapes = [(one.dtype, one.shape[:-1]) for one in numbers.tensors_of(case)]
                return len({*shapes}) < len(shapes)
            case "layout" if value == "transposed":
                return any(1 not in one.shape[-2:] for one in numbers.tensors_of(case))
            case "layout" | "after":
                return True
            case "before":
                if value == "other weights":
                    return is_layer
                if value == "other lengths":
                    return bool(with_lengths(case, OTHER_LENGTHS))
                if value == "other form":
                    return bool(other_forms(case, self._cases))
                if value in ("backward", "no_grad"):
                    return is_torch and not by_hand
                return is_torch or value != "inference"
            case "weights" if value == "identity":
                return is_torch and isinstance(case.target, Layer) and case.target.has_square_maps
            case "map" if value == "low scores":
                has_keys = any(role.name == "k" for role in entry.roles)
                return is_layer and is_torch and case.domain.scores and has_keys
            case "weights" | "map":
                return is_layer and is_torch
            case "mean":
                return is_layer and is_torch and case.has_norms
            case "training":
                drops = isinstance(case.target, Layer) and case.target.sizes.get(DROPOUT)
                return is_layer and is_torch and DROPOUT in entry.constructor and not drops
            case "width":
                least = axes.BROAD.index(value) if value in axes.BROAD else 0
                return len(broad_widths(case)) > least
            case "object":
                return bool(numbers.alike(case))
            case "gradient":
                comes_back = value != "of weights" or "weights" in case.names[1:]
                has_one = 1 in case.shapes.letters.values()
                return bool(self._wrt) and is_torch and comes_back and not has_one
            case "dtype" if value == "float16":
                return asking.is_asked_alike(torch.float16, case)
            case "dtype":
                return asking.is_also_in(getattr(torch, value), case)
            case "size" if value in axes.ITEMS:
                return items_of(case) is not None
            case "size" if value == "one":  # where gradients are 0, but for rounding
                return bool(case.lengths) and not by_hand
            case "size" if value == "first" and case.domain.at_most:
                return False
            case "size":  # a length of 1 stays 1
                long = [case.shapes.letters[equal[0]] > 1 for equal in case.lengths]
                grow = {"first": long[:-1], "last": long[-1:]}.get(value, long)
                return any(grow) and len(long) > (value in axes.LENGTHS_APART)
            case "heads":
                return bool(head_sizes(case, value, HALF_WIDTHS[0]))
            case "equal":
                return self._ties.are_possible(case)
            case "mask dtype":
                return any(entry.arguments[index] not in case.domain.boolean for index in flags)
            case "mask":
                return self._can_mask(case, value)
            case "values" if value == "centred":
                return any(one.shape[-1] > 2 for one in case.shapes.numbers.values())
            case "values" if value in ("large", "small"):
                return bool(numbers.linear(case))
            case "values" if value in ("rising", "falling"):
                return numbers.takes_q_and_k(case) and bool(numbers.of_keys(case))
            case "values" if value in ("constant", "nothing"):
                # gradients by hand are 0 there, but for rounding
                return bool(case.shapes.numbers) and not by_hand
            case "values" if value == "zero item":
                return bool(numbers.of_items(case))
            case "values" if value == "one constant":
                several = len(case.shapes.numbers) > 1
                return several and bool(numbers.may_be_constant(case, by_hand))
            case "values":
                return bool(numbers.with_positions(case))
            case "scores" if value in ("low", "apart"):
                return case.domain.scores and numbers.takes_q_and_k(case) and not by_hand
            case "scores" if value in ("rising", "rising slowly", "falling", "level"):
                return case.domain.scores and numbers.takes_q_and_k(case) and by_hand <= in_float64
            case "scores" if value == "last item" and not numbers.with_items(case):
                return False
            case "scores" if value == "last" and not numbers.with_positions(case):
                return False
            case _:
                # where every weight is 0 or 1 gradients are 0, but for the rounding of the rest
                return case.domain.scores and (not by_hand or in_float64)

    def _can_mask(self, case: Case, value: str) -> bool:
        blocked = masks.blocked_keys(case)
        match value:
            case "row":
                return bool(blocked) and case.target.entry.name in self._asking.row_blocked
            case "nearly causal":
                return masks.may_be_square(case)
            case "unlike":
                return masks.may_be_unlike(case, self._asking.draw)
            case "low" | "zero":
                return bool(masks.added(case))
            case "alone":
                return bool(blocked or masks.lengths_given(case))
            case _:
                return bool(blocked)
