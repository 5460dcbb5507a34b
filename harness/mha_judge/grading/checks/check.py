"""`@check`: a pytest test with a title, a category and points."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mha_judge.outcomes import Category

_ATTRIBUTE = "__mha_check__"
F = TypeVar("F", bound=Callable[..., None])


@dataclass(frozen=True)
class CheckSpec:
    """What a grader declares of one check."""

    title: str
    category: Category
    points: int
    after: tuple[str, ...]
    advisory: bool
    question: str = ""


def check(
    title: str,
    *,
    category: str,
    points: int = 1,
    after: str | tuple[str, ...] = (),
    advisory: bool = False,
    question: str = "",
) -> Callable[[F], F]:
    """Declare a test function as a check.

    Args:
        title: The claim, as a sentence that a candidate may read.
        category: One of `Category`.
        points: 1 to 5, before the problem's points are scaled to 100; 0 for an advisory check.
        after: Functions (without `test_`) of this grader that must have passed before.
        advisory: Shown, but neither worth points nor a reason to reject.
        question: Id in `questions.toml`, whose explanation the report tells afterwards.

    Raises:
        ValueError: If the category is unknown or the points are out of range.
    """
    if not (points == 0 if advisory else 1 <= points <= 5):
        raise ValueError(f"{title!r}: points must be 1 to 5, or 0 for an advisory check")
    needed = (after,) if isinstance(after, str) else tuple(after)
    spec = CheckSpec(title, Category(category), points, needed, advisory, question)

    def mark(function: F) -> F:
        setattr(function, _ATTRIBUTE, spec)
        return function

    return mark


def restated(function: F, title: str = "", **changes: Any) -> F:
    """Return a check that several graders share, in the words of one of them.

    Args:
        function: The check.
        title: Another title; its own by default.
        changes: What else differs, as in `check`: points, or after.

    Raises:
        ValueError: If the function is no check.
    """
    spec = spec_of(function)
    if spec is None:
        raise ValueError(f"{function.__name__} is no check")
    options = {
        "category": spec.category.value,
        "points": spec.points,
        "after": spec.after,
        "advisory": spec.advisory,
        "question": spec.question,
        **changes,
    }

    @functools.wraps(function)
    def same(*args: Any, **fixtures: Any) -> None:
        function(*args, **fixtures)

    return check(title or spec.title, **options)(same)  # type: ignore[return-value]


def spec_of(function: Any) -> CheckSpec | None:
    return getattr(function, _ATTRIBUTE, None)
