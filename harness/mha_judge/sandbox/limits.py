"""What one submission may use."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt


class Limits(BaseModel):
    """What one submission may use, as a `problem.toml` can set it.

    Every limit has a maximum, and a problem cannot ask for a GPU.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    call_s: Annotated[PositiveFloat, Field(le=60)] = 5.0
    """Seconds for one request, by the supervisor's clock, less waiting for a processor."""
    load_s: Annotated[PositiveFloat, Field(le=60)] = 10.0
    """Seconds for loading the file, counted alike."""
    total_s: Annotated[PositiveFloat, Field(le=180)] = 30.0
    """Seconds that a submission may work in all; the judge's time does not count."""
    cpu_s: Annotated[PositiveInt, Field(le=300)] = 180
    """CPU seconds of one worker, in case the supervisor's count fails. A loop over all pairs of
    positions takes 50 for all questions together, and a slow machine longer."""
    memory_bytes: Annotated[PositiveInt, Field(le=8 * 1024**3)] = 2 * 1024**3
    """Address space of a worker beyond what the supervisor has mapped already."""
    open_files: Annotated[PositiveInt, Field(le=512)] = 64
    """File descriptors of a worker."""
    threads: Annotated[PositiveInt, Field(le=128)] = 64
    """Threads of a worker beyond its first."""

    def with_gpu(self) -> GpuLimits:
        """Return the limits of the same submission on a GPU, whose first call takes seconds."""
        return GpuLimits(
            call_s=60.0,
            load_s=60.0,
            total_s=180.0,
            cpu_s=300,
            memory_bytes=self.memory_bytes,
            open_files=512,
            threads=128,
        )

    def bounds(self) -> dict[str, int]:
        """Return the limits that a worker sets itself, as plain numbers."""
        return {
            "memory_bytes": self.memory_bytes,
            "cpu_s": self.cpu_s,
            "file_bytes": 0,
            "open_files": self.open_files,
            "threads": self.threads,
            "gpu": False,
        }


class GpuLimits(Limits):
    """Limits that let a worker reach a GPU. The judge makes them; no file can set them."""

    def bounds(self) -> dict[str, int]:
        return {**super().bounds(), "gpu": True}
