"""Every backend in turn, for the tests that ask for one."""

from contextlib import closing

import pytest
from sandboxes import BACKENDS, miss, no_container

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("test_a_worker_lists_no_folder_of_others", "namespaces"): "without Landlock the names of what "
    "the namespaces show can be listed: folders of Python, and processes of the sandbox",
}
"""Tests that a backend is let off, by name: (test, backend) and why the claim cannot hold there."""


@pytest.fixture(scope="module", params=BACKENDS, ids=lambda backend: backend.name)
def backend(request):
    reason = request.param.why_not()
    if reason:
        miss(request.param.name, reason)
    return request.param


@pytest.fixture(scope="module")
def channel(backend):
    with closing(backend.make().open()) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _exceptions(request):
    if "backend" in request.fixturenames:
        name = request.getfixturevalue("backend").name
        if reason := EXCEPTIONS.get((request.node.originalname, name)):
            pytest.skip(f"{name}: {reason}")


@pytest.fixture(scope="session")
def docker():
    """Skip, or fail where Docker is required, unless the container sandbox can be used."""
    from sandboxes import engine

    if reason := no_container():
        miss("container", reason)
    return engine()
