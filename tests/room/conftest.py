"""A server of rooms for each module, and what pages are made of."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from rooms import NEXT, PROBLEM, Rooms

WEB = Path(__file__).parents[2] / "web"


@pytest.fixture(scope="session")
def web(tmp_path_factory):
    """A copy of the pages' sources, with the packages that they name."""
    if shutil.which("npm") is None:
        pytest.skip("npm is missing")
    copy = tmp_path_factory.mktemp("pages") / "web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules"))
    install = ["npm", "ci", "--no-audit", "--no-fund", "--silent"]
    if subprocess.run(install, cwd=copy, capture_output=True).returncode:
        pytest.skip("npm cannot install what the pages are made of")
    return copy


@pytest.fixture(scope="module")
def rooms(tmp_path_factory):
    opened = Rooms(tmp_path_factory.mktemp("rooms"), PROBLEM, NEXT, rooms=2)
    yield opened
    opened.stop(signal.SIGKILL)
