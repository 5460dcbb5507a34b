"""Errors carried forward: what passes where a mistake is what is right.

A grader is a function of a reference. Where a candidate's mistake has a name, the checks that have
not passed are run again with a program for a reference that makes just this mistake. What passes
there is right but for the mistake. Where a check fails there too, it may be one that nobody can
pass who makes the mistake: the program is graded itself, and what it fails in the same words is
the mistake's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from types import ModuleType

from mha_judge.diagnosis.bounds import bounded_memory
from mha_judge.diagnosis.programs import Program
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.session import LoadFailed, Session
from mha_judge.grading.checks.policy import findings, held_to
from mha_judge.grading.checks.running import Run
from mha_judge.grading.expecting.compare import what_is_nan_left_open
from mha_judge.outcomes import Category, Outcome
from mha_judge.report.models import CheckResult
from mha_judge.submission import Submission

_NUMBERS = re.compile(r"[-+]?\d[\d.e+-]*")


def granting(
    checks: Sequence[CheckResult],
    programs: Iterable[Program],
    context: Context,
    named: Collection[str] = (),
) -> list[CheckResult]:
    """Return the checks, those that pass but for mistakes with the ids of these.

    A rule that was broken, and a worker that hung or died, are never granted.

    Args:
        checks: What came of each.
        programs: Each makes some of the candidate's mistakes.
        context: The candidate's, in which the checks were run; its session ends.
        named: Ids of the checks whose words are what a mistake is named by.
    """
    granted = {check.id: check.granted for check in checks if check.granted}
    failed: list[tuple[Program, list[CheckResult]]] = []
    broken = {check for check, rule in context.rules.items() if findings(context, rule)}
    for program in programs:
        known = {*granted, *broken}
        left = [c for c in checks if _may_be_granted(c) and c.id not in known]
        found = _results(context.session, context, program.module, checks, left)
        made = [mistake.id for mistake in program.mistakes]
        granted |= {c.id: made for c in found if c.outcome is Outcome.PASSED}
        failed.append((program, [c for c in found if c.outcome is not Outcome.PASSED]))
    context.session.close()  # of two files only one can be loaded; a call would load it again
    for program, left in failed:
        left = [c for c in left if c.id not in granted and not _may_break_a_rule(c)]
        for check in _failed_by_itself(program, context, checks, left, named):
            granted[check] = [mistake.id for mistake in program.mistakes]
    return [
        check.model_copy(update={"granted": granted[check.id]}) if check.id in granted else check
        for check in checks
    ]


def right_without_dropout(checks: Sequence[CheckResult], context: Context) -> list[str]:
    """Return the ids of the checks that pass once torch's dropout does nothing.

    What an answer that drops in evaluation gives is left to chance; no program can be compared.
    """
    context.session.close()
    left = [check for check in checks if _may_be_granted(check)]
    with closing(context.session.another(context.task.submission, dropout=False)) as session:
        try:
            session.load()
        except LoadFailed:
            return []
        found = _results(session, context, context.task.reference, checks, left)
    return [check.id for check in found if check.outcome is Outcome.PASSED]


def _may_be_granted(check: CheckResult) -> bool:
    """Return whether a mistake in what is computed may be the only reason why it did not pass."""
    if check.only_if_right or check.category is Category.GPU:
        return False
    return check.outcome in (Outcome.FAILED, Outcome.ERROR, Outcome.NOT_ASSESSED)


def _results(
    session: Session,
    own: Context,
    world: ModuleType,
    checks: Sequence[CheckResult],
    left: Sequence[CheckResult],
) -> list[CheckResult]:
    """Return what comes of the checks that are left, where a program is what is right."""
    if not left:
        return []
    context = Context(session, replace(own.task, world=world))
    passed = [check for check in checks if check.outcome is Outcome.PASSED]
    ids = frozenset(check.id for check in left)
    with bounded_memory(), what_is_nan_left_open():
        results = Run(context.task, context, only=ids, passed=passed).grade()
    broken = [found for rule in {*context.rules.values()} for found in findings(context, rule)]
    return [check for check in held_to(results, context.rules, broken) if check.id in ids]


def _failed_by_itself(
    program: Program,
    own: Context,
    checks: Sequence[CheckResult],
    left: Sequence[CheckResult],
    named: Collection[str],
) -> list[str]:
    """Return the ids of the checks that the program itself fails in the candidate's words."""
    if not left:
        return []
    submission = Submission.of(program.source, "mistake.py")
    with closing(own.session.another(submission)) as session:
        try:
            session.load()
        except LoadFailed:
            return []
        found = {c.id: c for c in _results(session, own, program.module, checks, left)}
    # what is left to chance is apart from itself, and from anything else, in the same words
    telling = [c for c in left if c.margin is None or all(m.has_values for m in program.mistakes)]
    return [
        check.id
        for check in telling
        if check.id in found
        and (check.id in named or _is_alike(check, found[check.id]))
        and found[check.id].outcome.is_bad
    ]


def _may_break_a_rule(check: CheckResult) -> bool:
    """Return whether a check of a rule has failed for more than an exception on the way."""
    return check.category is Category.POLICY and check.outcome is not Outcome.ERROR


def _is_alike(one: CheckResult, other: CheckResult) -> bool:
    if one.outcome is not other.outcome:
        return False
    if one.outcome is Outcome.ERROR:  # the words of an exception are everyone's own
        return one.message.partition(":")[0] == other.message.partition(":")[0]
    return _NUMBERS.sub("", one.message) == _NUMBERS.sub("", other.message)
