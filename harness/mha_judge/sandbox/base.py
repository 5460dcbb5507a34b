"""The contract of every backend: what is returned, and what is raised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt


class Limits(BaseModel):
    """What one submission may use."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    call_s: PositiveFloat = 5.0
    """Wall-clock seconds for one request, by the judge's clock."""
    load_s: PositiveFloat = 10.0
    """Wall-clock seconds for loading the file."""
    total_s: PositiveFloat = 30.0
    """Wall-clock seconds for the whole submission."""
    cpu_s: PositiveInt = 60
    """CPU seconds of one worker."""
    memory_bytes: PositiveInt = 2 * 1024**3
    """Address space of a worker beyond what the supervisor has mapped already."""
    open_files: PositiveInt = 64
    """File descriptors of a worker."""
    threads: PositiveInt = 64
    """Threads of a worker beyond its first."""

    def bounds(self) -> dict[str, int]:
        """Return what a worker confines itself to, as plain numbers."""
        return {
            "memory_bytes": self.memory_bytes,
            "cpu_s": self.cpu_s,
            "file_bytes": 0,
            "open_files": self.open_files,
            "threads": self.threads,
        }


@dataclass(frozen=True)
class Tier:
    """The confinement that was in fact achieved."""

    backend: str
    tier: str
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """The worker answered: a frame of its own, not yet believed."""

    header: dict[str, Any]
    payload: bytes


@dataclass(frozen=True)
class Ended:
    """The worker is gone."""

    reason: str
    """`timeout`, or what the supervisor says: `exited`, `stopped`, a broken reply."""
    exit_code: int | None = None
    signal: int | None = None
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    output: str = ""
    output_bytes: int = 0


class Channel(Protocol):
    """A supervisor, ready to fork a worker for one submission after another."""

    def start(self, limits: Limits) -> Tier:
        """Fork a fresh, confined worker, ending the last one, and say what confines it.

        Raises:
            SandboxUnavailable: Nothing runs, because the confinement cannot be had.
            SandboxBroken: The supervisor is gone.
        """

    def request(self, frame: bytes, timeout_s: float) -> Reply | Ended:
        """Send one frame to the worker and return its answer, or how it ended.

        A crash, a timeout and nonsense in place of an answer are returned, never raised.

        Raises:
            SandboxBroken: The supervisor is gone.
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
            SandboxUnavailable: Nothing ran.
        """
