"""What practice has come to, as one page that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from mha_judge.bank import Bank
from mha_judge.bank.listing import summaries
from mha_judge.practice.statistics import LEFT, ProblemLine, Statistics, Track
from mha_judge.render.page import page
from mha_judge.render.practice.words import (
    AVOIDED,
    SHOWN,
    SHOWN_WEEKS,
    SOON_DAYS,
    WORDS,
    Titles,
    duration,
    full_date,
    lately,
    month,
    month_spans,
    near_day,
    number,
    shade,
    shades,
    soon,
    track_name,
    tries,
    week_of,
)
from mha_judge.sanitising import clean_line

_LANGUAGES = {"en": "en", "zh": "zh-Hans"}
_STEPS = (10, 20, 50)
"""What the scale of points ends at, or ten, a hundred … times one of these."""


@dataclass(frozen=True)
class _Head:
    """A week, as a column is headed."""

    day: int
    date: str
    title: str


@dataclass(frozen=True)
class _Cell:
    """A week of a heat map."""

    text: str
    title: str
    shade: int = 0
    shown: bool = False
    avoided: bool = False


@dataclass(frozen=True)
class _Line:
    """A row of a heat map."""

    name: str
    cells: list[_Cell]
    total: str = ""


@dataclass(frozen=True)
class _Bar:
    """How far a track is."""

    name: str
    track: Track
    percent: float
    left: bool


@dataclass(frozen=True)
class _Problem:
    """A row of the list of problems."""

    line: ProblemLine
    title: str
    id: str
    solved: str
    due: str
    is_due: bool


@dataclass(frozen=True)
class _Dot:
    """A week of the curve, in percent of the picture's width and height from the lower left."""

    x: float
    y: float
    title: str


@dataclass(frozen=True)
class _Curve:
    dots: list[_Dot]
    most: int
    """What the upper edge stands for."""
    about: str


@dataclass(frozen=True)
class _Review:
    """A day with what is due on it."""

    day: str
    iso: str
    today: bool
    names: list[str]


def render(found: Statistics, bank: Bank, language: str) -> str:
    """Return a page that needs nothing beside it, in light and dark colours, and for paper."""
    words = WORDS[language]
    by_day, later = soon(found)
    titles = Titles(bank, language)
    mondays = [week.monday for week in found.weeks[-SHOWN_WEEKS:]]
    totals = found.totals
    numbers = {name: f"{value:.0f}" for name, value in totals.items()}
    return page(
        "mha_judge.render.practice",
        "progress.html",
        words=words,
        language=_LANGUAGES[language],
        begun=found.begun,
        totals=[
            words["solved_of"].format(**numbers),
            words["points_of"].format(**numbers),
            words["worked"].format(time=duration(totals["minutes"], language)),
            tries(int(totals["tries"]), language),
        ],
        as_of=words["as_of"].format(date=full_date(found.today, language)),
        tracks=[_bar(track, language) for track in found.tracks],
        reviews=[
            _Review(
                near_day(day, found.today, language),
                day.isoformat(),
                day <= found.today,
                [_quoted(titles.of(due)) if due.mistake else clean_line(due.id) for due in dues],
            )
            for day, dues in by_day.items()
        ],
        later=words["due_later"].format(count=len(later), day=later[0].day.isoformat())
        if later
        else "",
        none_due=words["due_none"].format(days=SOON_DAYS),
        months=[(month(start, language), weeks) for start, weeks in month_spans(mondays)],
        heads=[_head(monday, language) for monday in mondays],
        work=_work(found, mondays, language),
        shades=shades(language),
        mistakes=_mistakes(found, titles, mondays, language),
        signs=(SHOWN, AVOIDED),
        curve=_curve(found, language),
        weeks=_weeks(found, language),
        number=number,
        problems=_problems(found, bank, language),
    )


def _quoted(text: str) -> str:
    return f"“{text}”"


def _head(monday: date, language: str) -> _Head:
    return _Head(monday.day, monday.isoformat(), week_of(monday, language))


def _bar(track: Track, language: str) -> _Bar:
    percent = 100 * track.solved / track.problems
    return _Bar(track_name(track.track, language), track, percent, track.track == LEFT)


def _work(found: Statistics, mondays: Sequence[date], language: str) -> list[_Line]:
    """Return the minutes of each track in each week, and their sums."""
    rows = [
        (track_name(track.track, language), track.minutes, track.tries) for track in found.tracks
    ]
    week_minutes = tuple(week.minutes for week in found.weeks)
    week_tries = tuple(week.tries for week in found.weeks)
    rows.append((WORDS[language]["all"], week_minutes, week_tries))
    lines = []
    for name, minutes, made in rows:
        minutes, made = minutes[-SHOWN_WEEKS:], made[-SHOWN_WEEKS:]
        cells = [
            _Cell(
                f"{spent:.0f}" if count else "",
                f"{name}, {week_of(monday, language)}: {duration(spent, language)}"
                f" · {tries(count, language)}",
                shade(spent, count),
            )
            for monday, spent, count in zip(mondays, minutes, made, strict=True)
        ]
        lines.append(_Line(name, cells, duration(sum(minutes), language) if any(made) else ""))
    return lines


def _mistakes(
    found: Statistics, titles: Titles, mondays: Sequence[date], language: str
) -> list[_Line]:
    words = WORDS[language]
    lines = []
    for met in lately(found):
        cells = []
        both = zip(mondays, met.shown[-SHOWN_WEEKS:], met.avoided[-SHOWN_WEEKS:], strict=True)
        for monday, shown, avoided in both:
            told = [words["shown_times"].format(count=tries(shown, language))] if shown else []
            told += [words["avoided_times"].format(count=avoided)] if avoided else []
            title = f"{week_of(monday, language)}: {' · '.join(told)}" if told else ""
            cells.append(_Cell("", title, shown=shown > 0, avoided=avoided > 0))
        lines.append(_Line(titles.of(met), cells, str(met.times)))
    return lines


def _curve(found: Statistics, language: str) -> _Curve | None:
    """Return the points by the end of each week; None where there are none."""
    weeks = found.weeks
    highest = max(week.points for week in weeks)
    if not highest:
        return None
    scale = 1
    while highest > _STEPS[-1] * scale:
        scale *= 10
    most = next(step * scale for step in _STEPS if highest <= step * scale)
    dots = [
        _Dot(
            round(100 * place / (len(weeks) - 1), 2),
            round(100 * week.points / most, 2),
            f"{week_of(week.monday, language)}: {number(week.points)}",
        )
        for place, week in enumerate(weeks)
    ]
    about = WORDS[language]["curve_alt"].format(
        first=number(weeks[0].points),
        last=number(weeks[-1].points),
        week_first=week_of(weeks[0].monday, language),
        week_last=week_of(weeks[-1].monday, language),
    )
    return _Curve(dots, most, about)


def _weeks(found: Statistics, language: str) -> list[dict[str, Any]]:
    """Return all weeks, the last one first, each with what it brought."""
    before = [0.0, *(week.points for week in found.weeks)]
    rows = [
        {
            "date": week.monday.isoformat(),
            "title": week_of(week.monday, language),
            "gained": number(week.points - earlier),
            "points": number(week.points),
            "minutes": f"{week.minutes:.0f}",
            "tries": week.tries,
            "solved": week.solved,
        }
        for week, earlier in zip(found.weeks, before, strict=False)
    ]
    return rows[::-1]


def _problems(found: Statistics, bank: Bank, language: str) -> list[tuple[str, list[_Problem]]]:
    """Return the problems by track."""
    titles = {line.id: line.title_in(language) for line in summaries(bank)}
    groups: dict[str, list[_Problem]] = {}
    for line in found.problems:
        row = _Problem(
            line=line,
            title=clean_line(titles.get(line.id, "")),
            id=clean_line(line.id),
            solved=line.solved.astimezone().date().isoformat() if line.solved else "",
            due=line.due.isoformat() if line.due else "",
            is_due=line.due is not None and line.due <= found.today,
        )
        groups.setdefault(track_name(line.track, language), []).append(row)
    return list(groups.items())
