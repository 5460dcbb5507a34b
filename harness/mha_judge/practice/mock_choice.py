"""What a mock interview asks: a warm-up, a main problem and questions, by history and by lot."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mha_judge.bank import Bank
from mha_judge.bank.listing import TRACKS, ProblemSummary, summaries, tracks
from mha_judge.errors import UsageError
from mha_judge.packet.questions import general
from mha_judge.practice.order import known
from mha_judge.practice.standing import Standing

QUESTIONS = 3
"""How many questions follow the problems."""
_QUESTIONS_MINUTES = 5
"""What they are left, of an interview that has room for it."""
_SHOWN_AT_MOST = QUESTIONS - 1
"""So many questions about misconceptions; one at least is about the main problem."""
_RECENT = timedelta(days=14)
"""What was solved since then is still in mind."""
_EASY = 2
"""The highest level of a warm-up that was not solved before."""
_LOWEST, _HIGHEST = 2, 5
"""Levels of main problems."""


@dataclass(frozen=True)
class Wishes:
    """What a learner asks of an interview."""

    minutes: int
    """How long it takes."""
    track: str | None
    """Of the main problem; any if None. By its English or its Chinese name."""
    seed: int
    """Decides where several would do."""


@dataclass(frozen=True)
class Asking:
    """A question, by where it stands in the bank."""

    problem: str
    id: str = ""
    """Of a question with choices; empty for an open one."""
    number: int = 0
    """Of an open one: its place among those of the problem, from 0."""


@dataclass(frozen=True)
class Chosen:
    """What is asked, in this order."""

    problems: tuple[str, ...]
    """The main problem comes last, after the warm-up if there is time for one."""
    questions: tuple[Asking, ...]


def choose(
    bank: Bank,
    standing: Mapping[str, Standing],
    weak: Mapping[str, Collection[str]],
    wishes: Wishes,
    now: datetime,
) -> Chosen:
    """Choose; the same arguments give the same interview.

    Args:
        bank: The problems.
        standing: How the learner stands with those that were begun.
        weak: By problem, ids of the mistakes that the learner still makes.
        wishes: Length, track and seed.
        now: Tells what was solved lately.

    Raises:
        UsageError: If there is no such track, or no problem of it fits; says what to change.
        BankError: If a problem is broken.
    """
    lot = _Lot(bank, standing, weak, wishes, now)
    main = lot.main()
    warm_up = lot.warm_up(main)
    problems = (main.id,) if warm_up is None else (warm_up.id, main.id)
    return Chosen(problems, lot.questions(problems))


class _Lot:
    """All that one choice looks at."""

    def __init__(
        self,
        bank: Bank,
        standing: Mapping[str, Standing],
        weak: Mapping[str, Collection[str]],
        wishes: Wishes,
        now: datetime,
    ) -> None:
        self._bank = bank
        self._standing = standing
        self._weak = weak
        self._wishes = wishes
        self._now = now
        every = summaries(bank)
        self._requires = {line.id: line.requires for line in every}
        self._known = known(every, standing)
        self._asking = [line.id for line in every if bank.questions(line.id)]
        coding = [line for line in every if line.id not in self._asking]
        self._coding = self._not_begun(coding)

    def main(self) -> ProblemSummary:
        """Return the problem that is a level above what is known, as far as there is one."""
        wishes = self._wishes
        free = self._coding if wishes.track is None else self._not_begun(self._of_track())
        of_track = "" if wishes.track is None else f" of track {wishes.track!r}"
        if not free:
            raise UsageError(
                f"every problem{of_track} is begun already; finish one, or name another --track"
            )
        fitting = [line for line in free if line.minutes <= wishes.minutes]
        if not fitting:
            shortest = min(line.minutes for line in free)
            raise UsageError(
                f"no problem{of_track} fits into {wishes.minutes} minutes; the shortest takes "
                f"{shortest}: pass --minutes {shortest} or more"
                + (", or another --track" if of_track else "")
            )
        levels = (line.level for line in self._coding if line.id in self._known)
        target = min(max(_LOWEST, max(levels, default=0) + 1), _HIGHEST)
        return min(
            fitting,
            key=lambda line: (
                self._is_recent(line),
                line.level < _LOWEST,
                not self._leaves_room(line),
                line.id in self._known,
                abs(line.level - target),
                line.level,
                -len(self._weak.get(line.id, ())),
                len(self._missing(line)),
                self._drawn("main", line.id),
            ),
        )

    def warm_up(self, main: ProblemSummary) -> ProblemSummary | None:
        """Return what was solved longest ago, or something easy; None if the time is too short."""
        fitting = [
            line
            for line in self._coding
            if line.id != main.id and line.minutes <= self._spare(main)
        ]
        old = [
            line
            for line in fitting
            if self._last(line) is not None
            and not self._is_recent(line)
            and line.level <= main.level
        ]
        if old:
            return min(
                old,
                key=lambda line: (
                    self._last(line) or datetime.min.replace(tzinfo=UTC),
                    self._drawn("warm-up", line.id),
                ),
            )
        return min(
            (line for line in fitting if line.level <= _EASY),
            key=lambda line: (
                self._is_recent(line),
                line.level,
                self._drawn("warm-up", line.id),
            ),
            default=None,
        )

    def questions(self, problems: Collection[str]) -> tuple[Asking, ...]:
        """Return the questions: about what the learner gets wrong, and about the main problem."""
        *_, main = problems
        open_ones = self._by_lot(
            Asking(main, number=number) for number in range(len(general(main, self._bank, "en")))
        )
        shown: list[Asking] = []
        others: list[Asking] = []
        for problem in self._asking:
            if problem in problems:  # its statement has them already
                continue
            for name, question in self._bank.questions(problem).items():
                if question.choices:
                    is_shown = not question.wrong_by_id.keys().isdisjoint(
                        self._weak.get(problem, ())
                    )
                    (shown if is_shown else others).append(Asking(problem, name))
        with_choices = [*self._by_lot(shown), *self._by_lot(others)]
        count = max(1, min(len(shown), _SHOWN_AT_MOST))
        count = max(count, QUESTIONS - len(open_ones))
        asked = with_choices[:count]
        return (*asked, *open_ones[: QUESTIONS - len(asked)])

    def _of_track(self) -> list[ProblemSummary]:
        found = tracks(self._bank)
        wanted = self._wishes.track
        for name, lines in found.items():
            if wanted in (name, TRACKS.get(name)):
                return lines
        raise UsageError(f"no track {wanted!r}; there are {', '.join(map(repr, found))}")

    def _not_begun(self, lines: Iterable[ProblemSummary]) -> list[ProblemSummary]:
        """Leave out what is being worked on elsewhere: a round has one file."""
        return [
            line
            for line in lines
            if line.id not in self._standing or not self._standing[line.id].is_open
        ]

    def _last(self, line: ProblemSummary) -> datetime | None:
        standing = self._standing.get(line.id)
        return standing.last_solved if standing else None

    def _is_recent(self, line: ProblemSummary) -> bool:
        last = self._last(line)
        return last is not None and self._now - last < _RECENT

    def _missing(self, line: ProblemSummary) -> set[str]:
        """Return what a problem builds on, directly or not, and the learner does not know."""
        missing: set[str] = set()
        ahead = [*line.requires]
        while ahead:
            problem = ahead.pop()
            if problem not in missing and problem not in self._known:
                missing.add(problem)
                ahead += self._requires.get(problem, ())
        return missing

    def _spare(self, main: ProblemSummary) -> int:
        return self._wishes.minutes - main.minutes - _QUESTIONS_MINUTES

    def _leaves_room(self, main: ProblemSummary) -> bool:
        """Whether a warm-up and the questions fit in beside a main problem."""
        easy = [line.minutes for line in self._coding if line != main and line.level <= _EASY]
        return min(easy, default=0) <= self._spare(main)

    def _by_lot(self, questions: Iterable[Asking]) -> list[Asking]:
        return sorted(
            questions,
            key=lambda one: self._drawn("question", f"{one.problem} {one.id}{one.number}"),
        )

    def _drawn(self, what: str, name: str) -> bytes:
        return hashlib.sha256(f"{self._wishes.seed} {what} {name}".encode()).digest()
