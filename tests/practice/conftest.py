"""A learner with a clock of one's own."""

import pytest
from practising import BANK, Clock

from mha_judge.practice.learner import Learner
from mha_judge.practice.progress import PATH_VARIABLE, Progress


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Where progress is kept, for commands too."""
    path = tmp_path / "kept" / "progress.sqlite3"
    monkeypatch.setenv(PATH_VARIABLE, str(path))
    return path


@pytest.fixture
def learner(store, clock):
    with Progress(store) as progress:
        yield Learner(BANK, progress, clock)
