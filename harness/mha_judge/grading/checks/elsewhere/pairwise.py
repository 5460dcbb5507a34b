"""The questions of an entry on all pairs of axes: each row of a covering array is one question.

A row says in which dtype, at which sizes, with which mask and numbers a question is asked, in which
gradient mode, in which memory layout, after which calls, and whether gradients are asked for. A
right answer is asked each row once. If a row is answered wrong, its values are made plain one after
another, until only the cause is left; further rows with this cause tell nothing new and are left
out.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch

from mha_judge.grading.binding.weights import Unbound
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.shapes import Shapes
from mha_judge.grading.calling.target import Target, Wanted
from mha_judge.grading.checks.cases import Case, in_dtype, shapes_of
from mha_judge.grading.checks.elsewhere import masks, numbers
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding
from mha_judge.grading.checks.elsewhere.scores import enlarged, shows_scores
from mha_judge.grading.checks.elsewhere.ties import LEADING, Ties, made_equal, sizes_of, ties_of
from mha_judge.grading.checks.elsewhere.widths import (
    MANY_GROUPS,
    MANY_HEADS,
    WIDE,
    head_sizes,
    narrow,
)
from mha_judge.grading.covering import Row, Value, covering
from mha_judge.grading.expecting.compare import dtype_name
from mha_judge.grading.expecting.memory import key_of, memory
from mha_judge.grading.failures import CheckFailure, TimedOut
from mha_judge.sandbox.base import nothing

_DTYPES = (torch.float64, torch.bfloat16)
"""Dtypes besides the plain one; float16 does not hold −1e9."""
_ITEMS = {"several": (9, 16), "many": (65, 80)}
_TENS, _HUNDREDS, _THOUSANDS = (65, 80), (257, 300), (2_060, 2_200)
"""Beyond blocks of 64, a byte's whole numbers, and large buffers."""
_LENGTHS = {"tens": (_TENS, _TENS)}
"""The ranges of the first length and of the last; None for a plain one."""
_LENGTHS_APART = {"first": (_THOUSANDS, None), "last": (None, _THOUSANDS)}
_LESS = {_TENS: (33, 40), _HUNDREDS: _TENS, _THOUSANDS: _HUNDREDS}
"""Shorter ranges, if heads are many or wide, or the length is not graded, or too long for half
precision."""
_EQUAL = ("once", "twice", "thrice")
"""As often, at least, each value occurs in rows in which sizes are equal that need not be."""
_BROAD = (1_030, 1_100)
"""A width other than that of heads, beyond buffers of 1,024."""
_DROPOUT, _NEXT_TO_NOTHING = "dropout", 1e-12
"""The probability is not 0, as answers have branches for that, but too small to drop anything."""
_FAR_FROM_ZERO = 4_000.0
"""Where E[x²] − mean² is off by more than rounding can be."""
_LONGEST, _SHORT = 200, 16
"""A question with a size above the first is not varied here; lengths above the second are made
shorter, as some rows are long anyway."""
_MOST_SCORES = 45_000
"""Pairs of positions, of all items and heads, above which a row has fewer items."""
_USUAL_HEADS, _FEWEST = 4, 3
"""Heads that a layer may have, and the fewest items of many."""
_AGAIN = 2
"""How often a row is asked again with other numbers. In half precision it must be wrong each time:
if two scores nearly tie, rounding may turn a query to either key. Gradients must be wrong each time
too, as they jump where a ReLU is nearly 0."""
_BY_FAR = 10.0
"""An answer whose error is this many times the allowed one is not asked again."""
_DIVIDED_BY_LITTLE = {("values", value) for value in ("constant", "nothing", "zeros")}
"""With these values norms may divide by next to nothing, and gradients then have no bound."""
_MOST_CAUSES = 4

_WORDS = {
    ("size", "one"): "at one position",
    ("size", "next"): "at one position more than before",
    ("size", "tens"): "at tens of positions",
    ("size", "first"): "where the first length alone is long",
    ("size", "last"): "where the last length alone is long",
    ("size", "several"): "in a batch of ten or so",
    ("size", "many"): "in a batch of seventy or so",
    ("heads", "many"): f"with {MANY_HEADS} heads",
    ("heads", "groups"): f"with {MANY_GROUPS} groups of heads",
    ("heads", "wide"): "with wide heads",
    ("heads", "single"): "with one head, or one group of heads",
    ("mask", "left"): "where the first keys are blocked",
    ("mask", "right"): "where the last keys are blocked",
    ("mask", "one"): "where one key is blocked",
    ("mask", "alone"): "where one key alone is open",
    ("mask", "row"): "where a row has no open key",
    ("mask", "nearly causal"): "where a mask is causal but for one key",
    ("mask", "unlike"): "where the mask of one row or item is unlike the others",
    ("mask", "low"): "where all of an added mask is far below zero",
    ("scores", "large"): "where scores are large",
    ("scores", "low"): "where every score is very low",
    ("scores", "apart"): "where scores are as far apart as can be",
    ("values", "large"): "where values are large",
    ("values", "small"): "where values are small",
    ("values", "zeros"): "where a position holds zeros",
    ("values", "repeated"): "where two positions hold the same",
    ("values", "constant"): "where all numbers are equal",
    ("values", "nothing"): "where all numbers are zero",
    ("object", "one"): "where two inputs are one object",
    ("gradient", "asked"): "in its gradients",
    ("gradient", "expanded"): "in its gradients, where the one that comes in is expanded",
    ("gradient", "of weights"): "in its gradients, where one comes in through the weights too",
    ("inputs", "looked at"): "in what it leaves of its inputs",
    ("weights", "anew"): "after weights were set anew",
    ("weights", "one anew"): "after one of its weights was set anew",
    ("weights", "unbiased"): "where every bias is zero",
    ("mean", "far"): "where the mean before a norm is far from zero",
    ("before", "other form"): "after a call with other arguments given or left out",
    ("training", "yes"): "in training, with next to nothing to drop",
    ("width", "broad"): "where a width is a thousand or so",
    **{(axis, value): words for axis, values in AXES.items() for value, words in values.items()},
}
_CASE, _TURN = "case", "turn"
_MANNERS = (*AXES, "training")
"""Axes of how a call is made, apart from its arguments."""
_ABOUT = (
    *_MANNERS, "weights", "object", "inputs", "gradient", "mask dtype", "scores", "mean",
    "mask", "values", "equal", "size", "width", "heads", "dtype",
)  # fmt: skip
"""All axes; a cause with several is about the one that comes first here."""
_PLAINER = {
    ("gradient", "expanded"): "asked",
    ("gradient", "of weights"): "asked",
    ("instance", "loaded"): "copy",
    ("instance", "moved"): "copy",
    ("mask", "row"): "alone",
}
"""The value of an axis that is a part of another one: a layer that was moved is a copy, too, and a
mask that leaves a row no key leaves others one."""

_ALONE = {"mask": "alone", "scores": "large"}
_FROZEN_ALONE = {"gradient": "asked", "frozen": "one"}
_INPUT_ALONE = {"gradient": "asked", "leaf": "one"}
_LEARNS_ALONE = {"gradient": "asked", "frozen": "all but one", "leaf": "none"}
_OF_A_BIAS = (_FROZEN_ALONE, _LEARNS_ALONE)
_OF_A_WEIGHT = (
    {"gradient": "asked", "frozen": "map"},
    _LEARNS_ALONE,
    {"gradient": "asked", "frozen": "all but one"},
)
_ONE_LARGE_SCORE = {"dtype": "bfloat16", "scores": "large", "size": "one"}
"""Its weight is exactly 1, however coarse the rounding is."""
_OF_EACH_CASE = (
    {"mask": "row", "scores": "large"},
    {"mask": "unlike", "size": "many"},
    {"mode": "no_grad", "equal": _EQUAL[0], "mask": ""},
)
"""Values that each question is asked with: a blocked row may change the number that is used for −∞,
items may be taken in turns with the masks of the first ones, and a mask of two axes for one of
items where there are as many and nothing is recorded. Rows are filled with other pairs,
so that these hardly add any."""
_OF_EACH_FORM = (
    {"before": "inference", "gradient": "asked"},
    {"after": "call", "size": "tens"},
    {"mode": "no_grad", "before": "other numbers", "size": "tens"},
    {"mode": "no_grad", "before": "error", "size": "tens", "heads": "", "object": ""},
    {"dtype": "bfloat16", "size": "tens"},
    {"object": "one", "before": "other weights"},
    {"object": "one", "weights": "anew"},
)
"""Values that one question of each form is asked with: a tensor kept from inference mode can be in
no graph, long results may share a buffer, a cache may be kept where no graph is, and stay half
filled, and there may be a faster way for long inputs or where k is v."""
_FEW_PARAMETERS = 16
"""How many of a layer's parameters are frozen, or learn, one at a time."""
_HARD = (
    {**_ALONE, "dtype": "bfloat16"},
    {**_ALONE, "dtype": "float64"},
    {**_ALONE, "size": "tens"},
    {**_ALONE, "training": "yes"},
    {"mask": "left", "size": "tens", "mode": "no_grad"},
    {"mask": "left", "size": "last", "mode": "no_grad"},
    {"gradient": "asked", "leaf": "", "size": "tens", "heads": ""},
    {"gradient": "asked", "leaf": "none", "size": "tens"},
    {"gradient": "asked", "leaf": "one", "size": "tens"},
)
"""Three values that must occur together, for a wrong −∞ in one dtype, say, or whole blocks of keys
that are blocked; every dtype of a mask occurs with `_ALONE` too."""
_HIDING = frozenset({
    ("dtype", "bfloat16"), ("size", "one"), ("mask", "alone"), ("mask", "row"),
    ("scores", "large"), ("scores", "low"), ("scores", "apart"),
    ("values", "constant"), ("values", "nothing"),
})  # fmt: skip
"""Values that mask others: rounding is coarse, weights are 0 or 1 in any case, or all numbers of a
result are equal."""
_GRADIENTS = tuple(("gradient", value) for value in ("asked", "expanded", "of weights"))
_NOT_DIFFERENTIATED: frozenset[Value | str] = frozenset({
        "mode", "scores", "object", "weights", "mean", ("mask", "alone"), ("mask", "row"),
        ("size", "one"), ("heads", "single"), ("values", "large"), ("values", "small"),
        ("values", "constant"), ("values", "nothing"),
    })  # fmt: skip
"""With these, keys are blocked or a softmax is 0 or 1, so that gradients are only rounding."""
_APART: Mapping[Value, frozenset[Value | str]] = {
    **dict.fromkeys(_GRADIENTS, _NOT_DIFFERENTIATED),
    ("object", "one"): frozenset({("size", "first"), ("size", "last"), "values", "scores"}),
    ("size", "one"): frozenset({"mask", "scores"}),
    ("size", "many"): frozenset({"heads"}),
    ("mask", "nearly causal"): frozenset({("size", "first"), ("size", "last")}),
    ("dtype", "bfloat16"): frozenset({
        ("values", "large"), ("values", "small"), ("values", "constant"), ("values", "nothing"),
        ("scores", "low"), ("scores", "apart"), ("mask", "low"), "width", "mean",
    }),
    ("width", "broad"): frozenset({"size", "heads", "values"}),
    **{("equal", one): frozenset({"size", "heads", "width", "object"}) for one in _EQUAL},
    ("mean", "far"): frozenset({"weights", "values"}),
    ("values", "large"): frozenset({"scores"}),
    ("values", "small"): frozenset({"scores"}),
    ("values", "zeros"): frozenset({"scores", ("size", "one")}),
    ("values", "repeated"): frozenset({"scores", ("size", "one")}),
    ("values", "constant"): frozenset({"scores"}),
    ("values", "nothing"): frozenset({"scores"}),
}  # fmt: skip
"""By value, what it excludes: single values, or all values of an axis but the plain one."""


def pairwise(
    asking: Asking,
    cases: Sequence[Case],
    wrt: Mapping[str, Sequence[int]],
    until_failure: bool = False,
) -> list[Finding]:
    """Ask the questions of one entry on all pairs of axes, and return what is wrong.

    Of causes that have an axis in common, only the one with the fewest values is reported.

    Args:
        asking: Asks the candidate.
        cases: The questions.
        wrt: By entry, the inputs whose gradients checks ask for.
        until_failure: Whether to stop at the first failure.
    """
    cases = [one for one in cases if max(one.shapes.letters.values(), default=1) <= _LONGEST]
    plain = [one for one in cases if one.dtype is torch.float32]
    plain = plain or [one for one in cases if one.dtype is torch.float64]
    if not plain:
        return []
    short = [_shortened(asking, one) for one in plain]
    rows = _Rows(asking, short, wrt.get(plain[0].target.entry.name, ()))
    found: list[tuple[Row, CheckFailure]] = []
    drawn = [*rows.drawn()]
    for row, following in zip(drawn, [*drawn[1:], None], strict=True):
        if any(cause.items() <= row.items() for cause, _ in found):
            continue
        if "size" in row and any(isinstance(failure, TimedOut) for _, failure in found):
            continue  # it has timed out, and would take as long again
        failure = rows.ask(row, following)
        if failure is not None:
            found.append(rows.shrunk(row, failure))
        if until_failure and found:
            break
        if len(found) >= _MOST_CAUSES or not rows.are_askable:
            break
    told: list[tuple[Row, CheckFailure]] = []
    for cause, failure in sorted(found, key=lambda one: len(one[0])):
        if all(cause.keys().isdisjoint(other) for other, _ in told):
            told.append((cause, failure))
    return [_told(cause, failure) for cause, failure in told]


def _told(cause: Row, failure: CheckFailure) -> Finding:
    """Return what is wrong, in words."""
    values = [(axis, cause[axis]) for axis in _ABOUT if cause.get(axis)]
    if not values:
        where = "when it is asked again: it does not always give the same"
        return Finding(where, failure, "before")
    where = ", ".join(_WORDS.get(one) or _words_of(*one) for one in values)
    return Finding(where, failure, values[0][0])


def _shortened(asking: Asking, case: Case) -> Case:
    """Return a question with short lengths; one that was longer than another still is."""
    groups = sorted(case.lengths, key=lambda group: -case.shapes.letters[group[0]])
    letters: dict[str, int] = {}
    for number, group in enumerate(groups):
        if case.shapes.letters[group[0]] > _SHORT:
            letters |= dict.fromkeys(group, _SHORT - 1 - 2 * number)
    if not letters:
        return case
    args = tuple(case.shapes.at(case.fitting(letters), asking.draw))
    return replace(case, args=args, shapes=shapes_of(case.target, case.domain, args))


@dataclass(frozen=True)
class _Question:
    """What a row asks."""

    args: list[Any]
    shapes: Shapes
    asked: list[Any]
    """The arguments of the call, for which the contract may not define all results."""
    score: float
    wanted: Wanted | None


@dataclass(frozen=True)
class _Prepared:
    """A row that is ready to be asked."""

    case: Case
    manner: Mapping[str, Any]
    question: _Question


class _Unmade(Exception):
    """A layer that only the worker can make."""


class _Rows:
    """Asks the rows of one entry."""

    def __init__(self, asking: Asking, cases: Sequence[Case], wrt: Sequence[int]) -> None:
        self._asking = asking
        self._cases = cases
        self._wrt = wrt
        self._layers: dict[object, Layer] = {}
        self._ties = Ties(cases, _HIDING)
        self._has_norms = any(role.kind == "norm" for role in cases[0].target.entry.roles)
        self._apart = _APART
        if self._has_norms:
            unbounded = _NOT_DIFFERENTIATED | _DIVIDED_BY_LITTLE
            self._apart = {**_APART, **dict.fromkeys(_GRADIENTS, unbounded)}
        self._called: set[object] = set()
        """Layers, and the gradient modes in which they were called."""
        self._ahead: tuple[Row, _Prepared | CheckFailure | None] | None = None
        """A row that was prepared while the worker answered the one before it."""
        self._wide = 2 * asking.draw.integer(*WIDE)
        every = [(axis, value) for axis, values in self._values().items() for value in values]
        self._unable = {
            one: {str(i) for i, case in enumerate(cases) if not self._can(case, *one)}
            for one in every
        }
        self._axes: dict[str, list[str]] = {_CASE: list(map(str, range(len(cases))))}
        for axis, value in every:
            if len(self._unable[axis, value]) < len(cases):
                self._axes.setdefault(axis, [""]).append(value)

    @staticmethod
    def _values() -> dict[str, list[str]]:
        """Return every axis with its values that are not plain."""
        manners = {axis: [value for value in values if value] for axis, values in AXES.items()}
        return {
            **manners,
            "before": [*manners["before"], "other form"],
            "training": ["yes"],
            "weights": ["anew", "one anew", "unbiased"],
            "mean": ["far"],
            "object": ["one"],
            "inputs": ["looked at"],
            "gradient": ["asked", "expanded", "of weights"],
            "dtype": [*map(dtype_name, _DTYPES)],
            "size": ["one", "next", *_ITEMS, *_LENGTHS, *_LENGTHS_APART],
            "width": ["broad"],
            "heads": ["many", "groups", "wide", "single"],
            "equal": [*_EQUAL],
            "mask": ["left", "right", "one", "alone", "row", "nearly causal", "unlike", "low"],
            "mask dtype": [*masks.MASK_DTYPES],
            "scores": ["large", "low", "apart"],
            "values": ["large", "small", "zeros", "repeated", "constant", "nothing"],
        }

    def _can(self, case: Case, axis: str, value: str) -> bool:
        """Return whether a question can be asked with one value of an axis."""
        asking, flags, entry = self._asking, case.shapes.flags.values(), case.target.entry
        is_torch, is_layer = entry.arrays == "torch", isinstance(case.target, Layer)
        by_hand = "autograd" in asking.context.task.problem.forbid
        match axis:
            case "mode":
                return is_torch
            case "leaf":
                several = len(numbers.floating(case)) > (1 if value == "one" else 2)
                fits = {"none": is_layer, "made": True}.get(value, several)
                return is_torch and not by_hand and fits
            case "frozen":
                return is_torch and is_layer
            case "instance":
                return is_torch and is_layer
            case "layout" if value == "expanded":
                return bool(numbers.with_items(case)) and entry.name in asking.left_alone
            case "layout" | "after":
                return entry.arrays != "either"
            case "before":
                if value == "other weights":
                    return is_layer
                if value == "other form":
                    return bool(self._other_forms(case))
                if value == "backward":
                    return is_torch and not by_hand
                return is_torch or value in ("same", "other numbers")
            case "weights":
                return is_layer and is_torch
            case "mean":
                return is_layer and is_torch and self._has_norms
            case "training":
                drops = isinstance(case.target, Layer) and case.target.sizes.get(_DROPOUT)
                return is_layer and is_torch and _DROPOUT in entry.constructor and not drops
            case "width":
                return bool(_broad(case))
            case "inputs":
                return entry.name in asking.left_alone
            case "object":
                return bool(numbers.alike(case))
            case "gradient":
                comes_back = value != "of weights" or "weights" in case.names[1:]
                has_one = 1 in case.shapes.letters.values()
                return bool(self._wrt) and is_torch and comes_back and not has_one
            case "dtype":
                dtype = getattr(torch, value)
                return dtype is not case.dtype and asking.is_also_in(dtype, case)
            case "size" if value in _ITEMS:
                return _has_items(case)
            case "size" if value == "one":  # where gradients are 0, but for rounding
                return bool(case.lengths) and not by_hand
            case "size" if value == "first" and case.domain.at_most:
                return False
            case "size":
                return len(case.lengths) > (value in _LENGTHS_APART)
            case "heads":
                return bool(head_sizes(case, value, self._wide))
            case "equal":
                return self._ties.are_possible(case)
            case "mask dtype":
                return bool(flags)
            case "mask":
                return self._can_mask(case, value)
            case "values" if value in ("large", "small"):
                return bool(numbers.linear(case))
            case "values" if value in ("constant", "nothing"):
                # gradients by hand are 0 there, but for rounding
                return bool(case.shapes.numbers) and not by_hand
            case "values":
                return bool(numbers.with_positions(case))
            case "scores" if value != "large":
                return case.domain.scores and numbers.takes_q_and_k(case) and not by_hand
            case _:
                # where every weight is 0 or 1 gradients are 0, but for the rounding of the rest
                return case.domain.scores and (not by_hand or self._can(case, "dtype", "float64"))

    def _can_mask(self, case: Case, value: str) -> bool:
        blocked = masks.blocked_keys(case)
        match value:
            case "row":
                return bool(blocked) and case.target.entry.name in self._asking.row_blocked
            case "nearly causal":
                return masks.may_be_square(case)
            case "unlike":
                return masks.may_be_unlike(case, self._asking.draw)
            case "low":
                return bool(masks.added(case))
            case "alone":
                return bool(blocked or masks.lengths_given(case))
            case _:
                return bool(blocked)

    @property
    def are_askable(self) -> bool:
        """Whether the process in which layers were made still lives."""
        return all(one.target.is_usable for one in self._cases)

    def drawn(self) -> Iterator[Row]:
        """Yield the rows of the array in an order drawn from the seed."""
        if len(self._axes) < 3:
            return
        dtypes = self._mask_dtypes()
        of_masks = [{**_ALONE, "mask dtype": kind} for kind, every in dtypes.items() for _ in every]
        of_cases = [{**one, _CASE: case} for one in _OF_EACH_CASE for case in self._axes[_CASE]]
        of_cases += [
            {**one, _CASE: case} for one in _OF_EACH_FORM for case in self._of_each_form(one)
        ]
        presets = [one for one in (*_HARD, *of_masks, *of_cases) if self._is_possible(one)]
        presets = [{a: v for a, v in one.items() if a in self._axes} for one in presets]
        draw = self._asking.draw
        seed = draw.integer(0, 2**31)
        unable = [[*one, *sorted(cases)] for one, cases in self._unable.items()]
        rows = memory().recall(
            key_of("rows", repr((self._axes, unable, seed, presets, self._has_norms))),
            lambda: covering(self._axes, self._are_apart, seed, presets, _HIDING),
        )
        turns = {kind: itertools.cycle(every) for kind, every in dtypes.items()}
        rows = [
            {**row, "mask dtype": next(turns[row["mask dtype"]])} if "mask dtype" in row else row
            for row in rows
        ]
        for number, index in enumerate(draw.permutation(len(rows)).tolist()):
            row = {axis: value for axis, value in rows[index].items() if value}
            yield {**row, _TURN: str(number), "equal": self._equal(row)}
        yield from self._of_each_parameter()
        yield from self._of_each_input()
        yield from self._of_one_score()

    def _mask_dtypes(self) -> dict[str, list[str]]:
        """Return, by kind, the dtypes that masks have in turn; the plain one has no name."""
        is_torch = self._cases[0].target.entry.arrays == "torch"
        named = {
            kind: [dtype_name(one) for one in every if is_torch or one is not torch.bfloat16]
            for kind, every in masks.MASK_DTYPES.items()
        }
        return {kind: named.get(kind, [""]) for kind in self._axes.get("mask dtype", ())}

    def _of_each_parameter(self) -> Iterator[Row]:
        """Yield rows in which one parameter alone learns, and in which it alone does not.

        A weight is frozen with its bias, and learns beside inputs that do, too.
        """
        layer = self._cases[0].target
        if not isinstance(layer, Layer):
            return
        paths = [one.path for one in layer.parameters]
        for number in self._asking.draw.permutation(len(paths)).tolist()[:_FEW_PARAMETERS]:
            owner = paths[number].rpartition(".")[0]
            is_first = all(one.rpartition(".")[0] != owner for one in paths[:number])
            for preset in _OF_A_WEIGHT if is_first else _OF_A_BIAS:
                if self._is_possible(preset):
                    yield {_CASE: "0", **preset, _TURN: str(number)}

    def _of_each_input(self) -> Iterator[Row]:
        """Yield rows in which one input alone learns, with masks and without."""
        for case in self._of_each_form(_INPUT_ALONE):
            given = {*numbers.floating(self._cases[int(case)])} & {*self._wrt}
            for number in range(len(given)):
                yield {_CASE: case, **_INPUT_ALONE, _TURN: str(number)}
                if self._is_possible({**_INPUT_ALONE, "frozen": "yes", _CASE: case}):
                    yield {_CASE: case, **_INPUT_ALONE, "frozen": "yes", _TURN: str(number)}

    def _of_one_score(self) -> Iterator[Row]:
        """Yield rows of one large score in half precision, with a graph and without."""
        for number, case in enumerate(self._of_each_form(_ONE_LARGE_SCORE)):
            for mode in ("", "no_grad"):
                row = {_CASE: case, **_ONE_LARGE_SCORE, "mode": mode, _TURN: str(number)}
                yield {axis: value for axis, value in row.items() if value}

    def _of_each_form(self, preset: Row) -> list[str]:
        """Return a question of each form: by what is given, what is true, and a size of one."""
        forms: dict[object, str] = {}
        for name in self._axes[_CASE]:
            case = self._cases[int(name)]
            told = {i: one for i, one in enumerate(case.args) if isinstance(one, bool)}
            given = frozenset(i for i, one in enumerate(case.args) if one is not None)
            if self._is_possible({**preset, _CASE: name}):
                forms[1 in case.shapes.letters.values(), given, *told.items()] = name
        return [*forms.values()]

    def _is_possible(self, preset: Row) -> bool:
        """Return whether some question can be asked with all these values."""
        if not all(value in self._axes.get(axis, ("",)) for axis, value in preset.items()):
            return False
        unable = set.union(*(self._unable.get(one, set()) for one in preset.items()))
        return not {*self._axes[_CASE]} <= unable and preset.get(_CASE) not in unable

    def _are_apart(self, one: Value, other: Value) -> bool:
        for first, second in ((one, other), (other, one)):
            if first[0] == _CASE:
                if first[1] in self._unable.get(second, ()):
                    return True
            elif second[1] and not {second, second[0]}.isdisjoint(self._apart.get(first, ())):
                return True
        unable = self._unable.get(one, set()) | self._unable.get(other, set())
        return len(unable) == len(self._cases)

    def _equal(self, row: Row) -> str:
        """Return sizes that are made equal in a row, if its sizes are plain otherwise."""
        if {"size", "heads", "width", "object"} & row.keys() or _is_told_by_some(row):
            return ""
        case = int(row[_CASE])
        values = [one for one in row.items() if one[0] not in (_CASE, "equal")]
        square = self._cases[case].long if row.get("mask") == "nearly causal" else ()
        return self._ties.chosen(case, values, square)

    def ask(self, row: Row, following: Row | None = None) -> CheckFailure | None:
        """Return how the answer to a row is wrong; if it may be rounding, it must be every time.

        Args:
            row: What is asked.
            following: What is asked next, so that it can be prepared.
        """
        tries = (self._asked(row, turn, None if turn else following) for turn in range(1 + _AGAIN))
        if _is_told_by_some(row):
            if _has_items(self._cases[int(row[_CASE])]) and row.get("size") not in _LENGTHS_APART:
                return next(tries)
            return next((failure for failure in tries if failure is not None), None)
        failure = next(tries)
        if failure is not None and _may_be_rounding(row, failure):
            for again in tries:
                if again is None:
                    return None
            if self._is_rounded_away(row, failure):
                return None
        return failure

    def _is_rounded_away(self, row: Row, failure: CheckFailure) -> bool:
        """Return whether a small error is not the answer's fault.

        Norms enlarge rounding, which is smaller in float64. If all numbers are equal, they divide
        by so little that the small constant they add matters.
        """
        if failure.margin is None or failure.margin >= _BY_FAR:
            return False
        if self._has_norms and ("values", row.get("values", "")) in _DIVIDED_BY_LITTLE:
            return True
        if "dtype" in row:
            return False
        wide = dtype_name(torch.float64)
        if not self._can(self._cases[int(row[_CASE])], "dtype", wide):
            return False
        return self._asked({**row, "dtype": wide}, 0) is None

    def _prepare(self, row: Row) -> None:
        """Prepare a row, unless that needs the worker."""
        with suppress(Exception):
            self._ahead = row, self._prepared(row, 0, may_make=False)

    def _prepared(
        self, row: Row, turn: int, may_make: bool = True
    ) -> _Prepared | CheckFailure | None:
        """Return a row with the numbers of one turn; None if it cannot be asked.

        Args:
            row: What is asked.
            turn: Of how many with other numbers.
            may_make: Whether the worker may be asked to make a layer.

        Raises:
            _Unmade: It must make one, and may not.
        """
        asking, case = self._asking, self._cases[int(row[_CASE])]
        place = self._place(row, turn)
        asking.enter(f"{place} sizes")
        letters = self._letters(case, row)
        asking.enter(place)
        manner: dict[str, Any] = {axis: row[axis] for axis in _MANNERS if row.get(axis)}
        manner["number"] = int(row[_TURN])
        try:
            target = self._target(case, letters, row, may_make)
        except Unbound:  # in some sizes its parameters may look alike
            return None
        except CheckFailure as refusal:
            return refusal
        question = target.remembered(
            (place, asking.context.task.seed, case.args, case.names, self._wrt),
            lambda: self._made(case, target, row, letters, manner),
        )
        if question is None:
            return None
        if row.get("gradient"):
            if row["gradient"] == "expanded":
                manner["upstream"] = "expanded"
            if row.get("leaf") != "made":
                manner.pop("leaf", None)
        case = replace(case, target=target, args=tuple(question.args), shapes=question.shapes)
        return _Prepared(case, manner, question)

    def _place(self, row: Row, turn: int) -> str:
        told = " ".join(f"{axis}={value}" for axis, value in sorted(row.items()))
        return f"domain {self._cases[0].target.entry.name} {turn} {told}"

    def _asked(self, row: Row, turn: int, following: Row | None = None) -> CheckFailure | None:
        """Return how the answer to a row is wrong, with the numbers of one turn."""
        if self._ahead is not None and self._ahead[0] is row and not turn:
            prepared, self._ahead = self._ahead[1], None
        else:
            prepared = self._prepared(row, turn)
        if not isinstance(prepared, _Prepared):
            return prepared
        asking, case, question = self._asking, prepared.case, prepared.question
        manner, changes = {**prepared.manner}, "weights" in row or "mean" in row
        asking.enter(f"{self._place(row, turn)} asked")

        def ask(then: Callable[[], None] = nothing) -> CheckFailure | None:
            looked_at = bool(row.get("inputs"))
            with asking.allowing(case):
                return asking.ask(
                    case,
                    question.asked,
                    manner,
                    question.score,
                    question.args,
                    question.wanted,
                    looked_at,
                    then,
                )

        called = (case.target, row.get("mode"))
        if changes:
            if called not in self._called:
                ask()  # what it keeps then comes from the weights before
            self._redraw(case.target, row)
        self._called.add(called)
        if row.get("before") == "other form":
            del manner["before"]
            self._call_in_other_form(case, int(row[_TURN]))
        # the next row's numbers may depend on weights, which change here after the call
        if following is None or changes:
            failure = ask()
        else:
            failure = ask(functools.partial(self._prepare, following))
        if (row.get("weights") == "unbiased" or "mean" in row) and isinstance(case.target, Layer):
            case.target.redraw()
        return failure

    def _other_forms(self, case: Case) -> list[Case]:
        """Return the questions with other arguments given or left out."""
        given = [one is None for one in case.args]
        return [other for other in self._cases if [one is None for one in other.args] != given]

    def _call_in_other_form(self, case: Case, number: int) -> None:
        """Make a call of the same sizes with other arguments, and one like it that raises."""
        others = self._other_forms(case)
        other = others[number % len(others)]
        letters = {
            name: size for name, size in case.shapes.letters.items() if name in other.shapes.letters
        }
        args = other.shapes.at(letters, self._asking.draw, spread=case.shapes.leading, plain=True)
        for index in other.shapes.numbers:
            args[index] = args[index].to(case.dtype)
        cut = [one[..., :-1] if i in other.shapes.numbers else one for i, one in enumerate(args)]
        for given in (args, cut):
            with suppress(CheckFailure), self._asking.allowing(case):
                case.target.attempt(*given)

    def _redraw(self, layer: object, row: Row) -> None:
        """Give a layer other weights, or one of them."""
        assert isinstance(layer, Layer)
        if "mean" in row:
            layer.far_from_zero(_FAR_FROM_ZERO)
        elif row["weights"] == "anew":
            layer.redraw()
        elif row["weights"] == "unbiased":
            layer.without_biases()
        else:
            biases, role = divmod(int(row[_TURN]), len(layer.entry.roles))
            layer.redraw_one(role, bias=biases % 2 == 1)

    def shrunk(self, row: Row, failure: CheckFailure) -> tuple[Row, CheckFailure]:
        """Return the fewest values of a row with which the answer is wrong, and the failure.

        If the answer is right when the row is asked again, there are none. But if the row sets
        weights, it was not the same question, and all values are returned. A row that times out is
        not asked again: its size is to blame.
        """
        if isinstance(failure, TimedOut):
            return {"size": row["size"]} if "size" in row else {}, failure
        if self._again(row) is None:
            same = "weights" not in row and "mean" not in row
            return {} if same else {one: row[one] for one in _ABOUT if row.get(one)}, failure
        left = dict(row)
        for axis in _ABOUT:
            for plainer in _plainer(left, axis) if left.get(axis) else ():
                again = self._again(plainer)
                if again is not None:
                    left, failure = plainer, again
        return {axis: value for axis, value in left.items() if axis in _ABOUT}, failure

    def _again(self, row: Row) -> CheckFailure | None:
        """Return how the answer to a row is wrong, after it was wrong in a similar row.

        Chance decides how large scores get, or what is lost beside a large mean, so several numbers
        are tried.
        """
        failure = self.ask(row)
        is_half = row.get("dtype", "float64") != "float64"  # wrong every time, or not at all
        if failure is not None or {"scores", "mean"}.isdisjoint(row) or is_half:
            return failure
        others = (self._asked(row, turn) for turn in range(1, 1 + _AGAIN))
        return next((other for other in others if other is not None), None)

    def _made(
        self,
        case: Case,
        target: Target,
        row: Row,
        letters: Mapping[str, int],
        manner: Mapping[str, Any],
    ) -> _Question | None:
        """Return the question of a row, with numbers drawn anew; None if it cannot be asked."""
        draw, number, letters = self._asking.draw, int(row[_TURN]), {**letters}
        group = self._group(case, row)
        spread = [letters.pop(name, 0) for name in LEADING][: len(case.shapes.leading)]
        layer, dtype = target if isinstance(target, Layer) else None, self._dtype(case, row)
        if layer is not None or dtype is not case.dtype:
            case = in_dtype(case, dtype, layer)
        args = case.shapes.at(letters, draw, spread=spread, plain=True)  # the check's may be huge
        args = numbers.changed(case, args, row.get("values", ""), self._asking)
        if row.get("mask") == "alone":
            for index in masks.lengths_given(case):
                args[index] = torch.ones_like(args[index])
        blocked = row.get("mask", "")
        if blocked == "row":  # one open key elsewhere: a fill that is not low enough shows there
            blocked = "alone" if row.get("scores") else ""
        if blocked:
            args = masks.blocking(case, args, blocked, draw, number)
        for index in case.shapes.flags:
            if row.get("mask dtype"):
                args[index] = args[index].to(getattr(torch, row["mask dtype"]))
        if row.get("layout") == "expanded":
            # where all features are equal a gradient may be zero, but for rounding
            of_items = self._has_norms or row.get("gradient") or number % 2
            args = numbers.alike_along(case, args, 0 if of_items else -1)
        if any(args[index].shape != args[group[0]].shape for index in group):
            return None
        args = [args[group[0]] if index in group else value for index, value in enumerate(args)]
        case = replace(case, args=tuple(args), shapes=shapes_of(case.target, case.domain, args))
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
            if not through:  # alone, or with the first result
                through = ["weights", *case.target.entry.returns[:1]][: 1 + number % 2]
            wanted = numbers.wanted(case, args, self._asking, self._wrt, manner, through)
            if row["gradient"] == "expanded":
                wanted = numbers.constant(wanted)
        return _Question(args, case.shapes, asked, score, wanted)

    def _group(self, case: Case, row: Row) -> Sequence[int]:
        """Return the inputs that are one object in a row."""
        groups = numbers.alike(case) if row.get("object") else []
        return groups[int(row[_TURN]) % len(groups)] if groups else []

    def _dtype(self, case: Case, row: Row) -> torch.dtype:
        """Return the dtype of a row; float64 if rounding of unknown size might matter."""
        scores = row.get("scores")
        by_hand = "autograd" in self._asking.context.task.problem.forbid
        is_felt = scores and (scores != "large" or by_hand or not shows_scores(case))
        if is_felt and self._can(case, "dtype", "float64"):
            return torch.float64
        return getattr(torch, row["dtype"]) if row.get("dtype") else case.dtype

    def _target(self, case: Case, letters: Mapping[str, int], row: Row, may_make: bool) -> Target:
        """Return what is called; a layer made with other sizes serves all rows.

        But each row after inference mode gets a new layer, so that tensors which it makes in its
        first call and keeps are made in that mode.
        """
        if not isinstance(case.target, Layer):
            return case.target
        dtype = self._dtype(case, row)
        sizes = {name: letters.get(name, size) for name, size in case.target.sizes.items()}
        # every second row leaves the default; and in bfloat16 a random number may be exactly 0
        if row.get("training") and int(row[_TURN]) % 2 == 0 and dtype is not torch.bfloat16:
            sizes[_DROPOUT] = _NEXT_TO_NOTHING
        key = (dtype, *sizes.items())
        if key not in self._layers or row.get("before") == "inference":
            if not may_make:
                raise _Unmade
            self._layers[key] = case.target.like(dtype=dtype, **sizes)
        return self._layers[key]

    def _letters(self, case: Case, row: Row) -> dict[str, int]:
        """Return the sizes of a row, those of leading axes without letters as `LEADING`."""
        letters = self._lengths_of(case, row)
        if row.get("mask") == "nearly causal":
            letters |= case.square(
                max(letters.get(one, case.shapes.letters[one]) for one in case.long)
            )
        if row.get("equal"):
            letters |= made_equal(case, ties_of(row["equal"]))
        is_small = row.get("size", "") in ("", "one", "next")
        if _is_told_by_some(row) and is_small and _has_items(case):
            items = _items_of(case)
            letters[items] = (1 + _AGAIN) * letters.get(items, sizes_of(case)[items])
        return letters | numbers.made_alike(case, self._group(case, row), letters)

    def _lengths_of(self, case: Case, row: Row) -> dict[str, int]:
        draw, size, heads = self._asking.draw, row.get("size", ""), row.get("heads", "")
        others = "" if size in ("", "one", "next") or row.get("width") else "least"
        letters = head_sizes(case, heads or others, self._wide)
        if size in ("one", "next"):
            letters |= {
                one: 1 if size == "one" else case.shapes.letters[one] + 1 for one in case.long
            }
            return case.fitting(letters)
        if row.get("width"):
            broad = _broad(case)
            letters[broad[int(row[_TURN]) % len(broad)]] = draw.integer(*_BROAD)
        ranges = {**_LENGTHS, **_LENGTHS_APART}.get(size, (None, None))
        for group, within in ((case.lengths[:-1], ranges[0]), (case.lengths[-1:], ranges[1])):
            for equal in group if within else ():
                assert within is not None
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
            fewest = _FEWEST if size in _ITEMS else 1
            items = min(draw.integer(*wanted), max(fewest, _MOST_SCORES // scores))
            if _has_items(case):
                letters[_items_of(case)] = items
            letters = {**narrow(case), **letters}
        return letters


def _is_told_by_some(row: Row) -> bool:
    """Return whether only some of a row's numbers show that an answer is wrong.

    Some scores are lower than a number used for −∞, others are not. So there are more items, or the
    row is asked more than once; and as no scores nearly tie, one wrong result is enough.
    """
    return row.get("mask") == "alone" and bool(row.get("scores"))


def _may_be_rounding(row: Row, failure: CheckFailure) -> bool:
    """Return whether the answer may be right with other numbers."""
    if row.get("dtype") == "bfloat16" or row.get("training"):
        return True
    return failure.margin is not None and ("gradient" in row or failure.margin < _BY_FAR)


def _plainer(row: Row, axis: str) -> Iterator[Row]:
    """Yield a row with a plainer value of an axis, and with the plain one."""
    if axis == "equal" and len(ties := ties_of(row[axis])) > 1:
        yield from ({**row, axis: str(one)} for one in ties)
    plainer = _PLAINER.get((axis, row[axis]))
    if plainer is not None:
        yield {**row, axis: plainer}
    yield {one: value for one, value in row.items() if one != axis}


def _broad(case: Case) -> list[str]:
    """Return the widths that a layer is made with and that have nothing to do with heads."""
    if not isinstance(case.target, Layer):
        return []
    fixed = {*case.long, *case.domain.divides, *case.domain.divides.values()}
    return [
        name
        for name, size in case.target.sizes.items()
        if name not in fixed and type(size) is int and size > 1
    ]


def _has_items(case: Case) -> bool:
    return "B" in case.shapes.letters or bool(case.shapes.leading)


def _items_of(case: Case) -> str:
    """Return the name of the size that counts items."""
    return LEADING[0] if case.shapes.leading else "B"


def _words_of(axis: str, value: str) -> str:
    if axis == "equal":
        return "where " + " and ".join(f"{one} = {other}" for one, other in ties_of(value))
    return {"dtype": f"in {value}", "mask dtype": f"where a mask is {value}"}[axis]
