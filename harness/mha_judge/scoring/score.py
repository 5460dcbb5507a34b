"""Grade what is not yet graded, keep each result at once, and rank all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError, SandboxUnavailable
from mha_judge.judge.unparsed import without_running
from mha_judge.pool import Job, Workforce
from mha_judge.report.models import LoadProblem, Report, SubmissionInfo
from mha_judge.sanitising import clean, clean_line
from mha_judge.scoring.answers import CandidateFile, HandedIn
from mha_judge.scoring.keys import Keys
from mha_judge.scoring.models import Fault, Result, Scoreboard
from mha_judge.scoring.ranking import rank
from mha_judge.scoring.results import Results
from mha_judge.scoring.similarity import similar

OnResult = Callable[[Result], None]


@dataclass(frozen=True)
class Due:
    """An answer to grade, and the hash of what its verdict will depend on."""

    answer: CandidateFile
    key: str
    known: Report | None = None
    """What came of the same source, if somebody else handed it in and it was graded."""


def due(
    found: HandedIn,
    bank: Bank,
    results: Results,
    gpu: bool,
    sandbox: str,
    verdict_only: bool = False,
) -> list[Due]:
    """Return the answers that are not graded yet, or no longer as they were graded.

    Args:
        found: The answers.
        bank: Their problems.
        results: What is known.
        gpu: Whether a GPU can be reached now: what was graded without one is due again.
        sandbox: How answers are confined, as a text.
        verdict_only: Whether only verdicts are asked for.
    """
    keys = Keys(bank, f"{sandbox}, verdict only" if verdict_only else sandbox)
    known = {
        result.key: result.report
        for result in results.known.values()
        if result.report is not None and not (gpu and result.report.without_gpu)
    }
    waiting = []
    for answer in found.answers:
        key = keys.of(answer)
        own = results.known.get((answer.candidate, answer.problem))
        if key not in known or own is None or own.key != key:
            waiting.append(Due(answer, key, known.get(key)))
    return waiting


def grade_all(
    waiting: Sequence[Due],
    bank: Bank,
    workforce: Workforce,
    results: Results,
    progress: OnResult = lambda _: None,
    verdict_only: bool = False,
) -> None:
    """Grade every answer; one that the judge fails on does not stop the others.

    Args:
        waiting: The answers that are due.
        bank: Their problems.
        workforce: What grades.
        results: What is known, and where more is kept.
        progress: Told each final result.
        verdict_only: Stop at the first check of an answer that fails, and explain nothing.

    Raises:
        SandboxUnavailable: Nothing runs at all.
        UsageError: A result cannot be written.
    """
    for result in graded(waiting, bank, workforce, results.seed, verdict_only):
        results.add(result)
        progress(result)


def graded(
    waiting: Sequence[Due], bank: Bank, workforce: Workforce, seed: int, verdict_only: bool = False
) -> Iterator[Result]:
    """Yield what comes of each answer, as it is known; the judge's own failures are tried twice.

    The same source for the same problem is graded once, whoever hands it in.

    Args:
        waiting: The answers.
        bank: Their problems.
        workforce: What grades.
        seed: Of all of them.
        verdict_only: Stop at the first check of an answer that fails, and explain nothing.

    Raises:
        SandboxUnavailable: Nothing runs at all.
    """
    alike: dict[str, list[Due]] = {}
    for one in waiting:
        if one.answer.submission is None:
            yield _result(one, _unreadable(one.answer, bank, seed))
        elif one.known is not None:
            yield _result(one, one.known)
        else:
            alike.setdefault(one.key, []).append(one)
    # problem by problem: what a process remembers of one serves its next grade
    first = sorted((same[0] for same in alike.values()), key=lambda one: one.answer.problem)
    again: list[Due] = []
    alive = False
    for one, report in _tried(first, workforce, seed, verdict_only):
        if isinstance(report, SandboxUnavailable) and not alive:
            raise report
        alive = True
        if isinstance(report, JudgeError):
            again.append(one)
        else:
            yield from (_result(other, report) for other in alike[one.key])
    for one in again:  # by itself: if a process dies of it, it is this one's doing
        for _, report in _tried([one], workforce, seed, verdict_only):
            yield from (_result(other, report) for other in alike[one.key])


def scoreboard(
    found: HandedIn, bank: Bank, results: Results, weights: Mapping[str, float]
) -> Scoreboard:
    """Rank the candidates by what is known of their answers now."""
    board = rank(found, results, weights, bank)
    return board.model_copy(update={"similar": similar(found.answers, bank)})


def _tried(
    waiting: Sequence[Due], workforce: Workforce, seed: int, verdict_only: bool
) -> Iterator[tuple[Due, Report | JudgeError]]:
    jobs = []
    for one in waiting:
        assert one.answer.submission is not None
        jobs.append(Job(one.answer.problem, one.answer.submission, seed, verdict_only))
    for index, result in workforce.graded(jobs):
        yield waiting[index], result


def _result(one: Due, graded: Report | JudgeError) -> Result:
    path = clean_line(str(one.answer.path))
    fault = _fault(graded) if isinstance(graded, JudgeError) else None
    report = None if isinstance(graded, JudgeError) else _at(path, graded)
    return Result(
        candidate=one.answer.candidate,
        problem=one.answer.problem,
        path=path,
        key=one.key,
        report=report,
        fault=fault,
    )


def _at(path: str, report: Report) -> Report:
    """Return what came of a source as the report of a file that holds it."""
    submission = report.submission.model_copy(update={"path": path})
    return report.model_copy(update={"submission": submission})


def _fault(error: JudgeError) -> Fault:
    return Fault(
        kind=type(error).__name__, message=clean(str(error), 4_000), exit_code=error.exit_code
    )


def _unreadable(answer: CandidateFile, bank: Bank, seed: int) -> Report:
    """Return the report of a file that was never run."""
    submission = SubmissionInfo(path=clean_line(str(answer.path)), sha256="")
    found = LoadProblem(message=answer.unreadable)
    return without_running(bank.problem(answer.problem), submission, found, seed)
