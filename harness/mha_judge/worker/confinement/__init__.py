"""Confinement of one worker by the Linux kernel: Landlock, seccomp, rlimits, identity.

`unavailable()` says whether a jail can be had here. Call it in the supervisor before the first
fork: what it works out (the seccomp filter, the library folders) is kept, and every fork inherits
it. `confine()` then takes a few milliseconds in the child, and there is no way back.

Importing this package works on every platform.
"""

import sys
from collections.abc import Sequence

from .contract import Bounds, ConfinementError

__all__ = ["Bounds", "ConfinementError", "confine", "unavailable"]


def unavailable(own_kernel: bool = False) -> str | None:
    """Return why no jail can be had here, with the remedy, or None if one can.

    Args:
        own_kernel: The sandbox brings a kernel of its own: do without Landlock if it has none.
    """
    try:
        _require_linux()
        from . import jail  # imports libraries that exist on Linux only

        jail.prepare(own_kernel)
    except ConfinementError as error:
        return str(error)
    return None


def confine(
    bounds: Bounds, keep_fds: Sequence[int], parent_pid: int, own_kernel: bool = False
) -> dict[str, str | int | bool]:
    """Confine the calling process, freshly forked and single-threaded, for good.

    Everything the worker itself needs must be imported before: only the standard library and
    site-packages can be read afterwards. Descriptors not in `keep_fds` are closed, 0 to 2 as well.
    If the parent has died meanwhile, the process ends.

    Args:
        bounds: What the process may use.
        keep_fds: Descriptors that stay open.
        parent_pid: The process to die with, as its own `os.getpid()` gave it.
        own_kernel: See `unavailable`.

    Returns:
        What holds, for the report.

    Raises:
        ConfinementError: A mandatory layer cannot be had. The process must then end: part of the
            confinement may hold already.
    """
    _require_linux()
    from . import jail

    return jail.confine(bounds, keep_fds, parent_pid, own_kernel)


def _require_linux() -> None:
    if sys.platform != "linux":
        raise ConfinementError(
            f"the jail needs Linux, this is {sys.platform}", "use a Linux machine, virtual or real"
        )
