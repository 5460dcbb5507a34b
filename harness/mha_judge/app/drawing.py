"""How reports and states look, for rich: blue and orange, and always a sign as well."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mha_judge.app.session import Answer, Mark, Overview, State
from mha_judge.app.words import Words
from mha_judge.practice.progress import End
from mha_judge.report.words import category_in
from mha_judge.sanitising import clean, clean_line

if TYPE_CHECKING:  # the first picture must not wait for pydantic
    from mha_judge.bank.listing import ProblemSummary
    from mha_judge.practice.solution import Solution
    from mha_judge.report.models import CheckResult, Diagnosis, LoadProblem, Report

BLUE, ORANGE = "#56b4e9", "#e69f00"
"""Of Okabe and Ito's colours, which everybody tells apart: right, and wrong."""
SURFACE = "#1e1e1e"
"""Of the boxes above the main screen; code in them has no other ground."""
PASSED, FAILED, NOT_ASSESSED = "✓", "✗", "–"
_MARK_STYLES = {Mark.SOLVED: BLUE, Mark.OPEN: ORANGE, Mark.DUE: f"bold {ORANGE}", Mark.NEW: "dim"}
_MOST_NAMED = 4
"""Titles of checks that a diagnosis names; the others are counted."""
_MOST_PRINTED = 8
"""Lines that are shown of what the file printed."""


@dataclass(frozen=True)
class ProblemRow:
    """A line of the list of problems: its title, or its id where there is no room for that."""

    line: ProblemSummary
    title: str
    mark: Mark

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it in one line."""
        fits = cell_len(self.title) + 2 <= options.max_width
        name = self.title if fits else self.line.id
        yield Text.assemble((self.mark.value, _MARK_STYLES[self.mark]), " ", name, no_wrap=True)


def proposal_row(title: str, why: str, words: Words) -> Text:
    """Return what stands above the list: what is next, and why."""
    return Text.assemble((f"{words['next']}: {title}", "bold"), "\n", (why, "not bold italic"))


def heading(line: ProblemSummary, title: str, words: Words) -> Text:
    """Return the line above a problem."""
    about = words["level"].format(level=line.level, minutes=line.minutes)
    return Text.assemble((line.id, f"bold {BLUE}"), (f" · {about} · ", "dim"), title)


def mark_of(overview: Overview | None, problem: str) -> Mark:
    return overview.marks.get(problem, Mark.NEW) if overview is not None else Mark.NEW


def status(state: State, words: Words, *, grading: bool, checks: int, trouble: str) -> Text:
    """Return the line with file, attempt, time and points; what is not kept comes first."""
    parts: list[tuple[str, str]] = []
    if trouble:
        parts.append((f"! {clean_line(trouble)}", f"bold {ORANGE}"))
    if grading:
        told = words["checks so far"].format(count=checks)
        parts.append((f"{words['grading']} {told}", f"bold {BLUE}"))
    if state.path is not None:
        parts.append((clean_line(state.path.name), "bold"))
    if state.attempts:
        parts.append((words["attempt"].format(number=state.attempts), ""))
    if state.path is not None:
        parts.append((words["minutes"].format(minutes=int(state.seconds // 60)), ""))
    if points := _points(state, words):
        parts.append((points, ""))
    if state.end is End.SOLVED:
        parts.append((f"{PASSED} {words['solved']}", f"bold {BLUE}"))
    elif state.end is End.GIVEN_UP:
        parts.append((words["given up"], "dim"))
    return Text(" · ").join(Text(text, style) for text, style in parts)


def _points(state: State, words: Words) -> str:
    if state.points is None:
        return words["hints cost"].format(price=state.price) if state.price else ""
    kind = "after hints" if state.price else "points"
    return words[kind].format(points=state.points, price=state.price)


# checks


def checks(answer: Answer | None, language: str, words: Words) -> RenderableType:
    """Return the checks of an answer: as they come, and all of them once the report is there."""
    if answer is None:
        return Text(words["no checks"], "dim")
    if answer.why:
        return _no_verdict(answer.why, words)
    if answer.report is None:
        return Group(Text(words["grading"], f"bold {BLUE}"), _rows(answer.checks, language, words))
    report = answer.report
    parts: list[RenderableType] = [_verdict(answer, report, words)]
    if report.load_problem is not None:
        parts.append(_load_problem(report.load_problem, words))
    if report.checks:
        passed = sum(one.outcome == "passed" for one in report.checks)
        told = words["passed of"].format(passed=passed, of=len(report.checks))
        parts += [Text(told, "dim"), _rows(report.checks, language, words, report)]
    return Group(*parts)


def _rows(
    found: Sequence[CheckResult], language: str, words: Words, report: Report | None = None
) -> Table:
    """Return a row for each check: sign, title, what went wrong in a line, category."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, style="dim")
    for check in found:
        sign, style = _sign(check)
        row = Text(check.title, "dim" if sign == NOT_ASSESSED else "")
        if check.outcome.is_bad and check.message:
            row.append(f"\n{_first_line(check.message)}", style)
        category = category_in(language, check.category)
        worth = words["advisory"] if check.advisory else category
        if report is not None and not check.advisory:
            worth = f"{category} {check.points:.0f}/{check.max_points:.0f}"
        table.add_row(Text(sign, style), row, worth)
    return table


def _sign(check: CheckResult) -> tuple[str, str]:
    if check.outcome == "passed":
        return PASSED, BLUE
    if check.outcome == "not_assessed":
        return NOT_ASSESSED, "dim"
    return FAILED, "dim" if check.advisory else ORANGE


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


# the report


def report(
    answer: Answer | None,
    language: str,
    words: Words,
    *,
    told: Collection[str] | None,
) -> RenderableType:
    """Return what an answer shows of its author: mistakes, their price, and what they explain.

    Args:
        answer: The last one.
        language: `en` or `zh`.
        words: Of the language.
        told: Ids of the mistakes that hints were taken for; None if everything may be told.
    """
    if answer is None or (answer.report is None and not answer.why):
        return Text(words["no report"] if answer is None else words["grading"], "dim")
    if answer.report is None:
        return _no_verdict(answer.why, words)
    found = answer.report
    parts: list[RenderableType] = [_verdict(answer, found, words)]
    if found.load_problem is not None:
        parts.append(_load_problem(found.load_problem, words))
    named = [one for one in found.diagnoses if told is None or one.id in told]
    for diagnosis in named:
        parts += _diagnosis(diagnosis, found, words)
    if len(named) < len(found.diagnoses):
        parts += _unnamed(found, named, words)
    parts += _what_is_left(found, words)
    parts += _unexplained(found, words)
    parts += _failing_call(found, words)
    parts += _shown(found, language, words)
    parts += _questions(found, words, explain=told is None)
    parts += _notes(found, words)
    return Group(*parts)


def _verdict(answer: Answer, found: Report, words: Words) -> RenderableType:
    accepted = found.verdict == "accepted"
    style = f"bold {BLUE if accepted else ORANGE}"
    sign = PASSED if accepted else FAILED
    line = Text.assemble(
        (f"{sign} {words[str(found.verdict)]}", style),
        (f"  {found.score:g} / {found.max_score:g}", "bold"),
    )
    kept = answer.kept
    if kept is not None:
        line.append(f"  {words['attempt'].format(number=kept.number)}", "dim")
        if kept.attempt.hints:
            told = {"points": kept.attempt.kept, "price": kept.attempt.hints}
            line.append(f"  {words['after hints'].format(**told)}", "dim")
    if kept is None or kept.due is None:
        return Group(line, Text())
    day = f"{kept.due.astimezone():%Y-%m-%d}"
    return Group(line, Text(words["comes back"].format(day=day)), Text())


def _no_verdict(why: str, words: Words) -> Text:
    return Text(words["no verdict"].format(why=clean_line(why, 2_000)), ORANGE)


def _load_problem(problem: LoadProblem, words: Words) -> RenderableType:
    """Return why a file did not load, with the line, and a caret under the column."""
    place = words["line"].format(line=problem.line) if problem.line is not None else ""
    parts = [Text(f"{place}{problem.message}", ORANGE)]
    if problem.source:
        line = problem.source.expandtabs(4)
        parts.append(Text("    " + line.strip("\n"), no_wrap=True))
        if problem.column is not None:
            before = max(0, min(problem.column, len(line) + 1) - 1)
            parts.append(Text("    " + " " * before + "^", ORANGE, no_wrap=True))
    return Group(*parts, Text())


def _diagnosis(diagnosis: Diagnosis, found: Report, words: Words) -> Iterable[RenderableType]:
    """Yield a mistake: its name and price, why it is one, and which failures it explains."""
    from mha_judge.report.summary import explained_by

    price = f"  −{diagnosis.cost:g}" if diagnosis.cost else ""
    yield Text.assemble(
        (f"{FAILED} ", ORANGE), (diagnosis.title, "bold"), (price, f"bold {ORANGE}")
    )
    if diagnosis.explanation:
        yield Padding(Text(diagnosis.explanation), (0, 0, 0, 2))
    explained = explained_by(diagnosis, found)
    if explained:
        yield Padding(Text(f"{words['explains']}:", "dim"), (0, 0, 0, 2))
    for check in explained[:_MOST_NAMED]:
        yield Padding(Text(f"└ {check.title}", "dim"), (0, 0, 0, 2))
    if len(explained) > _MOST_NAMED:
        more = words["and more"].format(count=len(explained) - _MOST_NAMED)
        yield Padding(Text(f"└ {more}", "dim"), (0, 0, 0, 2))
    yield Text()


def _unnamed(found: Report, named: Sequence[Diagnosis], words: Words) -> Iterable[RenderableType]:
    """Yield the claims that mistakes break which are not named yet, and how to learn of them."""
    from mha_judge.report.summary import explained_by

    known = {check.id for one in named for check in explained_by(one, found)}
    others = [one for one in found.diagnoses if one not in named]
    failed = {check.id: check for one in others for check in explained_by(one, found)}
    rows = [check for name, check in failed.items() if name not in known]
    for check in rows[:_MOST_NAMED]:
        yield Text.assemble((f"{FAILED} ", ORANGE), check.title)
    if len(rows) > _MOST_NAMED:
        yield Text(f"  {words['and more'].format(count=len(rows) - _MOST_NAMED)}", "dim")
    yield Text(words["not named"], "italic")
    yield Text()


def _failing_call(found: Report, words: Words) -> Iterable[RenderableType]:
    """Yield the smallest call that goes wrong, with what is expected and what came."""
    call = found.failing_call
    if call is None:
        return
    yield Text(words["goes wrong"], "bold")
    yield Padding(Text(call.code, BLUE), (0, 0, 0, 2))
    for what, told, style in (("expected", call.wanted, ""), ("yours", call.came, ORANGE)):
        if told:
            text = f"{call.name} {words[what]}: {told}"
            yield Padding(Text(text.strip(), style), (0, 0, 0, 4))
    yield Text()


def _what_is_left(found: Report, words: Words) -> Iterable[RenderableType]:
    """Yield what the mistakes that are named come to, and what they leave open."""
    from mha_judge.report.summary import summarise

    checks = summarise(found)
    cost = sum(diagnosis.cost for diagnosis in found.diagnoses)
    failed, unexplained = len(checks.failures), len(checks.unexplained)
    if cost:
        open_ = checks.waiting or found.never_ran or any(one.stopped for one in found.checks)
        everything = "failures" if open_ else "everything"
        told = words[f"explain {'some' if unexplained else everything}"]
        yield Text(told.format(cost=cost, failed=failed, explained=failed - unexplained), "bold")
    if cost and found.strict_score != found.score:
        yield Text(words["as it stands"].format(points=found.strict_score), "dim")
    if checks.waiting:
        yield Text(words["waiting"].format(count=len(checks.waiting)), "dim")
    if cost or checks.waiting:
        yield Text()


def _unexplained(found: Report, words: Words) -> Iterable[RenderableType]:
    """Yield the failures that no mistake explains, each with what came and what was expected."""
    from mha_judge.report.summary import summarise

    checks = summarise(found)
    rows = [*checks.unexplained, *checks.advice]
    if not rows:
        return
    if found.diagnoses:
        yield Text(words["other reasons"], "bold")
    if found.wrong_where:
        yield Text(words["wrong where"].format(where=found.wrong_where))
    for check in rows:
        sign, style = _sign(check)
        yield Text.assemble((f"{sign} ", style), check.title)
        for text, look in ((check.message, style), (check.detail, "dim")):
            if text:
                yield Padding(Text(text, look), (0, 0, 0, 2))
    yield Text()


def _shown(found: Report, language: str, words: Words) -> Iterable[RenderableType]:
    """Yield which failure to look at first, and a picture of it if there is one."""
    from mha_judge.render.report.picture import picture
    from mha_judge.report.summary import look_at

    first = look_at(found)
    if first is None:
        return
    yield Text.assemble((f"{words['mend first']}: ", "bold"), first.title)
    if first.diagnosis is not None or first.granted:
        yield Padding(Text(first.message, ORANGE), (0, 0, 0, 2))
    drawn = [first, *(one for one in found.checks if one.outcome.is_bad)]
    for check in (one for one in drawn if one.sample is not None):
        assert check.sample is not None
        place = f"{check.sample.label}{check.sample.place}"
        yield Text(f"{words['how it shows']}: {check.title}: {place}", "dim")
        yield picture(check.sample, language)
        break
    yield Text()


def _questions(found: Report, words: Words, *, explain: bool) -> Iterable[RenderableType]:
    """Yield why answers to questions are right; those that are wrong may be tried again first."""
    told = [one for one in found.checks if one.explanation and (explain or one.outcome == "passed")]
    if not told:
        return
    yield Text(words["answers"], "bold")
    for check in told:
        sign, style = _sign(check)
        yield Text.assemble((f"{sign} ", style), check.title)
        yield Padding(Text(check.explanation, "dim"), (0, 0, 0, 2))
    yield Text()


def _notes(found: Report, words: Words) -> Iterable[RenderableType]:
    """Yield rules that were broken, how things were bound, and what the file printed."""
    for finding in found.policy:
        place = words["line"].format(line=finding.line) if finding.line is not None else ""
        yield Text(f"{words['policy']}: {place}{finding.message}", ORANGE)
    for note in found.notes:
        yield Text(f"{words['note']}: {note}", "dim")
    if found.no_gpu:
        yield Text(f"{NOT_ASSESSED} {words['no gpu'].format(why=_first_part(found.no_gpu))}", "dim")
    lines = found.output.text.strip().splitlines()
    if lines:
        more = ["…"] if len(lines) > _MOST_PRINTED or found.output.truncated else []
        yield Text(f"{words['printed']}:", "dim")
        shown = [clean(line, 200) for line in lines[:_MOST_PRINTED]] + more
        yield Padding(Text("\n".join(shown), "dim"), (0, 0, 0, 2))


def _first_part(text: str) -> str:
    return text.partition(": ")[0]


# hints and solution


def hints(told: Sequence[tuple[str, str]], words: Words) -> RenderableType:
    """Return the hints that were taken, under what each is for."""
    if not told:
        return Text(words["no hints"], "dim")
    parts: list[RenderableType] = []
    for number, (title, text) in enumerate(told, 1):
        what = title or words["for problem"]
        parts += [Text(f"{number}. {what}", "bold"), Padding(Text(text), (0, 0, 1, 3))]
    return Group(*parts)


def solution(found: Solution, language: str, *, given_up: bool) -> RenderableType:
    """Return the solution, what one's own answers had instead, and other names for it."""
    from mha_judge.render.practice.solution import Colours, render

    colours = Colours(f"bold {BLUE}", ORANGE, BLUE, "monokai", SURFACE)
    return render(found, language, colours, given_up=given_up)
