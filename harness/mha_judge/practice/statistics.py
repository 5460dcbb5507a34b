"""What practice has come to, in numbers: by week, track, problem and misconception.

Days and weeks are those of the calendar where the learner is; weeks are ISO's and begin on Monday.
Minutes are the time that answers took. Points are a problem's points times its best score after
hints, of 100. What lies in the future, because the clock was set back, counts as done now.

`as_json` has all of it. Times are ISO 8601 in UTC, days `2026-03-02`, weeks `2026-W10`; a list that
is called by week has a number for each of `weeks`, in their order.

    now             time
    totals          over all tracks; of `–` only minutes and tries are among them
        solved, problems, points, of, minutes, tries
    weeks           oldest first, the last is the present one: at least 12, from the first answer
                    on, at most 104, where the first holds what is older
        week, from  the week, and its Monday
        minutes, tries
        solved      problems that were first solved in it
        points      all points that were earned by its end
    tracks          in the order in which they are learned
        track       its id; `–` is for problems that this bank does not have
        problems, solved
        points, of  earned, and what all of its problems are worth
        minutes, tries
                    by week
    problems        by track, easiest first
        id, track
        tries, minutes
        best        best score after hints, of 100
        points, of  earned, and its worth
        open        whether it is being worked on
        solved      time of the first solution, or null
        due         day of the next review, today if it is overdue, or null
    misconceptions  those that an answer has shown, last shown first
        id          the name among shared mistakes, or problem/mistake
        problem, mistake
                    where it was last shown
        times       answers that showed it
        last        time of the last of them
        shown       by week, answers that showed it
        avoided     by week, rounds that were solved and could have shown it again, and did not
        due         day on which it is asked again, or null
    due             first due first
        day, kind   kind is `problem` or `misconception`
        id
        problem, mistake
                    the problem; of a misconception one that can show it, and which mistake it is
                    there
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from mha_judge.bank import Bank
from mha_judge.bank.listing import ProblemSummary, tracks
from mha_judge.practice import reviews
from mha_judge.practice.order import misconceptions
from mha_judge.practice.progress import Attempt, End, Progress, Round, StoredCard
from mha_judge.practice.standing import Standing, standings

LEFT = "–"
"""The track of problems that are not in this bank, or not any more."""
_LEAST_WEEKS, _MOST_WEEKS = 12, 104
_PROBLEM, _MISCONCEPTION = "problem", "misconception"


@dataclass(frozen=True)
class Week:
    """A week, over all problems."""

    monday: date
    minutes: float
    tries: int
    solved: int
    """Problems that were first solved in it."""
    points: float
    """All that were earned by its end."""


@dataclass(frozen=True)
class Track:
    """The problems of one track."""

    track: str
    problems: int
    solved: int
    points: float
    of: int
    """What its problems are worth."""
    minutes: tuple[float, ...]
    """By week."""
    tries: tuple[int, ...]
    """By week."""


@dataclass(frozen=True)
class ProblemLine:
    """One problem, begun or not."""

    id: str
    track: str
    tries: int
    minutes: float
    best: float
    """Of 100, less what hints cost."""
    points: float
    of: int
    open: bool
    """Whether it is being worked on."""
    solved: datetime | None
    """When it was first solved."""
    due: date | None
    """The day of its next review; today if it is overdue."""


@dataclass(frozen=True)
class Met:
    """A misconception that an answer has shown."""

    id: str
    problem: str
    """Where it was last shown."""
    mistake: str
    """Which mistake it is there."""
    times: int
    """Answers that showed it."""
    last: datetime
    shown: tuple[int, ...]
    """By week, answers that showed it."""
    avoided: tuple[int, ...]
    """By week, rounds that were solved and could have shown it again, and did not."""
    due: date | None


@dataclass(frozen=True)
class Due:
    """A review that will come."""

    day: date
    kind: str
    """`problem` or `misconception`."""
    id: str
    problem: str
    """Of a misconception, one that can show it."""
    mistake: str = ""
    """Of a misconception, which mistake it is there."""


@dataclass(frozen=True)
class Statistics:
    """All of it; the module says what each part is."""

    now: datetime
    begun: bool
    """Whether there is anything to count."""
    weeks: tuple[Week, ...]
    tracks: tuple[Track, ...]
    problems: tuple[ProblemLine, ...]
    misconceptions: tuple[Met, ...]
    due: tuple[Due, ...]

    @property
    def today(self) -> date:
        return _day(self.now)

    @property
    def totals(self) -> dict[str, float]:
        """The numbers over all tracks; minutes and tries also of problems that the bank lacks."""
        here = [track for track in self.tracks if track.track != LEFT]
        return {
            "solved": sum(track.solved for track in here),
            "problems": sum(track.problems for track in here),
            "points": round(sum(track.points for track in here), 1),
            "of": sum(track.of for track in here),
            "minutes": round(sum(week.minutes for week in self.weeks), 1),
            "tries": sum(week.tries for week in self.weeks),
        }

    def as_json(self) -> dict[str, Any]:
        """Return what JSON can hold, as the module describes it."""
        weeks = [
            {"week": _week_id(week.monday), "from": week.monday, **_without(asdict(week), "monday")}
            for week in self.weeks
        ]
        lists = {
            name: [asdict(one) for one in getattr(self, name)]
            for name in ("tracks", "problems", "misconceptions", "due")
        }
        value: dict[str, Any] = _plain(
            {"now": self.now, "totals": self.totals, "weeks": weeks, **lists}
        )
        return value


def statistics(bank: Bank, progress: Progress, now: datetime) -> Statistics:
    """Return what was done until now.

    Raises:
        BankError: If a problem that was worked on, or the list of problems, is broken.
    """
    lines = [line for group in tracks(bank).values() for line in group]
    rounds = progress.rounds()
    problems = {one.id: one.problem for one in rounds}
    # Another program may add to the file between two questions.
    deeds = [
        _Deed(problems[one.round], one) for one in progress.attempts() if one.round in problems
    ]
    standing = standings(progress)
    weeks = _Weeks([deed.attempt.at for deed in deeds], now)
    can_show = {
        line.id: misconceptions(bank, line.id) for line in lines if line.id in problems.values()
    }
    due = _due(lines, can_show, rounds, progress.cards(), _day(now))
    days = {(one.kind, one.id): one.day for one in due}
    done = _problems(lines, deeds, standing, days)
    return Statistics(
        now=now,
        begun=bool(rounds),
        weeks=_by_week(lines, deeds, standing, weeks),
        tracks=_by_track(done, deeds, weeks),
        problems=done,
        misconceptions=_met(can_show, rounds, deeds, days, weeks),
        due=due,
    )


@dataclass(frozen=True)
class _Deed:
    problem: str
    attempt: Attempt


class _Weeks:
    """The weeks that are told, and in which of them a time lies."""

    def __init__(self, times: Sequence[datetime], now: datetime) -> None:
        present = _monday(now)
        first = min([present - timedelta(weeks=_LEAST_WEEKS - 1), *map(_monday, times)])
        self._first = max(first, present - timedelta(weeks=_MOST_WEEKS - 1))
        self.count = (present - self._first).days // 7 + 1

    def of(self, time: datetime) -> int:
        """Return which week a time lies in, counted from 0; or the nearest that is told."""
        return max(0, min((_monday(time) - self._first).days // 7, self.count - 1))

    def mondays(self) -> list[date]:
        return [self._first + timedelta(weeks=number) for number in range(self.count)]

    def counts(self, times: Sequence[datetime]) -> tuple[int, ...]:
        """Return how many of these times lie in each week."""
        found = Counter(map(self.of, times))
        return tuple(found[number] for number in range(self.count))

    def minutes(self, deeds: Sequence[_Deed]) -> tuple[float, ...]:
        """Return the minutes of work in each week."""
        seconds = [0.0] * self.count
        for deed in deeds:
            seconds[self.of(deed.attempt.at)] += deed.attempt.seconds
        return tuple(round(one / 60, 1) for one in seconds)


def _problems(
    lines: Sequence[ProblemSummary],
    deeds: Sequence[_Deed],
    standing: Mapping[str, Standing],
    days: Mapping[tuple[str, str], date],
) -> tuple[ProblemLine, ...]:
    """Return the bank's problems, then those that it does not have."""
    seconds: dict[str, float] = {}
    for deed in deeds:
        seconds[deed.problem] = seconds.get(deed.problem, 0.0) + deed.attempt.seconds
    worth = {line.id: (line.track, line.points) for line in lines}
    others = dict.fromkeys(sorted(standing.keys() - worth.keys()), (LEFT, 0))
    found = []
    for problem, (track, points) in {**worth, **others}.items():
        stands = standing.get(problem, Standing())
        found.append(
            ProblemLine(
                id=problem,
                track=track,
                tries=stands.tries,
                minutes=round(seconds.get(problem, 0.0) / 60, 1),
                best=stands.best,
                points=round(points * stands.best / 100, 1),
                of=points,
                open=stands.is_open,
                solved=stands.solved,
                due=days.get((_PROBLEM, problem)),
            )
        )
    return tuple(found)


def _by_track(
    problems: Sequence[ProblemLine], deeds: Sequence[_Deed], weeks: _Weeks
) -> tuple[Track, ...]:
    groups: dict[str, list[ProblemLine]] = {}
    for line in problems:
        groups.setdefault(line.track, []).append(line)
    found = []
    for track, group in groups.items():
        names = {line.id for line in group}
        made = [deed for deed in deeds if deed.problem in names]
        found.append(
            Track(
                track=track,
                problems=len(group),
                solved=sum(line.solved is not None for line in group),
                points=round(sum(line.points for line in group), 1),
                of=sum(line.of for line in group),
                minutes=weeks.minutes(made),
                tries=weeks.counts([deed.attempt.at for deed in made]),
            )
        )
    return tuple(found)


def _by_week(
    lines: Sequence[ProblemSummary],
    deeds: Sequence[_Deed],
    standing: Mapping[str, Standing],
    weeks: _Weeks,
) -> tuple[Week, ...]:
    tries = weeks.counts([deed.attempt.at for deed in deeds])
    solved = weeks.counts([one.solved for one in standing.values() if one.solved])
    points = _points_by_week(lines, deeds, weeks)
    parts = zip(weeks.mondays(), weeks.minutes(deeds), tries, solved, points, strict=True)
    return tuple(Week(*part) for part in parts)


def _points_by_week(
    lines: Sequence[ProblemSummary], deeds: Sequence[_Deed], weeks: _Weeks
) -> list[float]:
    """Return the points that were earned by the end of each week."""
    worth = {line.id: line.points for line in lines}
    best: dict[str, float] = {}
    gained = [0.0] * weeks.count
    for deed in sorted(deeds, key=lambda deed: deed.attempt.at):
        before = best.get(deed.problem, 0.0)
        if deed.attempt.kept > before:
            best[deed.problem] = deed.attempt.kept
            more = (deed.attempt.kept - before) / 100 * worth.get(deed.problem, 0)
            gained[weeks.of(deed.attempt.at)] += more
    return [round(sum(gained[: number + 1]), 1) for number in range(weeks.count)]


def _met(
    can_show: Mapping[str, Mapping[str, str]],
    rounds: Sequence[Round],
    deeds: Sequence[_Deed],
    days: Mapping[tuple[str, str], date],
    weeks: _Weeks,
) -> tuple[Met, ...]:
    """Return the misconceptions that answers have shown, last shown first, then most often."""
    names = {
        problem: {mistake: name for name, mistake in shown.items()}
        for problem, shown in can_show.items()
    }
    shown: dict[str, list[tuple[_Deed, str]]] = {}
    in_round: dict[int, set[str]] = {}
    for deed in deeds:
        for mistake in deed.attempt.diagnoses:
            # what the bank does not know any more still goes by the name it had
            name = names.get(deed.problem, {}).get(mistake, f"{deed.problem}/{mistake}")
            shown.setdefault(name, []).append((deed, mistake))
            in_round.setdefault(deed.attempt.round, set()).add(name)
    solved = [
        (one, one.ended, set(names.get(one.problem, {}).values()) - in_round.get(one.id, set()))
        for one in rounds
        if one.end is End.SOLVED and one.ended is not None
    ]
    found = []
    for name, made in shown.items():
        first = min(deed.attempt.at for deed, _ in made)
        last, mistake = max(made, key=lambda one: one[0].attempt.at)
        again = [ended for _, ended, without in solved if name in without and ended > first]
        found.append(
            Met(
                id=name,
                problem=last.problem,
                mistake=mistake,
                times=len(made),
                last=last.attempt.at,
                shown=weeks.counts([deed.attempt.at for deed, _ in made]),
                avoided=weeks.counts(again),
                due=days.get((_MISCONCEPTION, name)),
            )
        )
    return tuple(sorted(found, key=lambda met: (_monday(met.last), met.times), reverse=True))


def _due(
    lines: Sequence[ProblemSummary],
    can_show: Mapping[str, Mapping[str, str]],
    rounds: Sequence[Round],
    cards: Mapping[str, StoredCard],
    today: date,
) -> tuple[Due, ...]:
    """Return the reviews that can come: of problems that are there, and what they can show."""
    ended = {one.problem for one in rounds if not one.is_open}
    listed = {line.id for line in lines}
    where = {
        name: (problem, mistake)
        for problem in sorted(ended & can_show.keys())
        for name, mistake in can_show[problem].items()
    }
    found = []
    for name, card in cards.items():
        # Nothing comes on the day on which it was rated.
        day = max(today, _day(card.due), _day(card.rated) + timedelta(days=1))
        problem, misconception = reviews.problem_of(name), reviews.misconception_of(name)
        if problem in listed:
            found.append(Due(day, _PROBLEM, problem, problem))
        elif misconception in where:
            found.append(Due(day, _MISCONCEPTION, misconception, *where[misconception]))
    return tuple(sorted(found, key=lambda one: (one.day, one.kind != _PROBLEM, one.id)))


def _day(time: datetime) -> date:
    return time.astimezone().date()


def _monday(time: datetime) -> date:
    day = _day(time)
    return day - timedelta(days=day.weekday())


def _week_id(monday: date) -> str:
    year, week, _ = monday.isocalendar()
    return f"{year}-W{week:02}"


def _without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def _plain(value: Any) -> Any:
    """Return a value with times and days as text."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
