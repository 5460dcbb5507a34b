"""What a mistake that is replayed or granted may allocate: it runs in the judge, in no sandbox.

Some misconceptions are about shapes and make huge arrays where a right answer makes small ones:
`np.dot` in the place of `np.matmul` multiplies all leading axes with one another.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOM_BYTES = 512 * 1024**2
_STATM = Path("/proc/self/statm")


@contextmanager
def bounded_memory(room_bytes: int = ROOM_BYTES) -> Iterator[None]:
    """Let this process map only so much more inside the block; a request for more raises."""
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        mapped = int(_STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:  # no /proc here, and so no bound
        yield
        return
    bound = mapped + room_bytes
    if hard != resource.RLIM_INFINITY:
        bound = min(bound, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def is_out_of_memory(error: Exception) -> bool:
    """Return whether NumPy or torch could not allocate memory.

    A plain `MemoryError` comes from the program itself, such as from a full pool of pages.
    """
    of_numpy = isinstance(error, MemoryError) and type(error).__module__.startswith("numpy")
    return of_numpy or "can't allocate memory" in str(error)
