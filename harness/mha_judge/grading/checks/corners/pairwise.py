"""The questions of an entry on all pairs of axes: each row of a covering array is one question.

A row says in which dtype, at which sizes, with which mask and numbers a question is asked, in which
gradient mode, in which memory layout, after which calls, and whether gradients are asked for. A
right answer is asked each row once. If a row is answered wrong, its values are made plain one after
another, until only the cause is left; further rows with this cause tell nothing new and are left
out.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import torch

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.session import NeverAsked
from mha_judge.grading.checks.cases import Case, other_forms
from mha_judge.grading.checks.claims import NOT_ALWAYS_THE_SAME
from mha_judge.grading.checks.corners import masks
from mha_judge.grading.checks.corners.asking import Asking, Finding, Verdict
from mha_judge.grading.checks.corners.axes import (
    ABOUT,
    CASE,
    DIVIDED_BY_LITTLE,
    LENGTHS_APART,
    OWN,
    TURN,
    in_words,
    is_told_by_some,
    plainer,
    sets_them_for_itself,
    sets_weights,
)
from mha_judge.grading.checks.corners.questions import AGAIN, Prepared, Questions
from mha_judge.grading.checks.corners.rows import Rows
from mha_judge.grading.checks.corners.widths import OTHER_LENGTHS, items_of, with_lengths
from mha_judge.grading.covering import Row
from mha_judge.grading.failures import CheckFailure, OutOfTime, TimedOut, WritesToInput

_FACTORS = {"zero": 0.0, "large": 100.0}
"""By which one map is multiplied; exp(−x) of what is then computed is no overflow in float64."""
_LOW, _LOWEST = 300.0, 20_000.0
"""How far below zero scores lie; exp of that is 0 in float32. In float64, which does not round so
much away, they lie below what answers may take for the lowest."""
_FAR_FROM_ZERO = 4_000.0
"""Where E[x²] − mean² is off by more than rounding can be."""
_LONGEST, _SHORT = 200, 16
"""A question with a size above the first is not varied here; lengths above the second are made
shorter, as some rows are long anyway."""
_BY_FAR, _BY_FAR_OF_NORMS = 10.0, 100.0
"""An answer whose error is this many times the allowed one is not asked again; the second where
norms divide by so little that the small constant they add matters. Gradients have no bound there,
so only one that is no number is wrong."""
_MOST_CAUSES = 4
_UNREAD = 2
"""Rows whose answers are judged later: one may take the worker longer than the next the judge."""
_MODES_BEFORE = {"inference": "inference_mode", "no_grad": "no_grad"}
"""By the call before a question, its gradient mode: that call may be the one which hangs."""
_OF_INFERENCE_MODE = "nference tensor"
"""What torch says of a tensor that was made in inference mode and kept, whatever meets it later."""


def pairwise(
    asking: Asking,
    cases: Sequence[Case],
    wrt: Mapping[str, Sequence[int]],
    until_failure: bool = False,
) -> list[Finding]:
    """Ask the questions of one entry on all pairs of axes, and return what is wrong.

    Of causes that have an axis in common, only the one with the fewest values is reported; that
    widths are larger says less than any other cause.

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
    own = wrt.get(plain[0].target.entry.name, ())
    most = 1 if until_failure else _MOST_CAUSES
    asked = _Pairwise(asking, short, Questions(asking, short, own), most)
    for row in [*Rows(asking, short, own).drawn()]:  # all, before a question draws numbers
        if not asked.is_told_already(row):
            asked.take(row)
        if len(asked.found) >= most:
            break
    asked.conclude()
    told: list[tuple[Row, CheckFailure]] = []
    for cause, failure in sorted(asked.found, key=lambda one: (len(one[0]), OWN in one[0])):
        if all(cause.keys().isdisjoint(other) for other, _ in told):
            told.append((cause, failure))
    return [_told(cause, failure) for cause, failure in told]


def _told(cause: Row, failure: CheckFailure) -> Finding:
    """Return what is wrong, in words."""
    where = in_words(cause)
    if isinstance(failure, OutOfTime):
        return Finding("", failure, "length")
    if not where:
        return Finding(NOT_ALWAYS_THE_SAME, failure, "before")
    return Finding(where, failure, next(axis for axis in ABOUT if cause.get(axis)))


def _shortened(asking: Asking, case: Case) -> Case:
    """Return a question with short lengths; one that was longer than another still is."""
    groups = sorted(case.lengths, key=lambda group: -case.shapes.letters[group[0]])
    letters: dict[str, int] = {}
    for number, group in enumerate(groups):
        if case.shapes.letters[group[0]] > _SHORT:
            letters |= dict.fromkeys(group, _SHORT - 1 - 2 * number)
    if not letters:
        return case
    return case.asked_with(case.shapes.at(case.fitting(letters), asking.draw))


class _Pairwise:
    """Asks the rows of one entry, and finds out why one is answered wrong."""

    def __init__(
        self, asking: Asking, cases: Sequence[Case], questions: Questions, most: int
    ) -> None:
        self._asking = asking
        self._cases = cases
        self._questions = questions
        self._most = most
        self.found: list[tuple[Row, CheckFailure]] = []
        """What is wrong, by its cause."""
        self._called: set[object] = set()
        """Layers, and the gradient modes in which they were called."""
        self._unread: deque[tuple[Row, Verdict]] = deque()
        """The rows that were asked last, to be judged while the worker computes the next."""

    def is_told_already(self, row: Row) -> bool:
        """Return whether a row would tell nothing new, or time out as another has."""
        values = {*row.items(), ("mode", _MODES_BEFORE.get(row.get("before", ""), ""))}
        if any(cause.items() <= values for cause, _ in self.found):
            return True
        return "size" in row and any(isinstance(failure, TimedOut) for _, failure in self.found)

    def take(self, row: Row) -> None:
        """Ask a row, and judge the answer to an earlier one."""
        self._unread.append((row, self._begin(row, 0)))
        if len(self._unread) > _UNREAD:
            self._conclude(*self._unread.popleft())

    def conclude(self) -> None:
        """Judge the answers to the last rows."""
        while self._unread:
            self._conclude(*self._unread.popleft())

    def _conclude(self, row: Row, verdict: Verdict) -> None:
        if len(self.found) >= self._most or self.is_told_already(row):
            return
        try:
            failure = verdict()
        except NeverAsked:
            failure = self._asked(row, 0)
        failure = self._settled(row, failure)
        if failure is not None:
            self.found.append(self.shrunk(row, failure))

    def _settled(self, row: Row, failure: CheckFailure | None) -> CheckFailure | None:
        """Return how the answer to a row is wrong; if it may be rounding, it must be every time.

        Args:
            row: What was asked.
            failure: How it was wrong the first time.
        """
        if is_told_by_some(row):
            has_items = items_of(self._cases[int(row[CASE])]) is not None
            if failure is not None or (has_items and row.get("size") not in LENGTHS_APART):
                return failure
            return next(filter(None, self._with_other_numbers(row)), None)
        if failure is None or not _may_be_rounding(row, failure, self._by_far(row)):
            return failure
        is_right = None in self._with_other_numbers(row) or self._is_rounded_away(row, failure)
        return None if is_right else failure

    def _is_rounded_away(self, row: Row, failure: CheckFailure) -> bool:
        """Return whether a small error is not the answer's fault.

        Norms enlarge rounding, which is smaller in float64.
        """
        if failure.margin is None or failure.margin >= self._by_far(row):
            return False
        case = self._cases[int(row[CASE])]
        if self._divides_by_little(row):
            return True
        if "dtype" in row or not self._asking.is_also_in(torch.float64, case):
            return False
        return self._asked({**row, "dtype": "float64"}, 0) is None

    def _by_far(self, row: Row) -> float:
        if not self._divides_by_little(row):
            return _BY_FAR
        return math.inf if row.get("gradient") else _BY_FAR_OF_NORMS

    def _divides_by_little(self, row: Row) -> bool:
        """Return whether norms may divide by so little that the constant they add matters."""
        divided = ("values", row.get("values", "")) in DIVIDED_BY_LITTLE
        return divided and self._cases[int(row[CASE])].has_norms

    def _asked(self, row: Row, turn: int) -> CheckFailure | None:
        """Return how the answer to a row is wrong, with the numbers of one turn."""
        self._asking.context.session.settle()
        return self._begin(row, turn)()

    def _with_other_numbers(self, row: Row) -> Iterator[CheckFailure | None]:
        """Yield how the answers to a row that is asked again are wrong; None for a right one."""
        return (self._asked(row, turn) for turn in range(1, 1 + AGAIN))

    def _begin(self, row: Row, turn: int) -> Verdict:
        """Begin to ask a row with the numbers of one turn, and return what judges the answer."""
        prepared = self._questions.prepared(row, turn)
        if not isinstance(prepared, Prepared):
            return lambda: prepared
        asking, case, question = self._asking, prepared.case, prepared.question
        manner = {**prepared.manner}
        asking.enter(f"{self._questions.place(row, turn)} asked")

        def begin() -> Verdict:
            return asking.begin(
                case, question.asked, manner, question.score, question.args, question.wanted
            )

        how = case.target, row.get("mode")
        if sets_weights(row):
            if how not in self._called:
                begin()  # what it keeps then comes from the weights before
                asking.context.session.settle()
            self._redraw(case.target, row)
        self._called.add(how)
        if row.get("before") == "other form":
            del manner["before"]
            self._call_in_other_form(case, int(row[TURN]))
        elif row.get("before") == "other lengths":
            del manner["before"]
            self._call_at_other_lengths(case)
        verdict = begin()
        if sets_them_for_itself(row) and isinstance(case.target, Layer):
            case.target.redraw()
        return verdict

    def _call_in_other_form(self, case: Case, number: int) -> None:
        """Make a call of the same sizes with other arguments, and one like it that raises."""
        others = other_forms(case, self._cases)
        other = others[number % len(others)]
        letters = {
            name: size for name, size in case.shapes.letters.items() if name in other.shapes.letters
        }
        spread = case.shapes.leading
        if number // len(others) % 2 and items_of(other) is not None:  # what it keeps is of one
            spread = [1, *spread[1:]]
            letters |= {"B": 1} if "B" in letters else {}
        args = other.shapes.at(letters, self._asking.draw, spread=spread, plain=True)
        for index in other.shapes.numbers:
            args[index] = args[index].to(case.dtype)
        args = masks.blocking(other, args, "left", self._asking.draw)  # a mask kept then shows
        cut = [  # a size of 0 would make an answer warn of what no caller does
            one[..., :-1] if i in other.shapes.numbers and one.shape[-1] > 1 else one
            for i, one in enumerate(args)
        ]
        for given in (args, cut):
            with suppress(CheckFailure), self._asking.allowing(case):
                case.target.attempt(*given)

    def _call_at_other_lengths(self, case: Case) -> None:
        letters = with_lengths(case, OTHER_LENGTHS)
        args = case.shapes.at(letters, self._asking.draw, spread=case.shapes.leading)
        with suppress(CheckFailure), self._asking.allowing(case):
            case.target.attempt(*args)

    def _redraw(self, layer: object, row: Row) -> None:
        """Give a layer other weights, or one of them."""
        assert isinstance(layer, Layer)
        if "mean" in row:
            layer.far_from_zero(_FAR_FROM_ZERO)
        elif row.get("map") == "low scores":
            layer.with_low_scores(_LOWEST if row.get("dtype") == "float64" else _LOW)
        elif "map" in row:
            layer.with_one_times(_FACTORS[row["map"]], int(row[TURN]))
        elif row["weights"] == "anew":
            layer.redraw()
        elif row["weights"] == "rolled":
            layer.rolled()
        elif row["weights"] == "unbiased":
            layer.without_biases()
        elif row["weights"] == "identity":
            layer.with_identities()
        else:
            biases, role = divmod(int(row[TURN]), len(layer.entry.roles))
            layer.redraw_one(role, bias=biases % 2 == 1, elsewhere=row["weights"] != "one anew")

    def shrunk(self, row: Row, failure: CheckFailure) -> tuple[Row, CheckFailure]:
        """Return the fewest values of a row with which the answer is wrong, and the failure.

        If the answer is right when the row is asked again, there are none. But if the row sets
        weights, it was not the same question, and all values are returned. A row that times out is
        not asked again, nor is one whose exception names the cause.
        """
        if isinstance(failure, TimedOut):
            return self._hanging(row, failure), failure
        if _OF_INFERENCE_MODE in f"{failure.message} {failure.detail}":
            return {"before": "inference"}, failure
        if self._again(row) is None:
            return self._cause(row if sets_weights(row) else {}, failure), failure
        left = dict(row)
        for axis in ABOUT:
            for less in plainer(left, axis) if left.get(axis) else ():
                again = self._again(less)
                if again is not None:
                    left, failure = less, again
        if left.get("before") == "inference":  # its width is its own so that it is called anew
            left.pop(OWN, None)
        return self._cause(left, failure), failure

    def _hanging(self, row: Row, failure: CheckFailure) -> Row:
        """Return what of a row takes too long: one value that does so alone, or else its size.

        That takes all the time that a call has, so no other is tried then.
        """
        if isinstance(failure, OutOfTime):
            return {}
        mode = _MODES_BEFORE.get(row.get("before", ""))
        values = [("mode", mode)] if mode else []
        values += [(axis, row[axis]) for axis in ABOUT if row.get(axis) and axis != "size"]
        for axis, value in values:
            alone = {CASE: row[CASE], TURN: row[TURN], axis: value}
            if isinstance(self._asked(alone, 0), TimedOut):
                return {axis: value}
        return {"size": row["size"]} if "size" in row else self._cause(row, failure)

    def _cause(self, row: Row, failure: CheckFailure) -> Row:
        """Return what of a row is a cause; that inputs are written to is told once."""
        cause = {axis: value for axis, value in row.items() if value and axis in ABOUT}
        if isinstance(failure, WritesToInput):
            self._asking.left_alone.discard(self._cases[0].target.entry.name)
            cause["inputs"] = "looked at"
        return cause

    def _again(self, row: Row) -> CheckFailure | None:
        """Return how the answer to a row is wrong, after it was wrong in a similar row.

        Chance decides how large scores get, or what is lost beside a large mean, so several numbers
        are tried.
        """
        failure = self._settled(row, self._asked(row, 0))
        is_half = row.get("dtype") in ("bfloat16", "float16")  # wrong every time, or not at all
        if failure is not None or {"scores", "mean"}.isdisjoint(row) or is_half:
            return failure
        return next(filter(None, self._with_other_numbers(row)), None)


def _may_be_rounding(row: Row, failure: CheckFailure, by_far: float) -> bool:
    """Return whether the answer may be right with other numbers."""
    if row.get("dtype") == "bfloat16" or row.get("training"):
        return True
    never_by_far = "gradient" in row or row.get("dtype") == "float16"
    return failure.margin is not None and (never_by_far or failure.margin < by_far)
