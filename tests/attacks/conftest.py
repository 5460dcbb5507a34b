"""A world for attacks, and a court for each backend that grades them in one channel."""

import os
from collections.abc import Iterator

import pytest
from attacks.court import Court
from attacks.table import OUTCOMES, write
from attacks.world import ENVIRONMENT, World
from sandboxes import BACKENDS, miss


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("world"))
    patch = pytest.MonkeyPatch()
    patch.setenv(ENVIRONMENT, made.secret)  # before any supervisor starts
    patch.setenv("HOME", str(made.home))
    yield made
    patch.undo()
    made.close()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            backend, id=backend.name, marks=pytest.mark.xdist_group(f"court {backend.name}")
        )
        for backend in BACKENDS
    ],
)
def court(request, world) -> Iterator[Court]:
    reason = request.param.why_not()
    if reason:
        miss(request.param.name, reason)
    made = Court(request.param, world)
    yield made
    disturbers = made.disturbers(now=True)
    left = made.close()
    assert not disturbers
    assert not left, f"left by the attacks: {left}"


@pytest.hookimpl(tryfirst=True)  # before some are drawn
def pytest_collection_modifyitems(items) -> None:
    """Let each attack be drawn in one backend at a time: in four turns it is made in all."""
    for item in items:
        params = (getattr(item, "callspec", None) and item.callspec.params) or {}
        made = params.get("attack") or params.get("made")
        if made is not None and "court" in params:
            turn = BACKENDS.index(params["court"])
            item.add_marker(pytest.mark.drawn(problem="attacks", name=made.name, part=turn))


def pytest_runtest_logreport(report) -> None:
    if report.when == "call":
        for name, value in report.user_properties:
            if name == "attack":
                OUTCOMES[tuple(value)].append(report.passed)


def pytest_sessionfinish(session) -> None:
    """Write the table of what held, where `MHA_JUDGE_ATTACK_TABLE` names a file for it."""
    target = os.environ.get("MHA_JUDGE_ATTACK_TABLE")
    if target and OUTCOMES and not hasattr(session.config, "workerinput"):
        write(target)
