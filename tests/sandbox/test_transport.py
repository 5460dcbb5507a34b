"""Waiting for a supervisor: until its deadline, and never long without looking up."""

from types import SimpleNamespace

import pytest

from mha_judge.errors import SandboxBroken
from mha_judge.sandbox import transport


@pytest.fixture
def waits(monkeypatch):
    """Return the list of how long each wait was; nothing ever comes, and no time passes here."""
    lengths = []

    def select(sources, sinks, others, timeout_s):
        lengths.append(timeout_s)
        return [], [], []

    # these modules of `transport` alone: the process has other threads, which wait as well
    monkeypatch.setattr(transport, "select", SimpleNamespace(select=select))
    monkeypatch.setattr(transport, "time", SimpleNamespace(monotonic=lambda: sum(lengths)))
    return lengths


@pytest.mark.parametrize(
    ("wait", "error"),
    [(transport.wait_to_receive, TimeoutError), (transport.wait_to_send, SandboxBroken)],
)
def test_an_interrupt_just_before_a_long_wait_is_noticed_soon(waits, wait, error):
    with pytest.raises(error):
        wait(0, deadline=300.5)

    assert sum(waits) == 300.5
    assert max(waits) <= 1.0
