"""The contract of every backend: what is returned, and what is raised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mha_judge.sandbox.limits import Limits


@dataclass(frozen=True)
class Tier:
    """The confinement that was in fact achieved."""

    backend: str
    tier: str
    details: dict[str, Any] = field(default_factory=dict)
    instruction_set: str = ""
    """The instruction set of the processor that torch uses there."""


@dataclass(frozen=True)
class Reply:
    """The worker answered: its frame, not yet validated."""

    header: dict[str, Any]
    payload: bytes
    worked_s: float = 0.0
    """How long the worker took, by the supervisor's clock."""
    computed_s: float = 0.0
    """The worker's processor time, as the kernel counts it; 0 if that is not known."""


@dataclass(frozen=True)
class Ended:
    """The worker is gone."""

    reason: str
    """`timeout`, or what the supervisor says: `exited`, `stopped`, a broken reply."""
    exit_code: int | None = None
    signal: int | None = None
    worked_s: float = 0.0
    """How long the worker had the last request, by the supervisor's clock."""
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    output: str = ""
    output_bytes: int = 0


class Channel(Protocol):
    """A supervisor, ready to fork a worker for one submission after another."""

    def start(self, limits: Limits) -> Tier:
        """Fork a fresh, confined worker, ending the last one, and say what confines it.

        Raises:
            SandboxUnavailable: The confinement is not available, so nothing runs.
            SandboxBroken: The supervisor is gone.
        """

    def ask(self, frame: bytes, timeout_s: float) -> None:
        """Send one frame to the worker, which gets it once it has answered all before.

        Args:
            frame: What the worker is asked.
            timeout_s: How long the worker may take.

        Raises:
            SandboxBroken: The supervisor is gone.
        """

    def answer(self) -> Reply | Ended:
        """Return the worker's answer to the oldest frame without one, or how the worker ended.

        A crash, a timeout or a broken frame is returned, never raised. What was asked after that
        is never answered: the channel has forgotten it.

        Raises:
            SandboxBroken: The supervisor is gone, or the worker was killed because memory ran out.
        """

    def stop(self) -> Ended:
        """End the worker and say what it used and printed."""

    def close(self) -> None:
        """End supervisor and worker; nothing is left behind."""


class Sandbox(Protocol):
    """One way to confine a supervisor."""

    name: str

    def unavailable(self) -> str | None:
        """Return why this backend cannot be used here, with the remedy; None if it can."""

    def open(self) -> Channel:
        """Start a supervisor and return the channel to it, without waiting for it.

        Raises:
            SandboxUnavailable: The backend cannot be used; nothing ran.
        """
