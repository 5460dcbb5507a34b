"""What a process that grades is told: where all of its jobs belong, and each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import Channel
from mha_judge.submission import Submission

OpenSandbox = Callable[[], Channel]
"""Starts a supervisor; it must be picklable, because each process calls it for itself."""
WARM_UP = "warm up"
"""What a process is told in the place of a job, to get ready for the first."""


@dataclass(frozen=True)
class Place:
    """What all jobs of a process have in common."""

    bank: Path
    open_sandbox: OpenSandbox
    gpus: GpuAccess | None = None


@dataclass(frozen=True)
class Job:
    """One submission to be graded under one seed."""

    problem: str
    submission: Submission
    seed: int
    verdict_only: bool = False
    """Stop at the first check that fails, and explain nothing."""
    without_gpu: bool = False
    """Assess no check on a GPU, though one could be reached."""
    shows_call: bool = True
    """Look for the smallest call that goes wrong."""


@dataclass(frozen=True)
class Call:
    """Code of one's own that calls a submission, and the reference beside it."""

    problem: str
    submission: Submission
    code: str
    """Assignments and calls, as `trying.notation` reads them."""
    seed: int = 0
    """Of a layer's weights and of drawn inputs."""
