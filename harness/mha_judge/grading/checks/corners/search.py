"""Asks the questions of checks in corners of the domain: on pairs of axes, unfit, and long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.checks.cases import Case, cases_of
from mha_judge.grading.checks.claims import Wrong
from mha_judge.grading.checks.corners.asking import Asking, Finding, in_turn
from mha_judge.grading.checks.corners.lengths import long
from mha_judge.grading.checks.corners.masks import open_keys
from mha_judge.grading.checks.corners.pairwise import pairwise
from mha_judge.grading.checks.corners.sizes import unfit
from mha_judge.grading.expecting.answer import Answer, assert_close
from mha_judge.grading.failures import CheckFailure, OutOfTime, TimedOut
from mha_judge.wire.operations import Operation


def search_corners(
    context: Context, checks: Sequence[str], until_failure: bool = False
) -> list[Wrong]:
    """Ask the questions of some checks in corners of the domain, and return what is wrong there.

    Args:
        context: The candidate's context.
        checks: Ids of the checks.
        until_failure: Whether to stop at the first wrong result.
    """
    steps = [step for check in checks for step in context.trace.of(check)]
    with context.trials():
        cases = list(_right(cases_of(steps)))
        left_alone = _looked_at(steps) - _looked_at(context.trace.without(checks))
        asking = Asking(context, cases, _with_blocked_rows(steps), left_alone)
        found: list[Wrong] = []
        findings = _findings(asking, cases, _differentiated(steps), until_failure)
        for finding in findings:
            if finding.failure is not None:
                found.append(Wrong(frozenset({finding.axis}), finding.where, finding.failure))
                if until_failure:
                    return found
        if not any("after" in one.axes for one in found) and _are_overwritten(context):
            failure = CheckFailure("writes to a result that it has returned")
            found.append(Wrong(frozenset({"after"}), AXES["after"]["calls"], failure))
        # what is asked when no time is left tells of nothing else
        return [one for one in found if not isinstance(one.failure, OutOfTime)] or found[:1]


def _are_overwritten(context: Context) -> bool:
    """Return whether later calls have changed the result of an earlier one, as the worker tells."""
    with suppress(CheckFailure):
        return bool(context.session.request(Operation.OVERWRITTEN).any)
    return False


def _findings(
    asking: Asking,
    cases: Sequence[Case],
    wrt: Mapping[str, Sequence[int]],
    until_failure: bool,
) -> Iterator[Finding]:
    """Yield the outcome of every question, entry by entry."""
    by_entry: dict[str, list[Case]] = {}
    for case in cases:
        by_entry.setdefault(case.target.entry.name, []).append(case)
    for name, own in by_entry.items():
        asking.enter(f"domain {name} pairs")
        found = pairwise(asking, own, wrt, until_failure)
        yield from found
        if any(isinstance(finding.failure, OutOfTime) for finding in found):
            return
        asking.enter(f"domain {name} sizes")
        yield from in_turn(unfit(asking, [asking.living(one) for one in own]))
        if any(_is_late(finding) for finding in found):
            continue  # it has timed out, and would take as long again
        asking.enter(f"domain {name} lengths")
        for finding in in_turn(long(asking, own, wrt)):
            yield finding
            if _is_late(finding):
                break


def _is_late(finding: Finding) -> bool:
    return isinstance(finding.failure, TimedOut)


def _right(cases: Sequence[Case]) -> Iterator[Case]:
    """Yield cases, each with the names of the results that are right in its plain call."""
    for case in cases:
        try:
            answer = case.target(*case.args)
        except CheckFailure:
            continue
        given = (name for name, value in answer.expected.items() if value is not None)
        wanted = (name for name in given if name not in case.target.entry.ungraded)
        names = tuple(name for name in wanted if _is_right(answer, name))
        if names:
            yield replace(case, names=names)


def _is_right(answer: Answer, name: str) -> bool:
    try:
        assert_close(answer, name)
    except (CheckFailure, ValueError):  # wrong, or not defined by the contract
        return False
    return True


def _looked_at(steps: Sequence[Step]) -> set[str]:
    """Return the entries for which a step asked whether they change their inputs."""
    return {step.target.entry.name for step in steps if step.options.get("inputs_after")}


def _with_blocked_rows(steps: Sequence[Step]) -> set[str]:
    """Return the entries that were asked with a mask in which a row has no open key."""
    return {
        step.target.entry.name
        for step in steps
        for open_ in open_keys(step.target.entry, step.args).values()
        if step.failure is None and not bool(open_.any(-1).all())
    }


def _differentiated(steps: Sequence[Step]) -> dict[str, list[int]]:
    """Return by entry the inputs whose gradients are asked for."""
    found: dict[str, list[int]] = {}
    for step in steps:
        if step.wrt:
            known = found.setdefault(step.target.entry.name, [])
            known += [index for index in step.wrt if index not in known]
    return found
