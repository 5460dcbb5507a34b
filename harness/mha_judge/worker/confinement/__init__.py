"""Confinement of one worker by the Linux kernel: Landlock, seccomp, rlimits, identity.

`unavailable()` says why no jail is available here. Call it in the supervisor before the first fork:
it keeps what it works out (the seccomp filter, the library folders), and every fork inherits that.
`confine()` then takes a few milliseconds in the child, and there is no way back.

Importing this package works on every platform.
"""

import sys
from collections.abc import Sequence

from .contract import Bounds, ConfinementError

__all__ = ["Bounds", "ConfinementError", "confine", "hide_supervisor", "unavailable"]


def unavailable(may_lack_landlock: bool = False) -> str | None:
    """Return why no jail is available here, with the remedy, or None if one is.

    Args:
        may_lack_landlock: Do without Landlock if the kernel has none: what is around the
            supervisor keeps workers from all files and processes of the machine.
    """
    try:
        _require_linux()
        from . import jail  # imports libraries that exist on Linux only

        jail.prepare(may_lack_landlock)
    except ConfinementError as error:
        return str(error)
    return None


def confine(
    bounds: Bounds, keep_fds: Sequence[int], parent_pid: int, may_lack_landlock: bool = False
) -> dict[str, str | int | bool]:
    """Confine the calling process, freshly forked and single-threaded, for good.

    Import everything the worker itself needs before: only the standard library and site-packages
    can be read afterwards. Descriptors not in `keep_fds` are closed, 0 to 2 as well.
    If the parent has died meanwhile, the process ends.

    Args:
        bounds: What the process may use.
        keep_fds: Descriptors that stay open.
        parent_pid: The parent's own `os.getpid()`; the process dies with it.
        may_lack_landlock: See `unavailable`.

    Returns:
        What holds, for the report.

    Raises:
        ConfinementError: A mandatory layer is not available. The process must then end: part of the
            confinement may hold already.
    """
    _require_linux()
    from . import jail

    return jail.confine(bounds, keep_fds, parent_pid, may_lack_landlock)


def hide_supervisor() -> None:
    """Keep this process's memory and descriptors from workers that run without Landlock.

    They have its uid. Call it before the first fork, after `unavailable`.
    """
    from . import jail

    jail.hide_supervisor()


def _require_linux() -> None:
    if sys.platform != "linux":
        raise ConfinementError(
            f"the jail needs Linux, this is {sys.platform}", "use a Linux machine, virtual or real"
        )
