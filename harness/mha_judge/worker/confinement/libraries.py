"""The two libraries the confinement stands on, imported without starting a program.

Both look up shared objects through `ctypes.util.find_library`, which runs ldconfig, gcc or ld:
20 ms, and it finds nothing in a sandbox without them. The dynamic loader knows the sonames.
"""

import ctypes.util
from collections.abc import Iterator
from contextlib import contextmanager

from .contract import ConfinementError

_SONAMES = {"c": "libc.so.6", "seccomp": "libseccomp.so.2"}


@contextmanager
def _sonames_without_search() -> Iterator[None]:
    search = ctypes.util.find_library
    ctypes.util.find_library = _SONAMES.get  # type: ignore[assignment]  # asked for these two only
    try:
        yield
    finally:
        ctypes.util.find_library = search


try:
    with _sonames_without_search():
        import py_landlock
        import py_landlock.libc
        import pyseccomp
        from py_landlock import abi as landlock_rights

        py_landlock.libc.get_syscall()  # loads libc now rather than at the first call
except ImportError as error:
    raise ConfinementError(
        f"{error.name} is not installed", "pip install pyseccomp py-landlock"
    ) from error
except (OSError, RuntimeError) as error:
    raise ConfinementError(
        f"libseccomp cannot be loaded ({error})",
        "install it, for example: apt install libseccomp2",
    ) from error
except py_landlock.LandlockNotAvailableError as error:
    raise ConfinementError(str(error), "use a Linux machine, virtual or real") from error

__all__ = ["landlock_rights", "py_landlock", "pyseccomp"]
