"""What all tests need before anything else is imported."""

import hashlib
import signal

import pytest
from gate import add_options, plugins

from mha_judge.processor import hold_instruction_set

hold_instruction_set()  # many tests import torch before the judge does

# A shell starts what it puts in the background of a script with SIGINT ignored, and what is ignored
# stays so in every process below. Tests that interrupt something need the interrupt to arrive.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _progress_of_tests(tmp_path_factory):
    """Keep what tests practise out of the progress of who runs them; return the folder."""
    from mha_judge.practice.progress import PATH_VARIABLE

    folder = tmp_path_factory.mktemp("progress")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PATH_VARIABLE, str(folder / "p.sqlite3"))
        yield folder


@pytest.fixture(autouse=True)
def _progress_of_one_test(request, _progress_of_tests, monkeypatch):
    """Keep it out of the progress of other tests as well: a round that is open changes what `run`
    says."""
    from mha_judge.practice.progress import PATH_VARIABLE

    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()
    monkeypatch.setenv(PATH_VARIABLE, str(_progress_of_tests / f"{name}.sqlite3"))


def pytest_addoption(parser):
    add_options(parser)


def pytest_configure(config):
    for plugin in plugins(config):
        config.pluginmanager.register(plugin)


@pytest.hookimpl(tryfirst=True)  # before xdist looks for the groups
def pytest_collection_modifyitems(items):
    """Run a module's tests in one process, which then has its fixtures once.

    Where they are many, their module says itself which of them belong together.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
