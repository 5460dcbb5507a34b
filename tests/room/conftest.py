"""A server of rooms for each module."""

import signal

import pytest
from rooms import NEXT, PROBLEM, Rooms


@pytest.fixture(scope="module")
def rooms(tmp_path_factory):
    opened = Rooms(tmp_path_factory.mktemp("rooms"), PROBLEM, NEXT, rooms=2)
    yield opened
    opened.stop(signal.SIGKILL)
