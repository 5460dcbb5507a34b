"""Follow-up questions for one answer: on its mistakes, on others, and the problem's own."""

from __future__ import annotations

import hashlib
from collections import Counter

from mha_judge.bank import Bank
from mha_judge.bank.mistake import Mistake
from mha_judge.errors import UsageError
from mha_judge.outcomes import Category, Outcome
from mha_judge.packet.models import Question, Questions
from mha_judge.report.models import Diagnosis, Report

_MAX_NEAR_MISSES = 3


def questions(report: Report, bank: Bank, language: str) -> Questions:
    """Return what to ask who wrote an answer.

    Args:
        report: Of the answer.
        bank: The problem's.
        language: Of the general questions; all others are in English, as the bank's mistakes are.
    """
    return Questions(
        mistakes=_about_mistakes(report),
        near_misses=_near_misses(report, bank),
        general=general(report.problem, bank, language),
    )


def general(problem: str, bank: Bank, language: str) -> list[Question]:
    """Return a problem's own questions; none if the bank has none in this language."""
    try:
        text = bank.follow_ups(problem, language)
    except UsageError:  # a bank of one's own need not have them
        return []
    return follow_ups(text)


def follow_ups(text: str) -> list[Question]:
    """Return the questions of an interviewer's text: headings, and the points below each."""
    found: list[Question] = []
    goes_on = False
    for line in text.splitlines():
        said = line.strip()
        if line.startswith("## "):
            found.append(Question(question=said.removeprefix("## "), good_answer=[]))
        elif said and found:
            points = found[-1].good_answer
            if goes_on and points and not said.startswith("- "):
                points[-1] += f" {said}"
            else:
                points.append(said.removeprefix("- "))
        goes_on = bool(said)
    return found


def _about_mistakes(report: Report) -> list[Question]:
    return [_about(made) for made in report.diagnoses]


def _about(made: Diagnosis) -> Question:
    listed = made.shown_by and made.hint
    if listed:
        question = f"{made.hint} What does your code do there, and how would you put it right?"
    else:  # nobody wrote a hint for this very mistake
        question = f"“{made.title}”: does your code do that, and what does the statement ask for?"
    return Question(
        question=question,
        good_answer=[made.explanation],
        mistake=made.id,
        about=made.title if listed else "",
    )


def _near_misses(report: Report, bank: Bank) -> list[Question]:
    """Return questions on subtle mistakes that the answer avoided, others for each source.

    A mistake is subtle if a check is there for it alone. It was avoided if that check passed, or
    passes but for a mistake that is named. No input shows that a rule was broken, so that checks of
    rules are left out.
    """
    known = bank.mistakes(report.problem)
    noticed = Counter(mistake.killed_by for mistake in known)
    passed = {
        check.id: check.title
        for check in report.checks
        if (check.outcome is Outcome.PASSED or check.granted)
        and check.category is not Category.POLICY
    }
    made = {name for diagnosis in report.diagnoses for name in (diagnosis.id, diagnosis.title)}
    avoided = [
        mistake
        for mistake in known
        if noticed[mistake.killed_by] == 1
        and mistake.killed_by in passed
        and made.isdisjoint((mistake.id, mistake.title))
    ]
    chosen = sorted(avoided, key=lambda mistake: _lot(report.submission.sha256, mistake.id))
    of_choices = any(entry.kind == "answers" for entry in bank.problem(report.problem).entry)
    return [
        _near_miss(mistake, passed[mistake.killed_by], of_choices)
        for mistake in chosen[:_MAX_NEAR_MISSES]
    ]


def _near_miss(mistake: Mistake, check: str, of_choices: bool) -> Question:
    end = "What is wrong with it?" if of_choices else "Which input shows it?"
    title = mistake.title.rstrip(".")
    return Question(
        question=f"A colleague's version has this: {title}. {end}",
        good_answer=[
            f"The check that is there to notice it: “{check}”.",
            mistake.explanation.strip(),
        ],
        mistake=mistake.id,
    )


def _lot(sha256: str, mistake: str) -> str:
    return hashlib.sha256(f"{sha256} {mistake}".encode()).hexdigest()
