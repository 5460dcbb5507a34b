"""What the caller of the confinement passes in, and the error it may get."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """What one worker may use."""

    memory_bytes: int
    """Address space beyond what the process maps when it is confined."""
    cpu_s: int
    """Processor seconds of all threads together; SIGXCPU then, SIGKILL a second later."""
    file_bytes: int
    """Largest size of a written file (nothing is writable; a second line of defence)."""
    open_files: int
    """Descriptor numbers stay below this."""
    threads: int
    """Tasks beside the main one. Exact under a spare uid; see `limits` for the other cases."""
    gpu: bool = False
    """Whether the worker may reach NVIDIA's devices. Its address space is then not bounded, as CUDA
    reserves more addresses than any machine has memory. Experimental."""


class ConfinementError(Exception):
    """The process cannot be confined as promised, so nothing may run in it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy
