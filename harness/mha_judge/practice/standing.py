"""How a learner stands with each problem. `list` reads it, so this imports little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from mha_judge.practice.progress import End, Progress, Round


@dataclass(frozen=True)
class Standing:
    """How a learner stands with a problem."""

    tries: int = 0
    best: float = 0.0
    """Points, less what hints cost."""
    solved: datetime | None = None
    """When it was first solved."""
    last_solved: datetime | None = None
    first_try: bool = False
    """Whether its first answer was accepted, and no hint was told."""
    is_open: bool = False


def standings(progress: Progress) -> dict[str, Standing]:
    """Return how a learner stands with each problem that was begun."""
    attempts: dict[int, list[tuple[bool, float, float]]] = {}
    for attempt in progress.attempts():
        told = (attempt.accepted, attempt.kept, attempt.hints)
        attempts.setdefault(attempt.round, []).append(told)
    rounds: dict[str, list[Round]] = {}
    for one in progress.rounds():
        rounds.setdefault(one.problem, []).append(one)
    return {problem: _standing(begun, attempts) for problem, begun in rounds.items()}


def _standing(
    rounds: list[Round], attempts: Mapping[int, list[tuple[bool, float, float]]]
) -> Standing:
    made = [one for round_ in rounds for one in attempts.get(round_.id, [])]
    solved = [one.ended for one in rounds if one.end is End.SOLVED]
    accepted, _, hints = made[0] if made else (False, 0.0, 0.0)
    return Standing(
        tries=len(made),
        best=max((kept for _, kept, _ in made), default=0.0),
        solved=solved[0] if solved else None,
        last_solved=solved[-1] if solved else None,
        first_try=accepted and not hints,
        is_open=rounds[-1].is_open,
    )
