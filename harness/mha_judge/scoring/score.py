"""Grade what is not yet graded, keep each result at once, and rank all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError, SandboxUnavailable
from mha_judge.outcomes import Verdict
from mha_judge.pool import Job, Pool
from mha_judge.report.models import LoadProblem, Report, SandboxInfo, SubmissionInfo
from mha_judge.scoring.answers import CandidateFile, HandedIn
from mha_judge.scoring.keys import Keys
from mha_judge.scoring.models import Fault, Result, Scoreboard
from mha_judge.scoring.ranking import rank
from mha_judge.scoring.results import Results
from mha_judge.scoring.similarity import similar
from mha_judge.untrusted import clean, clean_line

OnResult = Callable[[Result], None]


@dataclass(frozen=True)
class Due:
    """An answer to grade, and the hash of what its verdict will depend on."""

    answer: CandidateFile
    key: str


def due(found: HandedIn, bank: Bank, results: Results, gpu: bool, sandbox: str) -> list[Due]:
    """Return the answers that are not graded yet, or no longer as they were graded.

    Args:
        found: The answers.
        bank: Their problems.
        results: What is known.
        gpu: Whether a GPU can be reached now: what was graded without one is due again.
        sandbox: How answers are confined, as a text.
    """
    keys = Keys(bank, sandbox)
    waiting = []
    for answer in found.answers:
        key = keys.of(answer)
        known = results.known.get((answer.candidate, answer.problem))
        report = known.report if known is not None and known.key == key else None
        if report is None or (gpu and report.without_gpu):
            waiting.append(Due(answer, key))
    return waiting


def grade_all(
    waiting: Sequence[Due],
    bank: Bank,
    pool: Pool,
    results: Results,
    progress: OnResult = lambda _: None,
) -> None:
    """Grade every answer; one that the judge fails on does not stop the others.

    Args:
        waiting: The answers that are due.
        bank: Their problems.
        pool: What grades.
        results: What is known, and where more is kept.
        progress: Told each final result.

    Raises:
        SandboxUnavailable: Nothing runs at all.
        UsageError: A result cannot be written.
    """
    for result in graded(waiting, bank, pool, results.seed):
        results.add(result)
        progress(result)


def graded(waiting: Sequence[Due], bank: Bank, pool: Pool, seed: int) -> Iterator[Result]:
    """Yield what comes of each answer, as it is known; the judge's own failures are tried twice.

    Args:
        waiting: The answers.
        bank: Their problems.
        pool: What grades.
        seed: Of all of them.

    Raises:
        SandboxUnavailable: Nothing runs at all.
    """
    for one in waiting:
        if one.answer.submission is None:
            yield _result(one, _unreadable(one.answer, bank, seed))
    again: list[Due] = []
    alive = False
    for one, result in _tried([one for one in waiting if one.answer.submission], pool, seed):
        if isinstance(result, SandboxUnavailable) and not alive:
            raise result
        alive = True
        if isinstance(result, JudgeError):
            again.append(one)
        else:
            yield _result(one, result)
    for one in again:  # by itself: if a process dies of it, it is this one's doing
        for _, result in _tried([one], pool, seed):
            yield _result(one, result)


def scoreboard(
    found: HandedIn, bank: Bank, results: Results, weights: Mapping[str, float]
) -> Scoreboard:
    """Rank the candidates by what is known of their answers now."""
    board = rank(found, results, weights, bank)
    return board.model_copy(update={"similar": similar(found.answers, bank)})


def _tried(
    waiting: Sequence[Due], pool: Pool, seed: int
) -> Iterator[tuple[Due, Report | JudgeError]]:
    jobs = []
    for one in waiting:
        assert one.answer.submission is not None
        jobs.append(Job(one.answer.problem, one.answer.submission, seed))
    for index, result in pool.graded(jobs):
        yield waiting[index], result


def _result(one: Due, graded: Report | JudgeError) -> Result:
    return Result(
        candidate=one.answer.candidate,
        problem=one.answer.problem,
        path=clean_line(str(one.answer.path)),
        key=one.key,
        report=None if isinstance(graded, JudgeError) else graded,
        fault=_fault(graded) if isinstance(graded, JudgeError) else None,
    )


def _fault(error: JudgeError) -> Fault:
    return Fault(
        kind=type(error).__name__, message=clean(str(error), 4_000), exit_code=error.exit_code
    )


def _unreadable(answer: CandidateFile, bank: Bank, seed: int) -> Report:
    """Return the report of a file that was never run."""
    return Report(
        problem=answer.problem,
        title=bank.problem(answer.problem).title,
        submission=SubmissionInfo(path=clean_line(str(answer.path)), sha256=""),
        verdict=Verdict.ERROR,
        score=0.0,
        strict_score=0.0,
        seed=seed,
        sandbox=SandboxInfo(backend="none", tier="nothing was run"),
        load_problem=LoadProblem(message=answer.unreadable),
    )
