"""Sizes that are equal by chance, for which an answer may take one axis for another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners.widths import LEADING, free_letters, sizes_of
from mha_judge.grading.covering import Value, ranks

_MOST = 4
"""The weight of a tie between items and positions, or between positions."""


class Tie(NamedTuple):
    """Two sizes of a call; the first is set to the second."""

    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.one}={self.other}"


class Ties:
    """Chooses which sizes are equal in each row: with every question, and with all else in turn."""

    def __init__(self, cases: Sequence[Case], hiding: Sequence[Collection[Value]]) -> None:
        """Take the questions of an entry.

        Args:
            cases: The questions.
            hiding: Values that hide others, as in a covering array.
        """
        self._cases = cases
        self._ranks = ranks(hiding)
        self._possible = {case: [*_ties(case)] for case in cases}
        self._seen: set[object] = set()

    def are_possible(self, case: Case) -> bool:
        """Return whether a question can have equal sizes that the contract does not make equal."""
        return bool(self._possible[case])

    def chosen(self, case: int, values: Collection[Value], but: Collection[str] = ()) -> str:
        """Return ties for a row, those that it is best asked with; empty if it can have none.

        Args:
            case: The number of the row's question.
            values: The row's values that are not plain.
            but: Sizes that stay.
        """
        of_case = self._cases[case]
        left = [one for one in self._possible[of_case] if _together(of_case, one).isdisjoint(but)]
        taken: list[Tie] = []

        def adds(tie: Tie) -> tuple[bool, int, int]:
            questions, others = (one - self._seen for one in self._covered(tie, case, values))
            return bool(questions), _weight(of_case, tie), len(questions | others)

        while left:
            best = max(left, key=adds)  # the first of equal ones
            taken.append(best)
            self._seen.update(*self._covered(best, case, values))
            used = _together(of_case, best)
            left = [
                one
                for one in left
                if used.isdisjoint(_together(of_case, one)) and made_equal(of_case, [*taken, one])
            ]
        return " ".join(map(str, taken))

    def _covered(
        self, tie: Tie, case: int, values: Collection[Value]
    ) -> tuple[set[object], set[object]]:
        """Return what a row covers with a tie: the question, and the values.

        A tie of items and positions is covered in each gradient mode by itself.
        """
        same, top = frozenset(tie), max((self._ranks.get(one, 0) for one in values), default=0)
        if top:
            return set(), {(same, one) for one in values if self._ranks.get(one) == top}
        in_mode: set[object] = {(same, case, dict(values).get("mode"))}
        by_mode = in_mode if _weight(self._cases[case], tie) == _MOST else set()
        return {(same, case)} | by_mode, {(same, one) for one in values} | in_mode


def ties_of(told: str) -> list[Tie]:
    """Return the ties that `Ties.chosen` told."""
    return [Tie(*one.split("=")) for one in told.split()]


def made_equal(case: Case, ties: Sequence[Tie]) -> dict[str, int]:
    """Return the sizes that ties set; empty if the contract does not allow them together."""
    sizes = sizes_of(case)
    wanted = {letter: sizes[tie.other] for tie in ties for letter in _group(case, tie.one)}
    return wanted if case.fitting(wanted) == wanted else {}


def _ties(case: Case) -> Iterator[Tie]:
    sizes = case.shapes.letters
    free = [group[0] for group in case.lengths if sizes[group[0]] > 1]  # a single step stays one
    free += free_letters(case)
    known = sizes_of(case)
    for one in free:
        for other in [*sizes, *LEADING[: len(case.shapes.leading)]]:
            least = known[one] if other in free else 1  # else the smaller one may be made larger
            tells = known[other] > least and known[other] != known[one]
            if tells and made_equal(case, [Tie(one, other)]):
                yield Tie(one, other)


def _group(case: Case, letter: str) -> list[str]:
    """Return the letters that are set along with one."""
    return next((group for group in case.lengths if letter in group), [letter])


def _weight(case: Case, tie: Tie) -> int:
    """Return how likely one size is taken for another: positions and items first, widths last."""
    heads = {*case.domain.divides.values(), "H", LEADING[1]}
    most = {*case.long, "B", LEADING[0]}
    return sum(2 if one in most else int(one in heads) for one in tie)


def _together(case: Case, tie: Tie) -> set[str]:
    return {*_group(case, tie.one), *_group(case, tie.other)}
