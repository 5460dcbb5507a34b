"""What packets are made of: graded answers, from a run or from reports of earlier ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from mha_judge.bank import Bank
from mha_judge.errors import SubmissionUnreadable, UsageError
from mha_judge.report.models import Report
from mha_judge.sanitising import clean_line
from mha_judge.scoring.answers import HandedIn, candidate_of
from mha_judge.scoring.keys import Keys, versions
from mha_judge.scoring.models import Result
from mha_judge.submission import Submission
from mha_judge.version import __version__

_MAX_REPORT_BYTES = 8 * 1024**2


class Environment(BaseModel):
    """What a grade depends on beside answer and seed."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    judge_version: str
    judge_files: str
    """Hash of the judge's code."""
    problem_files: str
    """Hash of the problem's files, and of what they use."""
    python: str
    torch: str
    numpy: str

    @classmethod
    def current(cls, problem: str, keys: Keys) -> Environment:
        """Return what a problem is graded with now.

        Raises:
            BankError: If the problem has no grader.
        """
        return cls(
            judge_version=__version__,
            judge_files=keys.judge,
            problem_files=keys.of_problem(problem),
            **versions(),
        )


@dataclass(frozen=True)
class Answer:
    """A candidate's answer to one problem, and what came of it."""

    candidate: str
    problem: str
    path: str
    submission: Submission | None
    report: Report | None
    no_source: str = ""
    """Why there is no submission."""
    failure: str = ""
    """Why there is no report: the judge's own failure."""
    graded_with: Environment | None = None
    """None if that is not known: a report does not say it."""


def from_results(found: HandedIn, results: Iterable[Result], keys: Keys) -> list[Answer]:
    """Return the answers that were graded in this state of judge and bank.

    Args:
        found: The files.
        results: What came of them.
        keys: Of the judge and the bank that graded them.
    """
    known = {(result.candidate, result.problem): result for result in results}
    answers = []
    for file in found.answers:
        result = known[file.candidate, file.problem]
        answers.append(
            Answer(
                candidate=file.candidate,
                problem=file.problem,
                path=result.path,
                submission=file.submission,
                report=result.report,
                no_source=file.unreadable,
                failure=result.fault.message if result.fault is not None else "",
                graded_with=Environment.current(file.problem, keys),
            )
        )
    return answers


def from_report(path: Path, bank: Bank) -> Answer:
    """Return the answer that a report of `run --json` is about.

    Its source is that of the file that the report names, if it still is what was graded.

    Raises:
        UsageError: If it is no such report, of some checks alone, or of a problem that the bank
            does not have.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_REPORT_BYTES + 1)
        report = Report.model_validate_json(data[:_MAX_REPORT_BYTES])
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except ValidationError as error:
        raise UsageError(
            f"{path} is no report of this version; write it again with `mha-judge run --json`"
        ) from error
    if report.only:
        raise UsageError(f"{path} is of some checks alone; write it again without --only")
    bank.require(report.problem)
    graded = Path(report.submission.path)
    submission, why_not = _still(graded, report.submission.sha256)
    return Answer(
        candidate=candidate_of(graded, bank),
        problem=report.problem,
        path=clean_line(report.submission.path),
        submission=submission,
        report=report,
        no_source=clean_line(why_not),
    )


def by_candidate(answers: Iterable[Answer]) -> Mapping[str, list[Answer]]:
    """Return each candidate's answers, sorted by problem.

    Raises:
        UsageError: If one candidate has two answers to one problem.
    """
    groups: dict[str, dict[str, Answer]] = defaultdict(dict)
    for answer in sorted(answers, key=lambda answer: (answer.candidate, answer.problem)):
        other = groups[answer.candidate].setdefault(answer.problem, answer)
        if other is not answer:
            raise UsageError(
                f"{other.path} and {answer.path} are both {answer.candidate}'s answer to "
                f"{answer.problem}; name one of them"
            )
    return {candidate: list(group.values()) for candidate, group in groups.items()}


def _still(path: Path, sha256: str) -> tuple[Submission | None, str]:
    """Return the file if it is what was graded, else why it is not at hand."""
    try:
        submission = Submission.read(path)
    except SubmissionUnreadable as error:
        return None, str(error)
    if submission.sha256 != sha256:
        return None, f"{path} has changed since it was graded"
    return submission, ""
