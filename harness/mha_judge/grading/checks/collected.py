"""The checks of a grader, collected by pytest once and run for one submission after another.

Collecting costs a third of a small grade, and a warm judge runs the same few graders all day. A
grader is collected anew if it has changed on disk, and all graders are if a reference has; one that
could not be collected is forgotten.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import pytest
from _pytest.config import _prepareconfig

from mha_judge.bank.references import changes, note_imports
from mha_judge.errors import BankError
from mha_judge.file_versions import FileVersion, version_of
from mha_judge.grading.calling.candidate import Candidate
from mha_judge.grading.calling.gpu import Gpu
from mha_judge.grading.checks.check import spec_of
from mha_judge.grading.checks.claims import CLAIMS
from mha_judge.grading.draw import Draw

_OFF = (
    "cacheprovider", "terminal", "junitxml", "doctest", "unittest", "faulthandler", "logging",
    "pastebin", "warnings", "stepwise", "unraisableexception", "threadexception",
)  # fmt: skip


class Fixtures(Protocol):
    """The fixtures that a grade gives to its checks."""

    def candidate_for(self, check: str) -> Candidate:
        """Return the submission, as the entries of its problem."""

    def draw_for(self, check: str) -> Draw:
        """Return the random inputs of a check."""

    def gpu_for(self, check: str) -> Gpu:
        """Return the submission on a GPU."""


class Collected:
    """The checks of one grader file, in order."""

    def __init__(self, session: pytest.Session, provider: _Provider) -> None:
        self._session = session
        self._provider = provider
        self.items: list[Any] = list(session.items)

    def run(self, item: Any, fixtures: Fixtures) -> None:
        """Run one check: set up, call, tear down; no reports, no other plugin.

        Raises:
            BaseException: Whatever the check raises.
        """
        self._provider.fixtures = fixtures
        try:
            self._session._setupstate.setup(item)
            item.runtest()
        finally:
            self._session._setupstate.teardown_exact(None)
            item._initrequest()  # forgets its fixtures, to run again
            self._provider.fixtures = None


class _Provider:
    """The plugin that gives checks the fixtures of the current grade."""

    def __init__(self, folder: str) -> None:
        """Take where the bank's graders lie."""
        self._folder = folder
        self.fixtures: Fixtures | None = None
        self.faults: list[str] = []

    @pytest.fixture
    def candidate(self, request: pytest.FixtureRequest) -> Candidate:
        """The submission, as the entries of its problem."""
        assert self.fixtures is not None
        return self.fixtures.candidate_for(check_id(request.node))

    @pytest.fixture
    def draw(self, request: pytest.FixtureRequest) -> Draw:
        """Random inputs of this check."""
        assert self.fixtures is not None
        return self.fixtures.draw_for(check_id(request.node))

    @pytest.fixture
    def grader(self, request: pytest.FixtureRequest) -> ModuleType:
        """The grader's module, whose sizes and helpers a shared check uses."""
        return request.node.getparent(pytest.Module).obj  # type: ignore[no-any-return]

    @pytest.fixture
    def gpu(self, request: pytest.FixtureRequest) -> Gpu:
        """The submission on a GPU; a check that asks for it has the category `gpu`."""
        assert self.fixtures is not None
        return self.fixtures.gpu_for(check_id(request.node))

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        assert call.excinfo is not None
        error = call.excinfo.value
        error = error.__cause__ or error  # pytest wraps what an import raises
        self.faults.append(_fault(error, self._folder))


_State = tuple[str, FileVersion, int]
_known: dict[_State, Collected] = {}


def collect(path: str) -> Collected:
    """Return the checks of a grader; only its file decides which.

    Raises:
        BankError: If the grader cannot be collected, or holds a test that is no check.
    """
    try:
        Path(path).stat()
    except OSError as error:
        raise BankError(f"the grader {path} cannot be read: {error.strerror}") from error
    # a grader may import references, and what graders share
    state = (path, version_of(Path(path)), changes())
    if state not in _known:
        for old in [known for known in _known if known[0] == path]:
            del _known[old]
        _forget(path)
        try:
            _known[state] = _collect(path)
            note_imports()
        except BaseException:
            _forget(path)  # imported by half
            raise
    return _known[state]


def _collect(path: str) -> Collected:
    folder = path.rpartition("/")[0]
    arguments = [
        path, "--rootdir", folder, "-c", "/dev/null", "--noconftest",
        "--import-mode=importlib", "--assert=plain", "--capture=no",
        *(word for name in _OFF for word in ("-p", f"no:{name}")),
    ]  # fmt: skip
    provider = _Provider(folder)
    with _plain_environment():
        config = _prepareconfig(arguments, [provider])
        config._do_configure()
        session = pytest.Session.from_config(config)
        config.hook.pytest_sessionstart(session=session)
        session.perform_collect()
    if provider.faults:
        raise BankError(f"the grader {path} is broken: {provider.faults[0]}")
    for item in session.items:
        if spec_of(getattr(item, "function", None)) is None:
            raise BankError(
                f"the grader {path} is broken: {item.nodeid}: a test without @check; "
                "declare title and category"
            )
    _require_names_of_their_own(path, session.items)
    _require_grounds(path, session.items)
    return Collected(session, provider)


def _require_names_of_their_own(path: str, items: Sequence[Any]) -> None:
    """Refuse a check with the name of a claim: what is granted to one would be granted to both.

    Raises:
        BankError: If there is such a check.
    """
    claims = {claim.id for claim in CLAIMS}
    for item in items:
        if check_id(item) in claims:
            raise BankError(
                f"the grader {path} is broken: {item.name} has the name of a claim that every "
                "answer is asked if it is right otherwise; rename it"
            )


def _require_grounds(path: str, items: Sequence[Any]) -> None:
    """Refuse a check that does not stand behind those it comes after: it would wait for nothing.

    Raises:
        BankError: If there is such a check.
    """
    ids = [check_id(item) for item in items]
    for number, item in enumerate(items):
        spec = spec_of(item.function)
        assert spec is not None
        for name in spec.after:
            if as_id(name) in ids[:number]:
                continue
            there = as_id(name) in ids
            what = "which stands behind it" if there else f"and there is no check test_{name}"
            remedy = "move it there" if there else "correct the name"
            raise BankError(
                f"the grader {path} is broken: {item.name} comes after {name!r}, {what}; {remedy}"
            )


def _fault(error: BaseException, folder: str) -> str:
    """Return what went wrong, behind the place nearest to it in a folder."""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    places = [
        f"{one.filename}:{one.lineno}" for one in frames if one.filename.startswith(f"{folder}/")
    ]
    return ": ".join([*places[-1:], told])


def _forget(path: str) -> None:
    """Drop an earlier import of this grader, or of one with this name from another bank."""
    sys.modules.pop(Path(path).stem, None)


@contextmanager
def _plain_environment() -> Iterator[None]:
    """Keep the user's pytest settings and installed plugins out of a grade."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            patch.delenv(name, raising=False)
        yield


def check_id(item: Any) -> str:
    """Return the id of a check: the name of its function, with hyphens."""
    return as_id(item.name.removeprefix("test_"))


def as_id(name: str) -> str:
    return name.replace("_", "-")
