"""Claims that hold for every problem: an answer is right however and wherever it is asked.

Once all checks have passed, their questions are asked in the corners of the domain, and a wrong
result there fails the claim about its cause. Checks whose calls depend on others are run again,
with their calls in manners of every kind. If one fails then, the manners are taken away one after
another until only the cause is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mha_judge.bank.problem import Domain, Entry, Problem
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.covering import Value
from mha_judge.grading.failures import CheckFailure
from mha_judge.outcomes import Category

NOT_ALWAYS_THE_SAME = "when it is asked again: it does not always give the same"
"""What is wrong, in words, of an answer that is right when it is asked the same again."""
_OF_STATE = frozenset({"before", "after", "instance", "weights"})
"""Axes about what calls leave behind."""


@dataclass(frozen=True)
class Wrong:
    """A condition under which an answer is wrong that is right otherwise."""

    axes: frozenset[str]
    where: str
    """The condition in words, to follow "wrong"; empty if the failure says it."""
    failure: CheckFailure


@dataclass(frozen=True)
class Claim:
    """A claim about some axes."""

    id: str
    title: str
    category: Category
    points: int
    axes: frozenset[str]
    of_domain: Callable[[Domain], object] | None = None
    """Whether the claim is about entries with this domain; None for a claim about manners."""

    def holds_for(self, problem: Problem) -> bool:
        """Return whether the problem has an entry that the claim is about."""
        return any(self._is_about(entry) for entry in problem.entry)

    def failure(self, found: Iterable[Wrong]) -> CheckFailure | None:
        """Return the first failure that was found of the claim, or None."""
        for one in found:
            if not self.axes.isdisjoint(one.axes):
                how = f"right otherwise, but wrong {one.where}: " if one.where else ""
                failure = one.failure
                told = CheckFailure(
                    how + failure.message, failure.detail, failure.margin, failure.sample
                )
                told.step = failure.step
                return told
        return None

    def _is_about(self, entry: Entry) -> bool:
        if self.of_domain:
            return entry.domain is not None and bool(self.of_domain(entry.domain))
        if entry.kind == "answers" or entry.arrays == "none":
            return False
        if entry.kind == "object":  # its results depend on the calls before
            return "before" not in self.axes
        if entry.arrays == "either":  # numbers go in
            return "layout" not in self.axes
        return entry.arrays != "numpy" or "mode" not in self.axes


CLAIMS = (
    Claim(
        "any-gradient-mode",
        "The same whether gradients are recorded or not, and whichever tensors require them",
        Category.GRADIENTS,
        2,
        frozenset({"mode", "leaf", "frozen", "training"}),
    ),
    Claim(
        "any-memory-layout",
        "The same wherever its inputs lie in memory, and where two of them are one object",
        Category.ROBUSTNESS,
        1,
        frozenset({"layout", "object"}),
    ),
    Claim(
        "any-history",
        "The same whatever is called before and after, with inputs left as they are",
        Category.ROBUSTNESS,
        2,
        frozenset({"before", "after", "instance", "weights", "inputs"}),
    ),
    Claim(
        "scores-of-any-size",
        "The same rule for scores and values of any size, masked or not",
        Category.NUMERICS,
        2,
        frozenset({"scores", "values", "mean", "map"}),
        lambda domain: True,
    ),
    Claim(
        "masks-of-any-dtype",
        "A mask means the same in every dtype, and whichever keys it blocks",
        Category.MASKING,
        2,
        frozenset({"mask dtype", "mask"}),
        lambda domain: domain.flags or domain.masks,
    ),
    Claim(
        "any-length",
        "The same rule for long inputs, many items, many heads and equal sizes",
        Category.VALUES,
        2,
        frozenset({"length", "size", "width", "own width", "heads", "dtype", "equal"}),
        lambda domain: domain.long or domain.scores,
    ),
    Claim(
        "gradients-of-any-shape",
        "Right gradients for inputs of every shape",
        Category.GRADIENTS,
        1,
        frozenset({"gradient"}),
        lambda domain: domain.gradients,
    ),
    Claim(
        "sizes-that-belong-together",
        "Refuses sizes that do not belong together, also where they multiply out",
        Category.ROBUSTNESS,
        2,
        frozenset({"sizes"}),
        lambda domain: domain.fits or domain.divides,
    ),
)


def about_state(found: Iterable[Wrong]) -> list[Wrong]:
    """Return what shows that calls leave a state: all that is asked later may be wrong for it."""
    return [one for one in found if one.axes & _OF_STATE]


def with_a_claim(found: Iterable[Wrong], held: Sequence[Claim]) -> list[Wrong]:
    """Return what was found, each about some claim of the problem: nothing wrong is passed over.

    Args:
        found: What is wrong.
        held: The problem's claims; the first takes what none of them is about.
    """
    known = frozenset[str]().union(*(claim.axes for claim in held))
    return [one if one.axes & known else replace(one, axes=held[0].axes) for one in found]


class Causes:
    """Finds the manner of call in which an answer is wrong that is right otherwise."""

    def __init__(self, context: Context) -> None:
        self._context = context
        context.manners.restart()
        self._excused: set[Value] = set()
        self.found: list[Wrong] = []

    def look(self, check: Callable[[], CheckFailure | None]) -> bool:
        """Run a check that passes with plain calls once more, with calls in every manner.

        Returns:
            Whether it makes calls of a kind that has not been made with every value yet.
        """
        manners = self._context.manners
        manners.enter()
        with self._context.trace.paused():
            failure = self._fails(
                check, [one for one in manners.values if one not in self._excused]
            )
            is_short = manners.is_short
            if failure is not None:
                values, failure = self._shrunk(check, sorted(manners.made), failure)
                axes = frozenset({values[0][0] if values else "before"})
                self.found.append(Wrong(axes, _words(values), failure))
                self._excused |= {*values}
        manners.end()
        return is_short

    def _fails(
        self, check: Callable[[], CheckFailure | None], allowed: Sequence[Value]
    ) -> CheckFailure | None:
        self._context.manners.again(allowed)
        return check()

    def _shrunk(
        self, check: Callable[[], CheckFailure | None], made: list[Value], failure: CheckFailure
    ) -> tuple[list[Value], CheckFailure]:
        """Return the fewest values with which a check still fails, maybe none, and the failure."""
        again = self._fails(check, made)
        if again is None:
            return [], failure  # not the same every time
        left, found = made, again
        for dropped in _parts(made):
            fewer = [one for one in left if one not in dropped]
            if len(fewer) == len(left) or not fewer:
                continue
            again = self._fails(check, fewer)
            if again is not None:
                left, found = fewer, again
        return left, found


def _parts(made: Sequence[Value]) -> Iterator[list[Value]]:
    """Yield the values to take away together: whole axes first, then single values."""
    for axis in AXES:
        yield [one for one in made if one[0] == axis]
    for one in made:
        yield [one]


def _words(values: Sequence[Value]) -> str:
    if not values:
        return NOT_ALWAYS_THE_SAME
    return " and ".join(AXES[axis][value] for axis, value in values)
