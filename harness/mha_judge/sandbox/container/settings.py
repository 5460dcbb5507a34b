"""Settings of a container, as plain classes: they are read before any large import."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mha_judge.errors import SandboxUnavailable, UsageError
from mha_judge.version import __version__

if TYPE_CHECKING:
    from mha_judge.sandbox.limits import Limits

IMAGE = f"mha-judge-sandbox:{__version__}"
CUDA_IMAGE = f"mha-judge-sandbox:{__version__}-cuda"

MIB = 1024**2
SUPERVISOR_BYTES = 512 * MIB
"""Room for the supervisor with torch in it, and for the scratch folder, beside the worker."""

_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([KMGT]?)(?:iB|B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


@dataclass(frozen=True)
class Settings:
    """The image, the runtime and the limits of a container.

    Raises:
        UsageError: If a value is out of range.
    """

    image: str = IMAGE
    """Name or id of an image that `mha-judge sandbox build` made."""
    runtime: str | None = None
    """A runtime that the engine knows, such as `runsc`; the engine's default if None."""
    memory_bytes: int = 3 * 1024**3
    """Limit of the control group for supervisor, worker and scratch folder; no swap beyond."""
    cpus: float = 1.0
    """Share of the processors."""
    tasks: int = 128
    """Processes and threads."""
    scratch_bytes: int = 64 * MIB
    """Size of /tmp, which lies in memory."""
    gpus: tuple[str, ...] = ()
    """Ids or indices of the GPUs that the container gets."""

    def with_gpu(self) -> Settings:
        """Return the settings of a container with the first GPU: the CUDA image, and more room.

        CUDA's libraries alone take gigabytes of host memory, and threads.
        """
        return replace(
            self,
            image=CUDA_IMAGE if self.image == IMAGE else self.image,
            gpus=self.gpus or ("0",),
            memory_bytes=max(self.memory_bytes, 12 * 1024**3),
            tasks=max(self.tasks, 512),
        )

    def __post_init__(self) -> None:
        least = SUPERVISOR_BYTES + 256 * MIB
        if self.memory_bytes < least:
            raise UsageError(
                f"a container with {self.memory_bytes} bytes of memory cannot hold torch and a "
                f"submission; give it {least // MIB}M or more"
            )
        if not 0.1 <= self.cpus <= 4096:
            raise UsageError(f"{self.cpus:g} is no number of processors; give 0.1 or more")
        if not 16 <= self.tasks <= 1_000_000:
            raise UsageError(f"{self.tasks} is no number of tasks; give 16 or more")
        if not 0 < self.scratch_bytes < SUPERVISOR_BYTES // 2:
            raise UsageError("the scratch folder must be smaller than a quarter of a gigabyte")

    def require_room_for(self, limits: Limits) -> None:
        """Check that the container has room for what a problem lets a submission use.

        Otherwise the kernel would kill a submission that keeps to its limits.

        Raises:
            SandboxUnavailable: If the container has too little room.
        """
        needed = limits.memory_bytes + SUPERVISOR_BYTES
        if needed > self.memory_bytes:
            raise SandboxUnavailable(
                f"the problem allows {limits.memory_bytes // MIB}M of memory and the container has "
                f"{self.memory_bytes // MIB}M; pass --memory {-(-needed // MIB)}M or more"
            )
        if limits.threads + 8 > self.tasks:
            raise SandboxUnavailable(
                f"the problem allows {limits.threads} threads and the container {self.tasks} tasks"
            )


def parse_size(text: str) -> int:
    """Return the bytes of a size such as `512M` or `3G`; units are powers of 1024.

    Raises:
        UsageError: If the text is no size.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no size; write it like 512M or 3G")
    return int(float(found.group(1)) * _UNITS[found.group(2).upper()])
