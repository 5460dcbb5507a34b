"""When something is due again: FSRS, with a card for each problem and for each misconception.

A card is rated from facts, not from how one feels. Nothing comes back on the day on which it was
rated: there are no steps within a day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fsrs import Card, Rating, Scheduler

from mha_judge.practice.progress import Progress, StoredCard

_SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
RATINGS = {"again": Rating.Again, "hard": Rating.Hard, "good": Rating.Good, "easy": Rating.Easy}
"""By the word that a learner says."""
_PROBLEM, _MISTAKE = "problem:", "mistake:"


@dataclass(frozen=True)
class Facts:
    """What is known of a round that has ended with an accepted answer."""

    tries: int
    seconds: float
    minutes: int
    """That the problem is meant to take."""
    rungs: int
    """How many rungs of hints were told."""
    changed_told: bool
    """Whether a last rung was among them: what to change."""


def rating_of(facts: Facts) -> Rating:
    """Return how well a problem was known.

    Easy is the first try in half the minutes without a hint; hard is one hint, or more than three
    tries; whoever had to be told what to change did not know it.
    """
    if facts.changed_told:
        return Rating.Again
    if facts.rungs or facts.tries > 3:
        return Rating.Hard
    quick = facts.seconds <= facts.minutes * 60 / 2
    return Rating.Easy if facts.tries == 1 and quick else Rating.Good


def of_problem(problem: str) -> str:
    """Return the name of a problem's card."""
    return _PROBLEM + problem


def of_mistake(misconception: str) -> str:
    """Return the name of a misconception's card."""
    return _MISTAKE + misconception


def problem_of(card: str) -> str | None:
    """Return the problem of a card; None if it is a misconception's."""
    return card.removeprefix(_PROBLEM) if card.startswith(_PROBLEM) else None


def misconception_of(card: str) -> str | None:
    """Return the misconception of a card; None if it is a problem's."""
    return card.removeprefix(_MISTAKE) if card.startswith(_MISTAKE) else None


def rate(progress: Progress, name: str, rating: Rating, now: datetime) -> datetime:
    """Rate a card, which is made if there is none; return when it is due."""
    stored = progress.card(name)
    return _rate(progress, name, stored.state if stored else "", rating, now)


def overrule(progress: Progress, name: str, rating: Rating) -> datetime | None:
    """Put another rating in the place of a card's last one; return when it is due.

    None if there is no such card.
    """
    stored = progress.card(name)
    if stored is None:
        return None
    return _rate(progress, name, stored.before, rating, stored.rated)


def due(progress: Progress, now: datetime) -> list[StoredCard]:
    """Return the cards that are due, longest due first.

    What was rated today is not, nor is anything while the clock stands before the last rating.
    """
    today = now.astimezone().date()
    return [
        card
        for card in progress.cards().values()
        if card.due.astimezone().date() <= today and card.rated.astimezone().date() < today
    ]


def weak(progress: Progress) -> Iterator[tuple[str, float]]:
    """Yield the misconceptions that are least well known, with their difficulty from 1 to 10."""
    rated = [
        (misconception, Card.from_json(card.state).difficulty or 0.0)
        for card in progress.cards().values()
        if (misconception := misconception_of(card.name)) is not None
    ]
    yield from sorted(rated, key=lambda pair: -pair[1])


def _rate(progress: Progress, name: str, before: str, rating: Rating, now: datetime) -> datetime:
    card = Card.from_json(before) if before else Card(card_id=0)
    # The clock may have been set back since the last review.
    when = max(now, card.last_review) if card.last_review else now
    rated, _ = _SCHEDULER.review_card(card, rating, when)
    progress.put_card(StoredCard(name, rated.to_json(), rated.due, before, rating.value, when))
    return rated.due
