"""What one submission may use."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt


class Limits(BaseModel):
    """What one submission may use."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    call_s: PositiveFloat = 5.0
    """Wall-clock seconds for one request, by the judge's clock."""
    load_s: PositiveFloat = 10.0
    """Wall-clock seconds for loading the file."""
    total_s: PositiveFloat = 30.0
    """Wall-clock seconds in which the whole submission may work; the judge's own do not count."""
    cpu_s: PositiveInt = 60
    """CPU seconds of one worker."""
    memory_bytes: PositiveInt = 2 * 1024**3
    """Address space of a worker beyond what the supervisor has mapped already."""
    open_files: PositiveInt = 64
    """File descriptors of a worker."""
    threads: PositiveInt = 64
    """Threads of a worker beyond its first."""
    gpu: bool = False
    """Whether the worker may reach a GPU."""

    def with_gpu(self) -> Limits:
        """Return the limits of the same submission on a GPU, whose first call takes seconds."""
        return self.model_copy(
            update={
                "gpu": True,
                "call_s": max(self.call_s, 60.0),
                "load_s": max(self.load_s, 60.0),
                "total_s": max(self.total_s, 180.0),
                "cpu_s": max(self.cpu_s, 300),
                "open_files": max(self.open_files, 512),
                "threads": max(self.threads, 128),
            }
        )

    def bounds(self) -> dict[str, int]:
        """Return what a worker confines itself to, as plain numbers."""
        return {
            "memory_bytes": self.memory_bytes,
            "cpu_s": self.cpu_s,
            "file_bytes": 0,
            "open_files": self.open_files,
            "threads": self.threads,
            "gpu": self.gpu,
        }
