"""Varying the questions of checks in every respect."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.checks.cases import Case, cases_of
from mha_judge.grading.checks.claims import Wrong
from mha_judge.grading.checks.elsewhere import identity, sizes
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding, Way
from mha_judge.grading.checks.elsewhere.gradients import gradients
from mha_judge.grading.checks.elsewhere.lengths import Lengths
from mha_judge.grading.checks.elsewhere.masks import MaskDtypes, open_keys, unchanged
from mha_judge.grading.checks.elsewhere.scores import scores
from mha_judge.grading.checks.elsewhere.together import together
from mha_judge.grading.checks.elsewhere.values import values
from mha_judge.grading.expecting.answer import Answer, assert_close
from mha_judge.grading.failures import CheckFailure, TimedOut


def look_elsewhere(
    context: Context, checks: Sequence[str], until_failure: bool = False
) -> list[Wrong]:
    """Vary the questions of some checks, until one thing of each kind is wrong, or just one."""
    found: list[Wrong] = []
    steps = [step for check in checks for step in context.trace.of(check)]
    with context.trials():
        cases = list(_right(cases_of(steps)))
        asking = Asking(context, cases, _with_blocked_rows(steps))
        ways = _ways(asking, _differentiated(steps))
        asked: Counter[str] = Counter()
        for case in cases:
            if until_failure and found:
                break
            name = case.target.entry.name
            for axis, way in ways.items():
                if not _is_about(axis, found):
                    asking.enter(f"domain {name} {asked[name]} {axis}")
                    _take(axis, way(case, asked[name]), found)
            asked[name] += 1
        for name in asked:
            if not found:  # what is wrong in one respect is wrong in two
                own = [case for case in cases if case.target.entry.name == name]
                asking.enter(f"domain {name} together")
                _take("together", together(asking, own), found)
    return found


def _ways(asking: Asking, wrt: Mapping[str, Sequence[int]]) -> dict[str, Way]:
    return {
        "scores": functools.partial(scores, asking),
        "values": functools.partial(values, asking),
        "mask dtype": MaskDtypes(asking).ask,
        "inputs": functools.partial(unchanged, asking),
        "one object": functools.partial(identity.one_object, asking),
        "gradients": functools.partial(gradients, asking, wrt),
        "sizes": functools.partial(sizes.unfit, asking),
        "equal": functools.partial(sizes.equal, asking),
        "weights": functools.partial(identity.other_weights, asking),
        "length": Lengths(asking).ask,
    }


def _take(axis: str, findings: Iterator[Finding], found: list[Wrong]) -> None:
    """Keep the first thing that is wrong; that time is used up is nothing wrong here."""
    try:
        for finding in findings:
            about = finding.axis or axis
            failure = finding.failure
            if failure is None or isinstance(failure, TimedOut) or _is_about(about, found):
                continue
            found.append(Wrong(frozenset({about}), finding.where, failure))
            if about == axis:
                return
    except CheckFailure:  # of a layer that could not be made any more
        return


def _is_about(axis: str, found: Iterable[Wrong]) -> bool:
    return any(axis in one.axes for one in found)


def _right(cases: Sequence[Case]) -> Iterator[Case]:
    """Yield cases with the results that are right as they are asked."""
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
    except (CheckFailure, ValueError):  # wrong, or nothing that the contract says
        return False
    return True


def _with_blocked_rows(steps: Sequence[Step]) -> set[str]:
    """Return the entries that were asked with a mask in which a row has no open key."""
    return {
        step.target.entry.name
        for step in steps
        for open_ in open_keys(step.target.entry, step.args).values()
        if step.failure is None and not bool(open_.any(-1).all())
    }


def _differentiated(steps: Sequence[Step]) -> dict[str, list[int]]:
    """Return by entry which inputs gradients are asked for."""
    found: dict[str, list[int]] = {}
    for step in steps:
        if step.wrt:
            known = found.setdefault(step.target.entry.name, [])
            known += [index for index in step.wrt if index not in known]
    return found
