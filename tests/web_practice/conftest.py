"""A desk for each module, and a page that shows it."""

import signal

import pytest
from desks import Desk, Page


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    opened = Desk(tmp_path_factory.mktemp("desk"))
    yield opened
    opened.stop(signal.SIGKILL)


@pytest.fixture
def page(desk):
    with Page(desk) as opened:
        yield opened
