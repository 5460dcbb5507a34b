"""What comes next, and why: by what is begun, due, solved and weak."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mha_judge.bank import Bank
from mha_judge.bank.ladder import read_ladders
from mha_judge.bank.listing import ProblemSummary, tracks
from mha_judge.file_versions import FileVersion
from mha_judge.practice import reviews
from mha_judge.practice.progress import Progress
from mha_judge.practice.standing import Standing, standings


class Kind(StrEnum):
    """Why a problem is proposed."""

    GO_ON = "go on"
    REVIEW = "review"
    MISCONCEPTION = "misconception"
    NEW = "new"


@dataclass(frozen=True)
class Proposal:
    """A problem, and why it is its turn."""

    problem: str
    kind: Kind
    why: str
    """A sentence, in the language that was asked for."""
    misconception: str = ""
    """What is due, if the problem comes for its sake."""


def known(summaries: Iterable[ProblemSummary], standing: Mapping[str, Standing]) -> set[str]:
    """Return what is solved, and what may be skipped.

    Whoever solves a problem at the first try, without a hint, need not do what it requires.
    """
    requires = {one.id: one.requires for one in summaries}
    found = {problem for problem, one in standing.items() if one.solved}
    ahead = [problem for problem, one in standing.items() if one.first_try]
    while ahead:
        for problem in requires.get(ahead.pop(), ()):
            if problem not in found:
                found.add(problem)
                ahead.append(problem)
    return found


def proposals(bank: Bank, progress: Progress, now: datetime, language: str) -> list[Proposal]:
    """Return what could be done now, what should come first first; empty if all is done.

    First what is begun, then what is due, then what is new: the next of each track for which
    everything it requires is known, easiest first. Of these one that can show a misconception that
    is not yet overcome comes before the others of its level.

    Raises:
        BankError: If a problem is broken.
    """
    words = _WORDS[language]
    summaries = {line.id: line for group in tracks(bank).values() for line in group}
    standing = {name: one for name, one in standings(progress).items() if name in summaries}

    def title(problem: str) -> str:
        return summaries[problem].title_in(language)

    found = [
        Proposal(one.problem, Kind.GO_ON, words["go on"].format(tries=standing[one.problem].tries))
        for one in reversed(progress.rounds("WHERE ended IS NULL ORDER BY id"))
        if one.problem in summaries
    ]
    given_up = {name for name, one in standing.items() if not one.solved}
    found += _due(bank, progress, now, language, summaries, found, given_up)
    done = known(summaries.values(), standing)
    shaky = weak(bank, progress)
    fresh = [
        line for line in summaries.values() if line.id not in done and set(line.requires) <= done
    ]
    for line in sorted(fresh, key=lambda line: (line.level, -len(shaky.get(line.id, ())), line.id)):
        if line.id in {one.problem for one in found}:
            continue
        if line.id in given_up:
            why = words["again"]
        elif shaky.get(line.id):
            name = shaky[line.id][0]
            why = words["weak"].format(
                title=read_ladders(bank, line.id, language).mistakes[name].title
            )
        elif line.requires:
            why = words["ready"].format(titles=words["and"].join(map(title, line.requires)))
        else:
            why = words["start"]
        found.append(Proposal(line.id, Kind.NEW, why))
    return found


def misconceptions(bank: Bank, problem: str) -> dict[str, str]:
    """Return the misconceptions that a problem can show, and the mistake of its that each is.

    A mistake whose words several problems share is one misconception in all of them.
    """
    return dict(_misconceptions(bank, problem, bank.state_of_mistakes(problem)))


@functools.lru_cache(maxsize=256)  # an app asks for those of all problems again and again
def _misconceptions(bank: Bank, problem: str, _: tuple[FileVersion, ...]) -> Mapping[str, str]:
    return {
        mistake.shared.name if mistake.shared else f"{problem}/{mistake.id}": mistake.id
        for mistake in bank.mistakes(problem)
    }


def _due(
    bank: Bank,
    progress: Progress,
    now: datetime,
    language: str,
    summaries: Mapping[str, ProblemSummary],
    begun: Collection[Proposal],
    given_up: Collection[str],
) -> list[Proposal]:
    """Return a problem for each card that is due, each once and none that is begun."""
    words = _WORDS[language]
    seen = {proposal.problem for proposal in begun}
    found = []
    cards = reviews.due(progress, now)
    ended = {one.problem: one.ended for one in progress.rounds() if one.ended}  # the last of each
    # A problem that shows a due misconception serves both, so misconceptions come first.
    for card in cards:
        name = reviews.misconception_of(card.name)
        if name is None:
            continue
        can_show = {one: misconceptions(bank, one) for one in ended if one in summaries}
        fitting = [one for one, shown in can_show.items() if name in shown]
        if not fitting or seen.intersection(fitting):
            continue
        # the one that was done longest ago, as the others are still in mind
        problem = min(fitting, key=lambda one: (ended[one], one))
        title = read_ladders(bank, problem, language).mistakes[can_show[problem][name]].title
        why = words["misconception"].format(title=title, ago=_ago(card.rated, now, words))
        found.append(Proposal(problem, Kind.MISCONCEPTION, why, name))
        seen.add(problem)
    for card in cards:
        due = reviews.problem_of(card.name)
        if due is not None and due in summaries and due not in seen:
            why = words["review"].format(ago=_ago(card.rated, now, words))
            if due in given_up:  # it was never done, so there is nothing to forget
                why = words["again"]
            found.append(Proposal(due, Kind.REVIEW, why))
            seen.add(due)
    return found


def weak(bank: Bank, progress: Progress) -> dict[str, list[str]]:
    """Return by problem its mistakes that are misconceptions still hard for the learner."""
    hard = [name for name, difficulty in reviews.weak(progress) if difficulty > _HARD]
    if not hard:
        return {}
    found = {}
    for problem in bank.ids:
        shown = misconceptions(bank, problem)
        found[problem] = [shown[name] for name in hard if name in shown]
    return found


def _ago(time: datetime, now: datetime, words: Mapping[str, str]) -> str:
    days = (now.astimezone().date() - time.astimezone().date()).days
    return words["yesterday"] if days <= 1 else words["ago"].format(days=days)


_HARD = 6.0
"""Of FSRS's difficulty from 1 to 10: a card whose first rating is Again begins above it."""

_WORDS = {
    "en": {
        "go on": "You have begun it; answers so far: {tries}.",
        "yesterday": "yesterday",
        "ago": "{days} days ago",
        "review": "Last done {ago}; a review helps most when one is about to forget.",
        "misconception": "An answer of yours showed “{title}”, last {ago}; does it still?",
        "weak": "It can show “{title}”, which you have met and which is still shaky.",
        "ready": "You know what it builds on: {titles}.",
        "again": "You gave it up; now try it on your own.",
        "start": "A good first problem.",
        "and": ", ",
    },
    "zh": {
        "go on": "您已经开始做这道题；至今交了 {tries} 次。",
        "yesterday": "昨天",
        "ago": "{days} 天前",
        "review": "上次做这道题是在{ago}；快要忘记的时候，复习最有用。",
        "misconception": "您的答案曾表现出“{title}”，最近一次考察是在{ago}；现在还会吗？",
        "weak": "它能检验“{title}”，您遇到过而还不牢固。",
        "ready": "它所需的您已掌握：{titles}。",
        "again": "您曾放弃这道题；现在请独立再做一次。",
        "start": "它不需要任何前置内容。",
        "and": "、",
    },
}
