"""The pytest plugin that runs one grader on one submission and collects check results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from mha_judge.errors import BankError, JudgeError
from mha_judge.grading.candidate import Candidate
from mha_judge.grading.check import CheckSpec, spec_of
from mha_judge.grading.draw import Draw
from mha_judge.grading.failures import CheckFailure
from mha_judge.questions import Question
from mha_judge.report.models import CheckResult, Outcome
from mha_judge.report.untrusted import clean


class GraderPlugin:
    """Fixtures for the checks, and their outcomes."""

    def __init__(
        self,
        candidate: Candidate | None,
        seed: int,
        reason: str = "",
        only: frozenset[str] = frozenset(),
        until_failure: bool = False,
        questions: Mapping[str, Question] = MappingProxyType({}),
    ) -> None:
        """Take the candidate; or None and the reason why no check can be assessed."""
        self._candidate = candidate
        self._seed = seed
        self._reason = reason
        self._only = only
        self._until_failure = until_failure
        self._questions = questions
        self.results: list[CheckResult] = []
        self.faults: list[str] = []
        """What went wrong in the grader itself: the judge's fault, not the submission's."""

    @pytest.fixture
    def candidate(self, request: pytest.FixtureRequest) -> Candidate:
        """The submission, as the entries of its problem."""
        assert self._candidate is not None  # without one no check is called
        self._candidate.enter(_check_id(request.node))
        return self._candidate

    @pytest.fixture
    def draw(self, request: pytest.FixtureRequest) -> Draw:
        """Random inputs of this check."""
        return Draw(self._seed, _check_id(request.node))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if spec_of(getattr(item, "function", None)) is None:
                raise BankError(f"{item.nodeid}: a test without @check; declare title and category")
        if self._only:
            items[:] = [item for item in items if _check_id(item) in self._only]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.faults.append(str(report.longrepr))

    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Run one check ourselves: set up, call, tear down; no reports, no other plugin."""
        spec = spec_of(getattr(item, "function", None))
        assert spec is not None
        missing = self._missing_ground(spec)
        if self._candidate is None:
            self._record(item, spec, Outcome.NOT_ASSESSED, self._reason)
        elif self._until_failure and self._failed():
            self._record(item, spec, Outcome.NOT_ASSESSED, "an earlier check failed")
        elif missing is not None:
            self._record(item, spec, Outcome.NOT_ASSESSED, f"needs the check “{missing}”")
        else:
            self._run(item, spec)
        return True

    def _failed(self) -> bool:
        return any(r.outcome is not Outcome.PASSED and not r.advisory for r in self.results)

    def _run(self, item: pytest.Item, spec: CheckSpec) -> None:
        session = item.session
        try:
            session._setupstate.setup(item)
            item.runtest()
        except CheckFailure as failure:
            self._record(item, spec, failure.outcome, failure.message, failure)
        except (KeyboardInterrupt, SystemExit, JudgeError):
            raise
        except Exception as error:  # anything else is a fault of the grader, and must say so
            self.faults.append(f"{item.nodeid}: {_describe(error)}")
        else:
            self._record(item, spec, Outcome.PASSED, "")
        finally:
            session._setupstate.teardown_exact(None)

    def _explanation(self, item: pytest.Item, spec: CheckSpec) -> str:
        """Return what the report tells of the question that a check puts."""
        if not spec.question:
            return ""
        if spec.question not in self._questions:
            self.faults.append(f"{item.nodeid}: questions.toml has no {spec.question!r}")
            return ""
        return self._questions[spec.question].told

    def _missing_ground(self, spec: CheckSpec) -> str | None:
        for name in spec.after:
            ground = next((r for r in self.results if r.id == _as_id(name)), None)
            if ground is not None and ground.outcome is not Outcome.PASSED:
                return ground.title
        return None

    def _record(
        self,
        item: pytest.Item,
        spec: CheckSpec,
        outcome: Outcome,
        message: str,
        failure: CheckFailure | None = None,
    ) -> None:
        points = float(spec.points) if outcome is Outcome.PASSED else 0.0
        self.results.append(
            CheckResult(
                id=_check_id(item),
                title=spec.title,
                category=spec.category,
                outcome=outcome,
                points=points,
                max_points=float(spec.points),
                message=clean(message, 2_000),
                detail=clean(failure.detail, 2_000) if failure is not None else "",
                margin=failure.margin if failure is not None else None,
                sample=failure.sample if failure is not None else None,
                advisory=spec.advisory,
                explanation=self._explanation(item, spec),
            )
        )


def run_grader(path: str, plugin: GraderPlugin) -> None:
    """Run one grader file with this plugin only.

    Raises:
        BankError: If the grader cannot be collected or a check of it is broken.
    """
    arguments = [
        path, "--rootdir", path.rpartition("/")[0], "-c", "/dev/null", "--noconftest",
        "--import-mode=importlib", "--assert=plain", "--capture=no",
        "-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:junitxml",
        "-p", "no:doctest", "-p", "no:unittest", "-p", "no:faulthandler", "-p", "no:logging",
        "-p", "no:pastebin", "-p", "no:warnings", "-p", "no:stepwise",
        "-p", "no:unraisableexception", "-p", "no:threadexception",
    ]  # fmt: skip
    with _plain_environment():
        code = pytest.main(arguments, plugins=[plugin])
    if plugin.faults or code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        _forget(path)
    if plugin.faults:
        raise BankError(f"the grader {path} is broken: {plugin.faults[0]}")
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise BankError(f"the grader {path} could not be run (pytest ended with {code!r})")


def _forget(path: str) -> None:
    """Drop a grader that may be imported by half: a warm judge would run what there is of it."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == path:
            del sys.modules[name]


class _plain_environment:
    """Keep the user's pytest settings and installed plugins out of a grade."""

    def __enter__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        self._patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            self._patch.delenv(name, raising=False)

    def __exit__(self, *raised: Any) -> None:
        self._patch.undo()


def _check_id(item: Any) -> str:
    return _as_id(item.name.removeprefix("test_"))


def _as_id(name: str) -> str:
    return name.replace("_", "-")


def _describe(error: BaseException) -> str:
    trace = error.__traceback__
    place = ""
    for frame in _frames(trace):
        if "test_" in frame.tb_frame.f_code.co_filename:
            place = f" (line {frame.tb_lineno})"
    return f"{type(error).__name__}: {error}{place}"


def _frames(trace: Any) -> Iterator[Any]:
    while trace is not None:
        yield trace
        trace = trace.tb_next
