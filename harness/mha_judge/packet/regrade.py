"""Whether answers get today the grade that a bundle says they got."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict

from mha_judge.packet.answers import Environment
from mha_judge.packet.bundle import Bundled
from mha_judge.report.models import Report
from mha_judge.sanitising import clean_line


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Difference(_Model):
    """Something that is not as it was."""

    what: str
    then: str
    now: str


class Regraded(_Model):
    """One answer, graded again."""

    problem: str
    agrees: bool
    verdict: str
    """As it is now, like the score."""
    score: float
    differences: list[Difference] = []
    """Between the grades."""
    changes: list[str] = []
    """What a grade depends on, and is not as it was."""


class Regrade(_Model):
    """All answers of a bundle, graded again."""

    schema_version: Literal[1] = 1
    candidate: str
    agrees: bool
    answers: list[Regraded]


def compared(bundled: Bundled, now: Report, environment: Environment) -> Regraded:
    """Return what differs between the grade in a bundle and one of today, and what may be why.

    Args:
        bundled: The answer, and its report.
        now: Its report of today, with the same seed.
        environment: What it was graded with today.
    """
    differences = list(_differences(bundled.report, now))
    return Regraded(
        problem=now.problem,
        agrees=not differences,
        verdict=now.verdict,
        score=now.score,
        differences=differences,
        changes=[*_other_parts(bundled, now), *_other_environment(bundled, environment)],
    )


def _differences(then: Report, now: Report) -> Iterator[Difference]:
    yield from _difference("verdict", then.verdict, now.verdict)
    yield from _difference("score", f"{then.score:g}", f"{now.score:g}")
    yield from _difference("strict score", f"{then.strict_score:g}", f"{now.strict_score:g}")
    before, after = ({c.id: c.outcome for c in report.checks} for report in (then, now))
    for check in dict.fromkeys((*before, *after)):
        yield from _difference(
            f"check {check}", before.get(check, "not there"), after.get(check, "not there")
        )
    yield from _difference("diagnoses", _mistakes(then), _mistakes(now))


def _difference(what: str, then: str, now: str) -> Iterator[Difference]:
    if then != now:
        yield Difference(what=clean_line(what), then=clean_line(then), now=clean_line(now))


def _mistakes(report: Report) -> str:
    return ", ".join(sorted(diagnosis.id for diagnosis in report.diagnoses)) or "none"


def _other_environment(bundled: Bundled, now: Environment) -> Iterator[str]:
    then = bundled.entry.graded_with
    if then is None:
        yield "the bundle does not say which judge, problem and libraries it was graded with"
        return
    if then.problem_files != now.problem_files:
        yield "the problem's files are others: it is another bank, or it has been changed"
    if then.judge_version != now.judge_version:
        yield _was("the judge's version", then.judge_version, now.judge_version)
    elif then.judge_files != now.judge_files:
        yield f"the judge's code is other code, though its version is {now.judge_version} still"
    for name in ("python", "torch", "numpy"):
        before, after = getattr(then, name), getattr(now, name)
        if before != after:
            yield _was(f"the version of {name}", before, after)


def _other_parts(bundled: Bundled, now: Report) -> Iterator[str]:
    then = bundled.report
    parts = {
        "the instruction set": (then.instruction_set, now.instruction_set),
        "the device": (then.device, now.device),
        "the sandbox": (then.sandbox.tier, now.sandbox.tier),
    }
    for what, (before, after) in parts.items():
        if before != after:
            yield _was(what, before, after)
    if {check.id for check in then.checks} < {check.id for check in now.checks}:
        yield "the report in the bundle has only some of the checks"


def _was(what: str, then: str, now: str) -> str:
    return f"{what} was {clean_line(then)}, and is {clean_line(now)}"
