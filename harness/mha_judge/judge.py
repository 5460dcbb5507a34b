"""grade(submission, problem, …) -> Report: one submission from source to verdict."""

from __future__ import annotations

import functools
import gc
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.outcomes import Outcome, Verdict
from mha_judge.problem import Problem
from mha_judge.processor import hold_instruction_set
from mha_judge.references import load_reference
from mha_judge.report.models import (
    CheckResult,
    Diagnosis,
    LoadProblem,
    Output,
    PolicyFinding,
    Report,
    SandboxInfo,
    SubmissionInfo,
)
from mha_judge.report.untrusted import clean, clean_line
from mha_judge.sandbox.base import Channel, Tier
from mha_judge.submission import Submission

if TYPE_CHECKING:
    from mha_judge.diagnosis import Diagnostician
    from mha_judge.gpu import Gpus
    from mha_judge.grading.calling.candidate import Candidate
    from mha_judge.grading.calling.replies import Definition
    from mha_judge.grading.calling.session import LoadFailed
    from mha_judge.grading.checks.gpu import OnGpu

MAX_SEED = 2**53  # a number that every reader of the JSON can hold exactly


def grade(
    submission: Submission,
    bank: Bank,
    problem: Problem,
    channel: Channel,
    *,
    seed: int | None = None,
    only: Iterable[str] = (),
    verdict_only: bool = False,
    gpus: Gpus | None = None,
) -> Report:
    """Grade one submission.

    Args:
        submission: The file, read once.
        bank: Where grader and reference lie.
        problem: What is asked.
        channel: A supervisor that was started before, so that its imports overlap with ours.
        seed: Repeats the inputs of an earlier report; by default fresh from the system.
        only: Ids of the checks to run; all by default.
        verdict_only: Stop at the first check that fails, and explain nothing.
        gpus: Access to a GPU; without it no check on a GPU is assessed.

    Raises:
        JudgeError: No verdict could be reached; the submission is not to blame.
    """
    started = time.monotonic()
    hold_instruction_set()
    import torch  # while the supervisor imports it too

    from mha_judge.grading.calling.candidate import Candidate
    from mha_judge.grading.calling.session import LoadFailed, Session
    from mha_judge.grading.checks.policy import findings, held_to
    from mha_judge.grading.checks.running import Run

    torch.set_num_threads(1)
    _freeze_what_is_imported()
    imported = time.monotonic()
    seed = secrets.randbelow(MAX_SEED) if seed is None else seed
    grader = str(bank.grader(problem.id))
    reference = load_reference(bank, problem.id)
    questions = bank.questions(problem.id)
    with (
        closing(Session(channel, submission, problem.limits)) as session,
        _on_gpu(gpus, submission, bank, problem, reference, seed) as gpu,
    ):
        failure: LoadFailed | None = None
        try:
            session.load()
        except LoadFailed as error:
            failure = error
        loaded = time.monotonic()
        candidate = None
        if failure is None:
            failure = _entry_failure(problem, session.definitions)
        if failure is None:
            candidate = Candidate(session, problem, reference, seed, submission.source, questions)
            if not verdict_only:
                # called only where something is wrong: a right answer never reads the mistakes
                candidate.recognise = lambda step: _diagnostician(
                    bank, problem, reference
                ).recognises(step)
        reason = "the file did not load" if failure is not None else ""
        run = Run(candidate, seed, reason, frozenset(only), verdict_only, questions, gpu)
        results = run.grade(grader)
        policy: list[PolicyFinding] = []
        if candidate is not None:
            everywhere = [candidate, *([gpu.candidate] if gpu and gpu.candidate else [])]
            rules = dict.fromkeys(candidate.rules.values())
            policy = [f for one in everywhere for rule in rules for f in findings(one, rule)]
            results = held_to(results, candidate.rules, policy)
        notes = [*(candidate.notes if candidate is not None else []), *(gpu.notes if gpu else [])]
        device = gpu.device if gpu is not None else "cpu"
    checked = time.monotonic()
    if only and not results:
        raise UsageError(
            f"no check is called {', '.join(sorted(only))}; the report lists their ids"
        )
    if all(check.advisory for check in results):
        raise UsageError("nothing that counts was checked; name a check that is not advisory")
    assert session.tier is not None
    checks = _scaled(results)
    explained = None if verdict_only else candidate
    diagnoses = _diagnose(bank, problem, reference, explained, checks)
    ended = time.monotonic()
    return Report(
        problem=problem.id,
        title=problem.title,
        submission=SubmissionInfo(path=clean_line(str(submission.path)), sha256=submission.sha256),
        verdict=failure.verdict if failure is not None else _verdict(checks),
        score=_score(checks),
        seed=seed,
        device=device,
        instruction_set=_instruction_set(session.tier),
        no_gpu=run.no_gpu,
        sandbox=SandboxInfo(
            backend=session.tier.backend, tier=session.tier.tier, details=session.tier.details
        ),
        load_problem=failure.problem if failure is not None else None,
        checks=_with_titles(checks, diagnoses),
        diagnoses=diagnoses,
        policy=policy,
        notes=[clean_line(note) for note in dict.fromkeys(notes)],
        hints=_hints(problem, checks),
        cost={
            "cpu_s": round(session.cpu_s, 4),
            "peak_memory_bytes": float(session.peak_memory_bytes),
        },
        output=Output(
            text=clean(session.output, 64 * 1024),
            truncated=session.output_bytes > len(session.output.encode()),
        ),
        timings_s={
            "imports": round(imported - started, 4),
            "load": round(loaded - imported, 4),
            "checks": round(checked - loaded, 4),
            "diagnosis": round(ended - checked, 4),
            "total": round(ended - started, 4),
        },
    )


def _instruction_set(tier: Tier) -> str:
    """Return what the worker computed with, and the judge where a library's user let it differ."""
    import torch

    worker, judge = tier.instruction_set, torch.backends.cpu.get_cpu_capability()
    return worker if worker == judge else f"{worker} (the judge: {judge})"


@contextmanager
def _on_gpu(
    gpus: Gpus | None,
    submission: Submission,
    bank: Bank,
    problem: Problem,
    reference: ModuleType,
    seed: int,
) -> Iterator[OnGpu | None]:
    """Give the submission access to a GPU, if there is one, until its worker there has ended."""
    if gpus is None:
        yield None
        return
    from mha_judge.grading.checks.gpu import OnGpu

    with closing(OnGpu(gpus, submission, bank, problem, reference, seed)) as gpu:
        yield gpu


@functools.cache  # asking the collector whether it was done takes as long as a check
def _freeze_what_is_imported() -> None:
    """Keep torch's heap out of garbage collection: walking it takes longer than a check."""
    gc.freeze()


def _diagnose(
    bank: Bank,
    problem: Problem,
    reference: ModuleType,
    candidate: Candidate | None,
    checks: list[CheckResult],
) -> list[Diagnosis]:
    """Return the known mistakes that explain what failed."""
    failed = any(c.outcome is not Outcome.PASSED and not c.advisory for c in checks)
    if candidate is None or not failed:
        return []
    return _diagnostician(bank, problem, reference).explain(checks, candidate.trace)


def _diagnostician(bank: Bank, problem: Problem, reference: ModuleType) -> Diagnostician:
    from mha_judge.diagnosis import Diagnostician

    return Diagnostician.of(bank, problem.id, reference)


def _with_titles(checks: list[CheckResult], diagnoses: list[Diagnosis]) -> list[CheckResult]:
    """Return the checks, each with the titles of the mistakes that explain it."""
    titles = {
        check.id: "; ".join(d.title for d in diagnoses if check.id in d.checks) for check in checks
    }
    return [check.model_copy(update={"diagnosis": titles[check.id] or None}) for check in checks]


def _entry_failure(problem: Problem, definitions: Mapping[str, Definition]) -> LoadFailed | None:
    """Return a failure if the file has none of the problem's entries, None if it has one."""
    from mha_judge.grading.binding.entries import EntryMissing, find_entry
    from mha_judge.grading.calling.session import LoadFailed

    missing: list[str] = []
    for entry in problem.entry:
        try:
            find_entry(entry, definitions)
        except EntryMissing as error:
            missing.append(error.message)
    if len(missing) < len(problem.entry):
        return None
    return LoadFailed(Verdict.ERROR, LoadProblem(message=clean(missing[0])))


def _verdict(checks: list[CheckResult]) -> Verdict:
    """Accepted if every check that counts passed."""
    counting = [check for check in checks if not check.advisory]
    passed = all(check.outcome is Outcome.PASSED for check in counting)
    return Verdict.ACCEPTED if passed else Verdict.REJECTED


def _scaled(results: list[CheckResult]) -> list[CheckResult]:
    """Return the checks with their points scaled so that a problem's add up to 100."""
    total = sum(result.max_points for result in results) or 1.0
    return [
        result.model_copy(
            update={
                "points": round(100 * result.points / total, 4),
                "max_points": round(100 * result.max_points / total, 4),
            }
        )
        for result in results
    ]


def _score(checks: list[CheckResult]) -> float:
    if checks and all(c.points == c.max_points for c in checks):
        return 100.0
    return min(round(sum(check.points for check in checks), 1), 99.9)


def _hints(problem: Problem, checks: list[CheckResult]) -> dict[str, str]:
    failed = {str(c.category) for c in checks if c.outcome is not Outcome.PASSED and not c.advisory}
    return {name: text for name, text in problem.hints.items() if name in failed}
