"""One submission's run through the checks of a grader."""

from __future__ import annotations

import functools
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from mha_judge.errors import BankError, JudgeError
from mha_judge.grading.calling.candidate import Candidate
from mha_judge.grading.calling.context import Context, Task
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.gpu import Gpu, GpuLease
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.manner import MANY
from mha_judge.grading.checks.check import CheckSpec, spec_of
from mha_judge.grading.checks.claims import CLAIMS, Causes, Claim, Wrong, about_state, with_a_claim
from mha_judge.grading.checks.collected import Collected, as_id, check_id, collect
from mha_judge.grading.checks.corners.search import search_corners
from mha_judge.grading.checks.gpu import explained
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.expected import Live, leaves
from mha_judge.grading.failures import CheckFailure, Follows
from mha_judge.outcomes import Category, Outcome
from mha_judge.report.models import CheckResult
from mha_judge.sanitising import clean

_NOT_LOADED = "the file did not load"
_VERDICT_ONLY = "not run: only the verdict was asked for"
_NOT_OF_VALUES = (Category.POLICY, Category.COST, Category.GPU)
"""Categories of checks that look at what a call does, or run on a GPU."""


class Run:
    """Runs checks on one candidate, and keeps their results."""

    def __init__(
        self,
        task: Task,
        context: Context | None,
        lease: GpuLease | None = None,
        only: frozenset[str] = frozenset(),
        until_failure: bool = False,
        passed: Sequence[CheckResult] = (),
        on_check: Callable[[CheckResult], None] | None = None,
    ) -> None:
        """Take what is graded and where.

        Args:
            task: What is graded.
            context: The submission in its worker; None if it did not load.
            lease: Where the checks of the category `gpu` run; they are not assessed without one.
            only: Ids of the checks to run; all if empty.
            until_failure: Assess nothing more once a check that counts has failed.
            passed: Checks that need not run again, and on which others may depend.
            on_check: Called with each check when it is done.
        """
        self._task = task
        self._context = context
        self._candidate = None if context is None else Candidate(context)
        self._wrong: list[Wrong] = []
        """The conditions under which the candidate is wrong, if it is right otherwise."""
        self._lease = lease
        self._only = only
        self._until_failure = until_failure
        self._on_check = on_check
        self.no_gpu = ""
        """Why the checks on a GPU were not assessed; empty if they were, or if there are none."""
        self.results: list[CheckResult] = list(passed)
        self.seconds: dict[str, float] = {}
        """What each check took."""
        self._since = time.monotonic()

    def candidate_for(self, check: str) -> Candidate:
        assert self._context is not None and self._candidate is not None  # else no check runs
        self._context.enter(check)
        return self._candidate

    def draw_for(self, check: str) -> Draw:
        return Draw(self._task.seed, check)

    def gpu_for(self, check: str) -> Gpu:
        assert self._lease is not None  # without it no check on a GPU runs
        return self._lease.enter(check)

    def grade(self) -> list[CheckResult]:
        """Run the checks of the task's grader.

        Raises:
            BankError: If the grader cannot be collected or a check of it is broken.
        """
        checks = collect(str(self._task.grader))
        for item in checks.items:
            if not self._only or check_id(item) in self._only:
                self._take(item, checks)
        held = [claim for claim in CLAIMS if claim.holds_for(self._task.problem)]
        if held and not self._only:
            self._look_further(checks)
            of_state = about_state(self._wrong)
            self._wrong = with_a_claim(of_state or self._wrong, held)
            self._since = time.monotonic()
            for result in [self._claim(claim, bool(of_state)) for claim in held]:
                self._keep(result)
        return self.results

    def _look_further(self, checks: Collected) -> None:
        """If nothing is wrong so far, ask again: in every manner, and in corners of the domain."""
        if self._context is None or self._failed():
            return
        passed = {r.id for r in self.results if r.outcome is Outcome.PASSED}
        passed -= {r.id for r in self.results if r.category in _NOT_OF_VALUES}
        causes = Causes(self._context)
        again = [item for item in checks.items if check_id(item) in passed]
        again = [item for item in again if self._has_state(check_id(item))]
        self._ask_again(causes, again, checks)
        self._wrong = [*causes.found]
        if not (self._until_failure and causes.found):
            counting = [r.id for r in self.results if r.id in passed and not r.advisory]
            self._wrong += search_corners(self._context, counting, self._until_failure)

    def _has_state(self, check: str) -> bool:
        """Return whether a check made calls that depend on more than their own arguments."""
        assert self._context is not None
        return any(
            not isinstance(step.target, (Function, Layer))
            or not step.target.is_usable
            or step.target.entry.domain is None
            or not any(isinstance(value, Tensor) for value in leaves(step.args))
            or any(isinstance(value, Live) for value in leaves(step.args))
            for step in self._context.trace.of(check)
        )

    def _ask_again(self, causes: Causes, left: Sequence[Any], checks: Collected) -> None:
        """Run checks again, their calls in every manner."""
        for _ in range(MANY):  # repeated for checks that make few calls of a kind
            short = []
            for item in left:
                if causes.look(functools.partial(self._attempt, item, checks)):
                    short.append(item)
                if self._until_failure and causes.found:
                    return
            left = short

    def _take(self, item: Any, checks: Collected) -> None:
        spec = spec_of(item.function)
        assert spec is not None  # or it would not have been collected
        missing = self._missing_ground(spec)
        no_gpu = self._why_no_gpu() if spec.category is Category.GPU else None
        if no_gpu is not None:
            self.no_gpu = no_gpu
            self._record(item, replace(spec, points=0, advisory=True), Outcome.NOT_ASSESSED, no_gpu)
        elif self._candidate is None:
            self._record(item, spec, Outcome.NOT_ASSESSED, _NOT_LOADED)
        elif self._until_failure and self._failed():
            self._record(item, spec, Outcome.NOT_ASSESSED, _VERDICT_ONLY)
        elif missing is not None:
            self._record(item, spec, Outcome.NOT_ASSESSED, f"needs the check “{missing}”")
        else:
            self._run(item, spec, checks)

    def _why_no_gpu(self) -> str | None:
        """Return why no check on a GPU can be assessed; the device is taken to find out."""
        if self._lease is None:
            return "no GPU was asked for"
        if self._candidate is None or (self._until_failure and self._failed()):
            return self._lease.why_not()
        return self._lease.why_not() or self._lease.why_not_taken()

    def _run(self, item: Any, spec: CheckSpec, checks: Collected) -> None:
        failure = self._attempt(item, checks)
        if failure is not None and spec.category is Category.GPU:
            failure = explained(failure)
        if failure is None:
            self._record(item, spec, Outcome.PASSED, "")
        else:
            self._record(item, spec, failure.outcome, failure.message, failure)

    def _attempt(self, item: Any, checks: Collected) -> CheckFailure | None:
        """Run a check; return how it failed.

        Raises:
            BankError: If it is broken.
        """
        try:
            checks.run(item, self)
        except CheckFailure as failure:
            return failure
        except JudgeError:
            raise
        except Exception as error:  # anything else is a fault of the grader, and must say so
            if self._task.mistaken is not None:  # the program that counts as right may raise
                return CheckFailure(f"the mistake makes {type(error).__name__} of the check")
            place = f"{item.nodeid}: {_describe(error)}"
            raise BankError(f"the grader {item.path} is broken: {place}") from error
        return None

    def _claim(self, claim: Claim, keeps_state: bool) -> CheckResult:
        """Return the result of a claim; if calls leave a state, of a claim about states alone."""
        outcome, message, failure = Outcome.PASSED, "", None
        if self._context is None:
            outcome, message = Outcome.NOT_ASSESSED, _NOT_LOADED
        elif (failure := claim.failure(self._wrong)) is not None:
            outcome, message = failure.outcome, failure.message
            if failure.step is not None:
                self._context.trace.keep(claim.id, failure.step)
        elif keeps_state:
            outcome, message = Outcome.NOT_ASSESSED, "earlier calls change what it gives"
        elif self._failed():
            outcome, message = Outcome.NOT_ASSESSED, "asked once all else is right"
            if self._until_failure:
                message = _VERDICT_ONLY
        spec = CheckSpec(claim.title, claim.category, claim.points, (), advisory=False)
        result = _result(claim.id, spec, outcome, message, failure)
        result.only_if_right = True
        return result

    def _failed(self) -> bool:
        return any(r.outcome is not Outcome.PASSED and not r.advisory for r in self.results)

    def _explanation(self, item: Any, spec: CheckSpec) -> str:
        """Return the explanation of a check's question for the report; empty without a question."""
        if not spec.question:
            return ""
        if spec.question not in self._task.questions:
            raise BankError(f"{item.nodeid}: questions.toml has no {spec.question!r}; add it")
        return self._task.questions[spec.question].told("en")

    def _missing_ground(self, spec: CheckSpec) -> str | None:
        for name in spec.after:
            ground = next((r for r in self.results if r.id == as_id(name)), None)
            if ground is None or ground.outcome is Outcome.PASSED:
                continue
            # with a granted mistake, a check of a property that it breaks need not pass first
            if self._task.mistaken is None or ground.margin is not None:
                return ground.title
        return None

    def _record(
        self,
        item: Any,
        spec: CheckSpec,
        outcome: Outcome,
        message: str,
        failure: CheckFailure | None = None,
    ) -> None:
        result = _result(check_id(item), spec, outcome, message, failure)
        result.explanation = self._explanation(item, spec)
        if isinstance(failure, Follows):
            result.granted = [failure.check]
        self._keep(result)

    def _keep(self, result: CheckResult) -> None:
        self.results.append(result)
        before, self._since = self._since, time.monotonic()
        self.seconds[result.id] = round(self._since - before, 4)
        if self._on_check is not None:
            self._on_check(result)


def _result(
    check: str, spec: CheckSpec, outcome: Outcome, message: str, failure: CheckFailure | None
) -> CheckResult:
    return CheckResult(
        id=check,
        title=spec.title,
        category=spec.category,
        outcome=outcome,
        points=float(spec.points) if outcome is Outcome.PASSED else 0.0,
        max_points=float(spec.points),
        message=clean(message, 2_000),
        detail=clean(failure.detail, 2_000) if failure is not None else "",
        margin=failure.margin if failure is not None else None,
        sample=failure.sample if failure is not None else None,
        advisory=spec.advisory,
    )


def _describe(error: BaseException) -> str:
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if "test_" in frame.f_code.co_filename:
            place = f" (line {line})"
    return f"{type(error).__name__}: {error}{place}"
