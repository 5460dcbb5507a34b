"""grade(submission, problem, …) -> Report: one submission from source to verdict, step by step.

The file is loaded into a worker. The checks run, those on a GPU in a second worker. A rule that a
later call broke fails its check. Points are given; known mistakes are found that explain the
failures; checks that did not pass run again with these mistakes granted. The report holds all of
it. A file that a slip stops is graded once more with this one place repaired.
"""

from __future__ import annotations

import functools
import gc
import itertools
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mha_judge.bank import Bank, none_such
from mha_judge.bank.problem import Problem
from mha_judge.bank.references import load_reference
from mha_judge.errors import UsageError
from mha_judge.judge import points
from mha_judge.judge.repair import ID as REPAIRED
from mha_judge.judge.repair import Repair, Stop, repairs, stop_of
from mha_judge.judge.unparsed import unparsed
from mha_judge.outcomes import Category, Outcome, Verdict
from mha_judge.processor import hold_instruction_set
from mha_judge.report.models import (
    CheckResult,
    Diagnosis,
    FailingCall,
    LoadProblem,
    Output,
    Report,
    SandboxInfo,
    SubmissionInfo,
)
from mha_judge.sandbox.base import Channel, Tier
from mha_judge.sanitising import clean, clean_line
from mha_judge.submission import Submission

if TYPE_CHECKING:
    from mha_judge.diagnosis import Diagnostician, Explanation
    from mha_judge.gpu import GpuAccess
    from mha_judge.grading.calling.context import Context, Task
    from mha_judge.grading.calling.gpu import GpuLease
    from mha_judge.grading.calling.session import LoadFailed, Session
    from mha_judge.grading.checks.running import Run
    from mha_judge.trying.attempt import Attempt
    from mha_judge.trying.script import Proxy

_ON_ITS_OWN_PATH = (
    "Where torch has its own attention, the file uses it. It was graded as where torch has none, "
    "on the path that it takes there."
)
_NO_FUSED_ATTENTION = "fused-attention"
"""The rule that attention is written from scratch."""
_MOST_PRINTED = 4_000
"""Characters that are shown of what a file printed in a call of one's own."""
_MOST_REPAIRS = 24
"""How many are tried of a file that does not run, on some checks."""
_MOST_TRIED_ON = 4
"""On how many checks."""
_MOST_REGRADED = 3
"""How many repairs are graded, of those with which some of these checks pass."""
MAX_SEED = 2**53  # a number that every reader of the JSON can hold exactly


def fresh_seed() -> int:
    """Return a seed from the system, which no submission can foresee."""
    return secrets.randbelow(MAX_SEED)


def grade(
    submission: Submission,
    bank: Bank,
    problem: Problem,
    channel: Channel,
    *,
    seed: int | None = None,
    only: Iterable[str] = (),
    verdict_only: bool = False,
    gpus: GpuAccess | None = None,
    on_check: Callable[[CheckResult], None] | None = None,
    shows_call: bool = True,
) -> Report:
    """Grade one submission.

    Args:
        submission: The file, read once.
        bank: Holds the grader and the reference.
        problem: What is asked.
        channel: A supervisor that was started earlier, so that its imports overlap with ours.
        seed: Repeats the inputs of an earlier report; by default fresh from the system.
        only: Ids of the checks to run; all by default.
        verdict_only: Stop at the first check that fails, and explain nothing.
        gpus: Access to a GPU; without it no check on a GPU is assessed.
        on_check: Called with each check when it is done; the report may still change it.
        shows_call: Look for the smallest call that goes wrong.

    Raises:
        JudgeError: No verdict could be reached; the submission is not to blame.
    """
    seed = fresh_seed() if seed is None else seed
    report = unparsed(submission, problem, seed=seed, verdict_only=verdict_only)
    if report is not None:
        return report
    asked = _Asked(
        submission, bank, problem, channel, seed, frozenset(only), verdict_only, gpus, shows_call
    )
    report = _on_its_own_path(asked, on_check)
    return report if verdict_only or asked.only else _repaired(asked, report)


def try_call(
    submission: Submission, bank: Bank, problem: Problem, channel: Channel, code: str, *, seed: int
) -> Attempt:
    """Run code that calls a submission and the reference, and return what its last call gave.

    Args:
        submission: The file, read once.
        bank: Holds the reference.
        problem: What the file answers.
        channel: A supervisor that was started earlier.
        code: Assignments and calls, as `trying.notation` reads them.
        seed: Of a layer's weights and of drawn inputs.

    Raises:
        UsageError: The code cannot be read, or there is nothing that it could call.
    """
    prepare()
    from mha_judge.grading.binding.entries import EntryMissing
    from mha_judge.grading.calling.candidate import Candidate, context_of
    from mha_judge.grading.calling.context import Context
    from mha_judge.grading.calling.session import LoadFailed, Session
    from mha_judge.trying.script import Script

    if problem.asks_questions:
        raise UsageError(f"{problem.id} asks questions; there is nothing to call")
    asked = _Asked(submission, bank, problem, channel, seed, frozenset(), False, None, False)
    with closing(Session(channel, submission, problem.limits, seed=seed)) as session:
        try:
            session.load()
        except LoadFailed as error:
            place = f"line {error.problem.line}: " if error.problem.line is not None else ""
            raise UsageError(f"{submission.path} does not load: {place}{error}") from error
        candidate = Candidate(Context(session, _task(asked, None)))
        proxies: dict[str, Proxy] = {}
        missing: list[str] = []
        for entry in problem.entry:
            try:
                proxy = getattr(candidate, entry.name)
            except EntryMissing as error:
                missing.append(error.message)
                continue
            proxies |= dict.fromkeys([entry.name, *entry.aliases, proxy.found.name], proxy)
        if not proxies:
            raise UsageError(f"{submission.path}: {missing[0]}")
        attempt = Script(context_of(candidate), proxies).run(code)
        session.close()
        return replace(attempt, printed=clean(session.output, _MOST_PRINTED))


def _on_its_own_path(asked: _Asked, on_check: Callable[[CheckResult], None] | None) -> Report:
    """Grade a submission; if it is rejected, grade it as if torch had no fused attention."""
    first = _graded(asked, on_check)
    if first.report.verdict is Verdict.ACCEPTED or not first.used_fused_attention:
        return first.report
    if not asked.verdict_only and _NO_FUSED_ATTENTION not in first.rules:
        return first.report
    # The file may have a path of its own for a torch without fused attention. If only the verdict
    # is wanted, the check that knows the rule may not have run the first time.
    alone = _graded(replace(asked, fused_attention=False))
    held = alone.report.verdict is Verdict.ACCEPTED and _NO_FUSED_ATTENTION in alone.rules
    return alone.report if held else first.report


def _repaired(asked: _Asked, report: Report) -> Report:
    """Return the report of a file that a slip stops, with all that passes but for this slip."""
    from mha_judge.judge.carrying import is_borne_out

    stop = stop_of(report)
    if report.verdict is Verdict.ACCEPTED or stop is None or asked.problem.asks_questions:
        return report
    if _explained(report) >= 99.9:  # what has a name is all that is wrong
        return report
    began = time.monotonic()
    hopeful = _hopeful(asked, report, stop)
    tried_s = time.monotonic() - began
    for repair in hopeful[:_MOST_REGRADED]:
        other = _graded(replace(_asked_of(asked, repair), shows_call=False)).report
        found = _with_repair(report, other, repair, tried_s)
        explains = is_borne_out(repair.diagnosis([]), found.checks)
        if explains and found.score >= report.score and _explained(found) > _explained(report):
            return found
    return report


def _explained(report: Report) -> float:
    """Return the points that a file has, or would have without what is named of it.

    That all calls of a kind raise is no explanation.
    """
    from mha_judge.diagnosis.where_wrong import RESTRICTED

    named = [one for one in report.diagnoses if not one.id.startswith(RESTRICTED)]
    return report.score + sum(diagnosis.cost for diagnosis in named)


def _hopeful(asked: _Asked, report: Report, stop: Stop) -> list[Repair]:
    """Return the repairs with which checks pass that did not, most of them first."""
    open_ = [check for check in report.checks if _may_pass(check)]
    open_.sort(key=lambda check: not check.outcome.is_bad)
    only = frozenset(check.id for check in open_[:_MOST_TRIED_ON])
    passing: list[tuple[int, Repair]] = []
    last = time.monotonic() + asked.problem.limits.total_s  # what a slow file may take for all
    for repair in itertools.islice(repairs(asked.submission.source, stop), _MOST_REPAIRS):
        count = _count_passing(replace(_asked_of(asked, repair), only=only))
        passing += [(count, repair)] if count else []
        if count == len(only) or time.monotonic() > last:
            break
    return [repair for _, repair in sorted(passing, key=lambda one: -one[0])]


def _may_pass(check: CheckResult) -> bool:
    """Return whether a check did not pass, and is asked without a GPU of any answer."""
    return not (
        check.outcome is Outcome.PASSED
        or check.advisory
        or check.only_if_right
        or check.category is Category.GPU
    )


def _asked_of(asked: _Asked, repair: Repair) -> _Asked:
    return replace(asked, submission=Submission.of(repair.source, asked.submission.path.name))


def _count_passing(asked: _Asked) -> int:
    """Return how many of the checks that are asked for pass."""
    from mha_judge.grading.calling.context import Context

    with closing(_session(asked)) as session:
        if _load(session, asked.problem) is not None:
            return 0
        task = _task(asked, None)
        run = _run(task, Context(session, task), None, asked.only, False, None)
    return sum(check.outcome is Outcome.PASSED for check in run.results)


def _with_repair(report: Report, other: Report, repair: Repair, tried_s: float) -> Report:
    """Return a report in which a slip is granted that another report is without."""
    own = {check.id: check.ungranted() for check in report.checks}
    checks, failed = [], []
    for check in other.checks:
        mine = own.get(check.id, check)
        passes = check.outcome is Outcome.PASSED or bool(check.granted)
        if passes and mine.outcome is not Outcome.PASSED and not mine.only_if_right:
            names = [REPAIRED, *check.granted]
            mine = mine.model_copy(update={"granted": names, "stopped": check.stopped})
            failed += [mine.id] if mine.outcome.is_bad else []
        checks.append(check if check.outcome.is_bad and not check.granted else mine)
    slip = repair.diagnosis(failed)
    diagnoses = [points.priced(one, checks) for one in (slip, *other.diagnoses)]
    timings = Counter(report.timings_s)
    timings.update(other.timings_s)
    timings.update({"repairs": tried_s, "total": tried_s})
    return report.model_copy(
        update={
            "checks": _with_titles(checks, diagnoses),
            "diagnoses": diagnoses,
            "score": points.score(checks, diagnoses, by_key=False),
            "wrong_where": other.wrong_where,
            "policy": other.policy,
            "notes": other.notes,
            "never_ran": other.never_ran,
            "check_timings_s": other.check_timings_s,
            "timings_s": {step: round(seconds, 4) for step, seconds in timings.items()},
        }
    )


@dataclass(frozen=True)
class _Asked:
    """What is graded, where, and how much of it."""

    submission: Submission
    bank: Bank
    problem: Problem
    channel: Channel
    seed: int
    only: frozenset[str]
    verdict_only: bool
    gpus: GpuAccess | None
    shows_call: bool
    fused_attention: bool = True
    """Whether torch's ready-made attention is available."""


@dataclass(frozen=True)
class _Graded:
    """The outcome of one grade."""

    report: Report
    rules: frozenset[str]
    """The rules that the checks that ran hold the submission to."""
    used_fused_attention: bool


def _graded(asked: _Asked, on_check: Callable[[CheckResult], None] | None = None) -> _Graded:
    """Grade a submission once."""
    submission, problem, seed, gpus = asked.submission, asked.problem, asked.seed, asked.gpus
    only, verdict_only = asked.only, asked.verdict_only
    clock = _Clock()
    prepare()
    clock.lap("imports")
    from mha_judge.diagnosis import Diagnostician
    from mha_judge.grading.calling.context import Context
    from mha_judge.grading.calling.gpu import GpuLease
    from mha_judge.grading.calling.unreached import unreached
    from mha_judge.grading.checks.policy import hold_to_rules
    from mha_judge.judge.carrying import carried_forward

    diagnostician = None
    if not verdict_only:
        diagnostician = Diagnostician(asked.bank, problem.id, submission.source)
    task = _task(asked, diagnostician)
    with ExitStack() as stack:
        session = stack.enter_context(closing(_session(asked)))
        lease = None if gpus is None else stack.enter_context(closing(GpuLease(gpus, task)))
        failure = _load(session, problem)
        clock.lap("load")
        context = None if failure is not None else Context(session, task)
        run = _run(task, context, lease, only, verdict_only, on_check)
        contexts = [one for one in (context, lease.context if lease else None) if one is not None]
        device = "cpu" if lease is None else lease.device
        results, policy = hold_to_rules(run.results, contexts)
        clock.lap("checks")
        if all(check.advisory for check in results):
            raise UsageError("nothing that counts was checked; name a check that is not advisory")
        checks = points.scaled(results)
        explained = _explain(diagnostician, context, checks)
        clock.lap("diagnosis")
        failing_call = _failing_call(asked, context, checks)
        clock.lap("smallest call")
        diagnoses: list[Diagnosis] = []
        if context is not None and explained is not None:
            checks, diagnoses = carried_forward(checks, explained, context)
        clock.lap("granting")
    assert session.tier is not None  # it was started, or an error was raised
    verdict = failure.verdict if failure is not None else points.verdict(checks)
    score = points.score(checks, diagnoses, by_key=problem.asks_questions)
    strict_score = points.strict_score(checks)
    if verdict_only:  # what passed so far says little
        score = strict_score = 100.0 if verdict is Verdict.ACCEPTED else 0.0
    reached = {number for one in contexts for number in one.session.reached}
    notes = dict.fromkeys(note for one in contexts for note in one.notes)
    if not asked.fused_attention:
        notes[_ON_ITS_OWN_PATH] = None
    report = Report(
        problem=problem.id,
        title=problem.title,
        submission=SubmissionInfo(path=clean_line(str(submission.path)), sha256=submission.sha256),
        verdict=verdict,
        score=score,
        strict_score=strict_score,
        verdict_only=verdict_only,
        only=sorted(only),
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
        failing_call=failing_call,
        wrong_where="" if explained is None else explained.where,
        notes=[clean_line(note) for note in notes],
        never_ran=[] if only or verdict_only else unreached(submission.source, reached),
        hints=_hints(problem, checks),
        cost={
            "cpu_s": round(session.cpu_s, 4),
            "peak_memory_bytes": float(session.peak_memory_bytes),
        },
        output=Output(
            text=clean(session.output, 64 * 1024),
            truncated=session.output_bytes > len(session.output.encode()),
        ),
        timings_s=clock.laps(),
        check_timings_s=run.seconds,
    )
    met = {note.rule for one in contexts for note in one.session.notes}
    rules = frozenset(rule for one in contexts for rule in one.rules.values())
    return _Graded(report, rules, _NO_FUSED_ATTENTION in met)


def _session(asked: _Asked) -> Session:
    """Return a session for what is graded; nothing runs before it is loaded."""
    from mha_judge.grading.calling.session import Session

    return Session(
        asked.channel,
        asked.submission,
        asked.problem.limits,
        fused_attention=asked.fused_attention,
        seed=asked.seed,
    )


class _Clock:
    """How long each step of a grade took."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()
        self._laps: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """Note that a step has ended."""
        now = time.monotonic()
        self._laps[step] = round(now - self._last, 4)
        self._last = now

    def laps(self) -> dict[str, float]:
        """Return the seconds of each step, and of all."""
        return {**self._laps, "total": round(self._last - self._started, 4)}


def prepare() -> None:
    """Import what a grade needs, while the supervisor imports the same."""
    hold_instruction_set()
    _import()
    import torch

    torch.set_num_threads(1)


@functools.cache
def _import() -> None:
    """Import torch and what uses it, and keep all of it out of garbage collection.

    Nothing of it is ever garbage, and walking it takes longer than a check.
    """
    collects = gc.isenabled()
    gc.disable()
    import mha_judge.diagnosis
    import mha_judge.grading.checks.running
    import mha_judge.judge.carrying  # noqa: F401 - each imports more of what a grade uses

    gc.freeze()
    if collects:
        gc.enable()


def _task(asked: _Asked, diagnostician: Diagnostician | None) -> Task:
    """Return what is graded, and by what."""
    from mha_judge.grading.calling.context import Task

    bank, problem = asked.bank, asked.problem

    return Task(
        submission=asked.submission,
        problem=problem,
        grader=bank.grader(problem.id),
        reference=load_reference(bank, problem.id),
        vocabulary=bank.vocabulary(),
        seed=asked.seed,
        questions=bank.questions(problem.id),
        recogniser=diagnostician,
        fused_attention=asked.fused_attention,
    )


def _load(session: Session, problem: Problem) -> LoadFailed | None:
    """Load the file; return a failure if that fails, or if it has none of the entries."""
    from mha_judge.grading.binding.entries import EntryMissing, find_entry
    from mha_judge.grading.calling.session import LoadFailed

    try:
        session.load()
    except LoadFailed as error:
        return error
    missing: list[str] = []
    for entry in problem.entry:
        try:
            find_entry(entry, session.definitions)
        except EntryMissing as error:
            missing.append(error.message)
    if len(missing) < len(problem.entry):
        return None
    return LoadFailed(Verdict.ERROR, LoadProblem(message=clean(missing[0])))


def _run(
    task: Task,
    context: Context | None,
    lease: GpuLease | None,
    only: frozenset[str],
    until_failure: bool,
    on_check: Callable[[CheckResult], None] | None,
) -> Run:
    """Run the checks, and return the finished run.

    Raises:
        UsageError: If the grader has no check of a name that is asked for.
    """
    from mha_judge.grading.checks.claims import CLAIMS
    from mha_judge.grading.checks.collected import check_id, collect
    from mha_judge.grading.checks.running import Run

    if only:
        ids = [check_id(item) for item in collect(str(task.grader)).items]
        for name in sorted(only.difference(ids)):
            if any(claim.id == name for claim in CLAIMS):
                why = "is asked only where all else is right; have all checks run"
                raise UsageError(f"{name} {why}")
            raise none_such("check", name, ids)
    run = Run(task, context, lease, only, until_failure, on_check=on_check)
    run.grade()
    return run


def _explain(
    diagnostician: Diagnostician | None, context: Context | None, checks: Sequence[CheckResult]
) -> Explanation | None:
    """Return the known mistakes that explain what failed."""
    failed = any(c.outcome is not Outcome.PASSED and not c.advisory for c in checks)
    if diagnostician is None or context is None or not failed:
        return None
    from mha_judge.grading.checks.cases import right_at_equal_sizes

    return diagnostician.explain(
        checks, context.trace, lambda step: right_at_equal_sizes(step, context)
    )


def _failing_call(
    asked: _Asked, context: Context | None, checks: Sequence[CheckResult]
) -> FailingCall | None:
    """Return the smallest call that goes wrong, if it is wanted."""
    if context is None or not asked.shows_call or asked.verdict_only:
        return None
    from mha_judge.trying.smallest import smallest

    return smallest(context, checks)


def _with_titles(checks: list[CheckResult], diagnoses: list[Diagnosis]) -> list[CheckResult]:
    """Return the checks, each with the titles of the mistakes that explain it."""
    titles = {
        check.id: "; ".join(d.title for d in diagnoses if check.id in d.checks) for check in checks
    }
    return [check.model_copy(update={"diagnosis": titles[check.id] or None}) for check in checks]


def _instruction_set(tier: Tier) -> str:
    """Return the worker's instruction set, and the judge's if a library's user let it differ."""
    import torch

    worker, judge = tier.instruction_set, torch.backends.cpu.get_cpu_capability()
    return worker if worker == judge else f"{worker} (the judge: {judge})"


def _hints(problem: Problem, checks: list[CheckResult]) -> dict[str, str]:
    failed = {str(c.category) for c in checks if c.outcome is not Outcome.PASSED and not c.advisory}
    return {name: text for name, text in problem.hints.items() if name in failed}
