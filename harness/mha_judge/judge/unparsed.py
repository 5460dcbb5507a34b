"""Files that are not Python: reported at once, as nothing in them can run."""

from __future__ import annotations

from pathlib import Path

from mha_judge.bank.problem import Problem
from mha_judge.errors import SubmissionUnreadable
from mha_judge.judge.repair import Stop, repairs
from mha_judge.outcomes import Verdict
from mha_judge.report.models import NOTHING_RUN, LoadProblem, Report, SandboxInfo, SubmissionInfo
from mha_judge.sanitising import clean_line
from mha_judge.submission import Submission
from mha_judge.syntax import syntax_error

_MOST_SHOWN = 300
"""Characters that are shown of a line."""


def unparsed(
    submission: Submission, problem: Problem, *, seed: int, verdict_only: bool = False
) -> Report | None:
    """Return the report of a file that is not Python, and that no known repair makes Python.

    It says what a worker would say. None if the file must be run to know more.
    """
    error = syntax_error(submission.source)
    if error is None:
        return None
    found = _told(error)
    stop = Stop(found.message, found.line or 0, found.column or 0)
    if next(repairs(submission.source, stop), None) is not None:
        return None
    info = SubmissionInfo(path=clean_line(str(submission.path)), sha256=submission.sha256)
    report = without_running(problem, info, found, seed)
    return report.model_copy(update={"verdict_only": verdict_only})


def without_running(
    problem: Problem, submission: SubmissionInfo, found: LoadProblem, seed: int
) -> Report:
    """Return the report of a file that was not run."""
    return Report(
        problem=problem.id,
        title=problem.title,
        submission=submission,
        verdict=Verdict.ERROR,
        score=0.0,
        strict_score=0.0,
        seed=seed,
        sandbox=SandboxInfo(backend="none", tier=NOTHING_RUN),
        load_problem=found,
    )


def unread(problem: Problem, path: Path, error: SubmissionUnreadable) -> Report:
    """Return the report of a file that could not even be read."""
    info = SubmissionInfo(path=clean_line(str(path)), sha256="")
    return without_running(problem, info, LoadProblem(message=clean_line(str(error))), seed=0)


def _told(error: SyntaxError) -> LoadProblem:
    source = (error.text or "").rstrip()[:_MOST_SHOWN]
    return LoadProblem(
        message=f"{type(error).__name__}: {clean_line(error.msg)}",
        line=error.lineno,
        column=error.offset,
        source=clean_line(source) if source else None,
    )
