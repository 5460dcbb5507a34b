"""What terminal and page call things, in both languages, and in which shade they draw work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from mha_judge.bank import Bank
from mha_judge.bank.ladder import Ladders, read_ladders
from mha_judge.bank.listing import TRACKS
from mha_judge.practice.statistics import Due, Met, Statistics
from mha_judge.sanitising import clean_line

SHOWN_WEEKS = 12
"""How many weeks the heat maps have, the last ones."""
MOST_MISCONCEPTIONS = 12
SOON_DAYS = 7
"""Reviews of today and the days after it that are named one by one."""
SHOWN, AVOIDED = "✗", "✓"
"""The signs of a misconception that was shown, and that was asked again and not shown."""
SHADES = (20, 60, 120)
"""Minutes of work in a week at which a shade gets darker; no work has a shade of its own."""

WORDS = {
    "en": {
        "practice": "Practice",
        "begin": "Nothing is kept yet: `mha-judge next` names a first problem, `mha-judge start "
        "ID` writes its starter, and every `mha-judge run` of that file is kept.",
        "solved_of": "{solved} of {problems} problems solved",
        "points_of": "{points} of {of} points",
        "worked": "{time} of work",
        "tries": "answers",
        "some_tries": "{count} answers",
        "one_try": "1 answer",
        "tracks": "Tracks",
        "track": "track",
        "solved": "solved",
        "points": "points",
        "left": "not in this bank",
        "due": "What is due",
        "due_none": "Nothing is due in the next {days} days.",
        "due_later": "after that: {count}, the first on {day}",
        "due_how": "`mha-judge review ID` begins one",
        "comma": ", ",
        "today": "today",
        "tomorrow": "tomorrow",
        "weekdays": "Mon Tue Wed Thu Fri Sat Sun",
        "months": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        "day": "{weekday} {day} {month}",
        "date": "{day} {month} {year}",
        "week_of": "week of {date}",
        "work": "Work by track and week",
        "work_says": "Minutes of work; the last {weeks} weeks, each under the day of its Monday",
        "total": "total",
        "none": "none",
        "under": "under {minutes} min",
        "between": "{low}–{high}",
        "over": "{minutes} min and more",
        "all": "all tracks",
        "minutes": "minutes",
        "some_minutes": "{minutes} min",
        "hours": "{hours} h {minutes} min",
        "mistakes": "Misconceptions by week",
        "mistakes_say": "The misconceptions that your answers showed, the latest first",
        "times": "answers",
        "misconception": "misconception",
        "shown": "shown",
        "avoided": "asked again and not shown",
        "shown_times": "shown in {count}",
        "avoided_times": "asked again and not shown: {count}×",
        "mistakes_none": "No answer of these weeks has shown a misconception that is known here.",
        "curve": "Points over time",
        "curve_alt": "Points earned: {first} by the {week_first}, {last} by the {week_last}.",
        "every_week": "Every week in numbers",
        "week": "week",
        "gained": "gained",
        "first_solved": "newly solved",
        "problems": "Problems",
        "problem": "problem",
        "best": "best score",
        "solved_on": "solved on",
        "due_on": "due on",
        "open": "begun",
        "as_of": "as of {date}; weeks begin on Monday",
    },
    "zh": {
        "practice": "练习进度",
        "begin": "还没有练习记录：`mha-judge next` 会推荐第一道题，`mha-judge start ID` 写出起始文"
        "件，之后对该文件的每次 `mha-judge run` 都会记录下来。",
        "solved_of": "已解出 {solved} 题，共 {problems} 题",
        "points_of": "得分 {points} / {of}",
        "worked": "用时 {time}",
        "tries": "提交次数",
        "some_tries": "提交 {count} 次",
        "one_try": "提交 1 次",
        "tracks": "各专题进度",
        "track": "专题",
        "solved": "已解出",
        "points": "得分",
        "left": "不在此题库中",
        "due": "到期的复习",
        "due_none": "今后 {days} 天内没有到期的复习。",
        "due_later": "此后还有 {count} 项，最早的在 {day}",
        "due_how": "`mha-judge review ID` 开始复习",
        "comma": "、",
        "today": "今天",
        "tomorrow": "明天",
        "weekdays": "周一 周二 周三 周四 周五 周六 周日",
        "months": "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
        "day": "{month}{day}日 {weekday}",
        "date": "{year}年{month}{day}日",
        "week_of": "{date}起的一周",
        "work": "各专题每周用时",
        "work_says": "用时（分钟）；最近 {weeks} 周，列首为该周周一的日期",
        "total": "合计",
        "none": "无",
        "under": "不足 {minutes} 分钟",
        "between": "{low}–{high}",
        "over": "{minutes} 分钟及以上",
        "all": "合计",
        "minutes": "用时（分钟）",
        "some_minutes": "{minutes} 分钟",
        "hours": "{hours} 小时 {minutes} 分",
        "mistakes": "每周的易错点",
        "mistakes_say": "您的答案中出现过的错误，最近的在前",
        "times": "次数",
        "misconception": "易错点",
        "shown": "出错",
        "avoided": "再次考察，未再出错",
        "shown_times": "出错：{count}",
        "avoided_times": "再次考察，未再出错：{count} 次",
        "mistakes_none": "这些周的答案没有犯已知的错误。",
        "curve": "累计得分",
        "curve_alt": "累计得分：{week_first}为 {first}，{week_last}为 {last}。",
        "every_week": "每周数据",
        "week": "周",
        "gained": "新增得分",
        "first_solved": "新解出",
        "problems": "题目",
        "problem": "题目",
        "best": "最高分",
        "solved_on": "解出日期",
        "due_on": "到期日",
        "open": "进行中",
        "as_of": "截至{date}；每周从周一开始",
    },
}


def shade(minutes: float, tries: int) -> int:
    """Return how dark a week's work is drawn: 0 for none, up to 4."""
    return 1 + sum(minutes >= least for least in SHADES) if tries else 0


def shades(language: str) -> list[str]:
    """Return what each shade means, from none on."""
    words = WORDS[language]
    first, *others = SHADES
    pairs = zip(SHADES, others, strict=False)
    return [
        words["none"],
        words["under"].format(minutes=first),
        *(words["between"].format(low=low, high=high) for low, high in pairs),
        words["over"].format(minutes=SHADES[-1]),
    ]


def track_name(track: str, language: str) -> str:
    return clean_line(TRACKS.get(track, track) if language == "zh" else track, 60)


def duration(minutes: float, language: str) -> str:
    """Return a time of work as one says it."""
    hours, rest = divmod(round(minutes), 60)
    if hours:
        return WORDS[language]["hours"].format(hours=hours, minutes=rest)
    return WORDS[language]["some_minutes"].format(minutes=rest)


def tries(count: int, language: str) -> str:
    words = WORDS[language]
    return words["one_try"] if count == 1 else words["some_tries"].format(count=count)


def number(value: float) -> str:
    """Return a number without an empty fraction."""
    return f"{round(value, 1):g}" if value < 100_000 else f"{value:.0f}"


def month(day: date, language: str) -> str:
    return WORDS[language]["months"].split()[day.month - 1]


def full_date(day: date, language: str) -> str:
    return WORDS[language]["date"].format(
        day=day.day, month=month(day, language), year=f"{day.year:04}"
    )


def week_of(monday: date, language: str) -> str:
    return WORDS[language]["week_of"].format(date=full_date(monday, language))


def near_day(day: date, today: date, language: str) -> str:
    """Return a day of the next ones as one calls it."""
    words = WORDS[language]
    if day - today < timedelta(days=2):
        return words["today"] if day <= today else words["tomorrow"]
    return words["day"].format(
        weekday=words["weekdays"].split()[day.weekday()], day=day.day, month=month(day, language)
    )


def soon(found: Statistics) -> tuple[dict[date, list[Due]], list[Due]]:
    """Return the reviews of the next days by day, and those after them."""
    last = found.today + timedelta(days=SOON_DAYS - 1)
    by_day: dict[date, list[Due]] = {}
    for due in found.due:
        if due.day <= last:
            by_day.setdefault(due.day, []).append(due)
    return by_day, [due for due in found.due if due.day > last]


def lately(found: Statistics) -> list[Met]:
    """Return the misconceptions that the heat map has: those with a sign in its weeks."""
    return [
        met
        for met in found.misconceptions
        if any(met.shown[-SHOWN_WEEKS:]) or any(met.avoided[-SHOWN_WEEKS:])
    ][:MOST_MISCONCEPTIONS]


def month_spans(mondays: Sequence[date]) -> list[tuple[date, int]]:
    """Return the months in which weeks begin, each by its first Monday, and how many weeks."""
    spans: list[tuple[date, int]] = []
    for monday in mondays:
        if spans and (spans[-1][0].year, spans[-1][0].month) == (monday.year, monday.month):
            spans[-1] = (spans[-1][0], spans[-1][1] + 1)
        else:
            spans.append((monday, 1))
    return spans


class Titles:
    """What misconceptions are called, in one language."""

    def __init__(self, bank: Bank, language: str) -> None:
        self._bank = bank
        self._language = language
        self._ladders: dict[str, Ladders] = {}

    def of(self, one: Met | Due) -> str:
        """Return the title where it was met; its id, if the bank does not know it any more."""
        if one.problem not in self._bank.ids:
            return clean_line(one.id)
        if one.problem not in self._ladders:
            self._ladders[one.problem] = read_ladders(self._bank, one.problem, self._language)
        ladder = self._ladders[one.problem].mistakes.get(one.mistake)
        return clean_line(ladder.title if ladder else one.id)
