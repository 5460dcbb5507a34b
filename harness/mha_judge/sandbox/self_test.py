"""Tries the sandboxes: loads a file that attacks, as any other; each attack must be refused.

A tier is what was seen to hold, not what was configured.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from mha_judge.errors import JudgeError
from mha_judge.grading.calling.session import LoadFailed, Session
from mha_judge.grading.failures import CheckFailure
from mha_judge.sandbox import BACKENDS, Sandbox
from mha_judge.sandbox.attempts import SOURCE, STRICT, Attempt, Ruling, memory_missing, prepared


@dataclass(frozen=True)
class Finding:
    """What one backend was seen to do."""

    backend: str
    tier: str | None
    remedy: str = ""
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every attempt was seen to be refused; an unclear one was not."""
        return self.tier is not None and all(a.ruling is Ruling.HELD for a in self.attempts)


def self_tests() -> Iterator[Finding]:
    """Try every backend in turn."""
    for make in BACKENDS.values():
        yield self_test(make())


def self_test(sandbox: Sandbox) -> Finding:
    """Try one backend."""
    reason = sandbox.unavailable()
    if reason is not None:
        return Finding(sandbox.name, None, reason)
    try:
        with ExitStack() as stack:
            channel = stack.enter_context(closing(sandbox.open()))
            no_memory = memory_missing(channel)
            session = stack.enter_context(closing(Session(channel, SOURCE, STRICT)))
            session.load()
            attempts = [one.run(session) for one in prepared(stack, session, no_memory)]
            tier = session.tier.tier if session.tier is not None else ""
    except (JudgeError, LoadFailed, CheckFailure) as error:
        return Finding(sandbox.name, None, str(error))
    return Finding(sandbox.name, tier, "", attempts)
