"""Errors carried forward: which checks pass once a mistake counts as right.

A grader is a function of a reference. If a candidate's mistake has a name, the checks that did not
pass run again, with a program as the reference that makes just this mistake. What passes then is
right but for the mistake. A check that fails even then may be one that nobody who makes the mistake
can pass. So the program is graded itself, and checks that it fails in the same words as the
candidate are granted too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from types import ModuleType

from mha_judge.diagnosis import Explanation
from mha_judge.diagnosis.programs import Program
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.session import LoadFailed, Session
from mha_judge.grading.calling.trace import Trace
from mha_judge.grading.checks.policy import findings, hold_to_rules
from mha_judge.grading.checks.running import Run
from mha_judge.grading.expecting.compare import while_granting
from mha_judge.grading.failures import LeftOpen
from mha_judge.judge import points
from mha_judge.outcomes import Category, Outcome, Severity
from mha_judge.report.models import CheckResult, Diagnosis
from mha_judge.submission import Submission

_MOST_ROUNDS = 3
"""How often mistakes are looked for in what still fails with those granted that are known."""
_MOST_LEFT, _MOST_LEFT_OF_CONVENTION = 4, 2
"""How many failed checks may be left for each that a mistake, or another convention, explains."""
_NUMBERS = re.compile(r"[-+]?\d[\d.e+-]*")


def carried_forward(
    checks: list[CheckResult], explained: Explanation, context: Context
) -> tuple[list[CheckResult], list[Diagnosis]]:
    """Return the checks, granted if they pass but for mistakes, and these mistakes with prices.

    Args:
        checks: The results, with points.
        explained: The mistakes that explain the failures.
        context: The candidate's context, in which the checks ran; its session is closed.
    """
    if context.task.problem.asks_questions:  # each question is marked alone
        diagnoses = [*explained.diagnoses, *explained.by_check]
    else:
        checks, diagnoses = _granted_in_rounds(checks, explained, context)
        checks, diagnoses = _borne_out(checks, diagnoses, explained, context)
        dropout, names = explained.by_dropout, {one.id for one in diagnoses}
        if dropout is not None and (not names or dropout.id in names):
            checks = _granting_dropout(checks, dropout, context)
            if not names and any(check.granted for check in checks):
                diagnoses = [dropout]
    for diagnosis in diagnoses:
        if diagnosis.id in explained.unmarked:
            context.note(f"the bank gives {diagnosis.id} no severity; it is marked as a slip")
    return checks, [points.priced(with_checks(one, checks), checks) for one in diagnoses]


def _granted_in_rounds(
    checks: list[CheckResult], explained: Explanation, context: Context
) -> tuple[list[CheckResult], list[Diagnosis]]:
    """Return the checks, granted, and the mistakes: those known, and those found in what fails."""
    rules, diagnoses = _rules(checks), explained.diagnoses
    checks, best = _granting(checks, _programs(explained, diagnoses, rules), context, rules)
    for _ in range(1 + _MOST_ROUNDS):
        more = _more(explained, checks, best, {one.id for one in diagnoses})
        if not more:
            break
        diagnoses = [*diagnoses, *more]
        named = {check for diagnosis in more for check in diagnosis.checks}
        # where what was known stops a check, nothing tells that the new mistake does not show
        before = {one.id: one for one in checks if one.granted and not one.stopped}
        checks = [check.ungranted() for check in checks]  # what passed may now be broken, too
        programs = _programs(explained, diagnoses, rules)
        checks, best = _granting(checks, programs, context, rules, named)
        checks = [before.get(check.id, check) if check.granted else check for check in checks]
    return checks, diagnoses


def _borne_out(
    checks: list[CheckResult],
    diagnoses: Sequence[Diagnosis],
    explained: Explanation,
    context: Context,
) -> tuple[list[CheckResult], list[Diagnosis]]:
    """Return the checks, granted for those mistakes alone that explain enough, and these."""
    told = {one.id for one in explained.by_check}
    kept = [one for one in diagnoses if one.id in told or is_borne_out(one, checks)]
    if len(kept) < len(diagnoses):
        rules = _rules(checks)
        checks = [check.ungranted() for check in checks]
        checks, _ = _granting(checks, _programs(explained, kept, rules), context, rules)
    return checks, kept


def _rules(checks: Iterable[CheckResult]) -> set[str]:
    """Return the ids of the checks of rules."""
    return {check.id for check in checks if check.category is Category.POLICY}


def _programs(
    explained: Explanation, diagnoses: Sequence[Diagnosis], rules: Set[str]
) -> list[Program]:
    """Return programs that make some mistakes: first without those that break rules.

    What breaks a rule may take the place of lines in which another mistake is made.
    """
    others = [one for one in diagnoses if one.shown_by not in rules]
    return list(dict.fromkeys([*explained.programs(others), *explained.programs(diagnoses)]))


def _more(
    explained: Explanation, checks: Sequence[CheckResult], best: _Again | None, known: Set[str]
) -> list[Diagnosis]:
    """Return further mistakes: those that messages tell, or else those found in what still fails.

    Args:
        explained: Knows both.
        checks: What came of each, granted for what is known.
        best: What came of them with the program that makes most of what is known.
        known: The ids of the mistakes that are known.
    """
    granted = {check.id for check in checks if check.granted}
    found = [one for one in explained.by_check if not granted.issuperset(one.checks)]
    if best is not None and {one.id for one in found} <= known:
        alone = {c.id for c in checks if c.outcome.is_bad or c.category is Category.POLICY}
        found = explained.besides(best.program, best.results, best.trace, alone)
    return [one for one in found if one.id not in known]


def is_borne_out(diagnosis: Diagnosis, checks: Iterable[CheckResult]) -> bool:
    """Return whether enough of what failed passes with a mistake granted.

    In few calls one mistake may look like another. And of an answer that is said to be right under
    another convention, most must be right.
    """
    bad = [check for check in checks if check.outcome.is_bad and not check.advisory]
    failed = [check for check in bad if not check.only_if_right]  # those are never granted
    explained = sum(diagnosis.id in check.granted for check in failed)
    left = sum(not check.granted for check in failed)
    is_convention = diagnosis.severity is Severity.CONVENTION
    most = _MOST_LEFT_OF_CONVENTION if is_convention else _MOST_LEFT
    return left <= most * max(1, explained)


def with_checks(diagnosis: Diagnosis, checks: Sequence[CheckResult]) -> Diagnosis:
    """Return a diagnosis with the checks that do not pass because of it.

    If some are granted, only these and those of rules, which never are: the others fail even so.
    """
    is_granted = any(diagnosis.id in check.granted for check in checks)

    def explains(check: CheckResult) -> bool:
        if check.granted:
            return diagnosis.id in check.granted
        is_rule = check.category is Category.POLICY
        return check.id in diagnosis.checks and (is_rule or not is_granted)

    ids = [check.id for check in checks if explains(check)]
    return diagnosis.model_copy(update={"checks": ids})


@dataclass(frozen=True)
class _Again:
    """What came of the checks with a program as the reference."""

    program: Program
    results: list[CheckResult]
    """Of all checks: those that did not run again are as they were."""
    trace: Trace
    left: list[CheckResult]
    """Those that still do not pass."""


def _granting(
    checks: Sequence[CheckResult],
    programs: Iterable[Program],
    context: Context,
    rules: Set[str],
    named: Collection[str] = (),
) -> tuple[list[CheckResult], _Again | None]:
    """Return the checks; those that pass but for mistakes get the ids of these mistakes.

    A check of a broken rule, or one in which a worker hung or died, is never granted.

    Args:
        checks: The results.
        programs: Each makes some of the candidate's mistakes.
        context: The candidate's context, in which the checks ran; its session is closed.
        rules: Ids of the checks of rules.
        named: Ids of the checks by whose message a mistake was named.

    Returns:
        The checks, and what came of them with the program that leaves fewest; None if none is left.
    """
    granted = {check.id: check.granted for check in checks if check.granted}
    every: list[_Again] = []
    broken = {check for check, rule in context.rules.items() if findings(context, rule)}
    for program in programs:
        known = {*granted, *broken}
        left = [c for c in checks if _may_be_granted(c) and c.id not in known]
        found, trace = _results(context.session, context, program.module, checks, left)
        right = [c for c in found if c.outcome is Outcome.PASSED or _is_left_open(c)]
        granted |= {c.id: _ids(program, rules) for c in right}
        again = {c.id: c for c in found}
        results = [again.get(c.id, c) for c in checks]
        every.append(
            _Again(
                program, results, context.trace.then(trace), [c for c in found if c not in right]
            )
        )
    context.session.close()  # of two files only one can be loaded; a call would load it again
    stopped: set[str] = set()
    for one in every:
        left = [c for c in one.left if c.id not in granted and not _may_break_a_rule(c)]
        for check in _failed_by_itself(one.program, context, checks, left, named):
            granted[check.id] = _ids(one.program, rules)
            if check.outcome is Outcome.ERROR:
                stopped.add(check.id)
    asked = {check.id for check in checks if check.outcome is Outcome.NOT_ASSESSED}
    return _granted(checks, granted, stopped & asked), _nearest(every, granted)


def _ids(program: Program, rules: Set[str]) -> list[str]:
    """Return the ids of a program's mistakes; a broken rule beside others changes no result."""
    others = [mistake.id for mistake in program.mistakes if mistake.killed_by not in rules]
    return others or [mistake.id for mistake in program.mistakes]


def _nearest(every: Sequence[_Again], granted: Collection[str]) -> _Again | None:
    """Return the run that leaves fewest checks failed, without those that are granted."""
    open_ = [
        replace(
            one,
            results=[c for c in one.results if c.outcome is Outcome.PASSED or c.id not in granted],
            left=[c for c in one.left if c.outcome.is_bad and c.id not in granted],
        )
        for one in every
    ]
    return min((one for one in open_ if one.left), key=lambda one: len(one.left), default=None)


def _granting_dropout(
    checks: list[CheckResult], diagnosis: Diagnosis, context: Context
) -> list[CheckResult]:
    """Return the checks, those granted that pass with torch's dropout off, if most failed ones do.

    An answer that drops in evaluation mode gives random values, which no program reproduces.
    """
    if "dropout" not in context.task.submission.source.lower():
        return checks
    context.session.close()
    left = [check for check in checks if _may_be_granted(check) and not check.granted]
    with closing(context.session.another(context.task.submission, dropout=False)) as session:
        try:
            session.load()
        except LoadFailed:
            return checks
        found, _ = _results(session, context, context.task.reference, checks, left)
    right = {check.id for check in found if check.outcome is Outcome.PASSED}
    failed = {check.id for check in left if check.outcome.is_bad}
    if 2 * len(failed & right) <= len(failed):
        return checks
    return _granted(checks, {check: [diagnosis.id] for check in right})


def _granted(
    checks: Iterable[CheckResult],
    granted: Mapping[str, list[str]],
    stopped: Collection[str] = (),
) -> list[CheckResult]:
    """Return the checks with the ids of the mistakes but for which they pass.

    Args:
        checks: What came of each.
        granted: By the id of a check that passes, those of the mistakes.
        stopped: Ids of those in which the mistakes raise, so that nothing was compared.
    """

    def changed(check: CheckResult) -> CheckResult:
        update = {"granted": granted[check.id], "stopped": check.id in stopped}
        return check.model_copy(update=update)

    return [changed(check) if check.id in granted else check for check in checks]


def _may_be_granted(check: CheckResult) -> bool:
    """Return whether a wrong computation may be the only reason why a check did not pass."""
    if check.only_if_right or check.category is Category.GPU:
        return False
    return check.outcome in (Outcome.FAILED, Outcome.ERROR, Outcome.NOT_ASSESSED)


def _results(
    session: Session,
    own: Context,
    mistaken: ModuleType,
    checks: Sequence[CheckResult],
    left: Sequence[CheckResult],
) -> tuple[list[CheckResult], Trace]:
    """Return what came of the checks in `left` with a program as the reference, and the steps."""
    if not left:
        return [], Trace()
    context = Context(session, replace(own.task, mistaken=mistaken))
    passed = [check for check in checks if check.outcome is Outcome.PASSED]
    ids = frozenset(check.id for check in left)
    # the reference itself, without dropout, is no mistake whose rounding may differ
    with while_granting() if mistaken is not own.task.reference else nullcontext():
        results = Run(context.task, context, only=ids, passed=passed).grade()
    results, _ = hold_to_rules(results, [context])
    return [check for check in results if check.id in ids], context.trace


def _failed_by_itself(
    program: Program,
    own: Context,
    checks: Sequence[CheckResult],
    left: Sequence[CheckResult],
    named: Collection[str],
) -> list[CheckResult]:
    """Return the checks that the program itself fails in the candidate's words."""
    if not left:
        return []
    submission = Submission.of(program.source, "mistake.py")
    with closing(own.session.another(submission)) as session:
        try:
            session.load()
        except LoadFailed:
            return []
        results, _ = _results(session, own, program.module, checks, left)
    found = {c.id: c for c in results}
    values = all(mistake.has_values for mistake in program.mistakes)

    def tells(check: CheckResult) -> bool:
        """Random values differ from anything in the same words, but not by the same numbers."""
        return values or check.margin is None or check.detail == found[check.id].detail

    return [
        check
        for check in left
        if check.id in found
        and tells(check)
        and _is_the_same(check, found[check.id], check.id in named)
    ]


def _may_break_a_rule(check: CheckResult) -> bool:
    """Return whether a check of a rule failed, and not only by an exception before it."""
    return check.category is Category.POLICY and check.outcome is not Outcome.ERROR


def _is_the_same(check: CheckResult, own: CheckResult, named: bool) -> bool:
    """Return whether the mistake's own program fails a check likewise, as far as can be told."""
    return _is_left_open(own) or (own.outcome.is_bad and (named or _is_alike(check, own)))


def _is_left_open(check: CheckResult) -> bool:
    """Return whether a check was left open: memory suffices by chance; no score depends on it."""
    return check.message == LeftOpen.MESSAGE


def _is_alike(one: CheckResult, other: CheckResult) -> bool:
    if one.outcome is not other.outcome:
        return False
    if one.outcome is Outcome.ERROR:  # each file words its exceptions differently
        return one.message.partition(":")[0] == other.message.partition(":")[0]
    return _NUMBERS.sub("", one.message) == _NUMBERS.sub("", other.message)
