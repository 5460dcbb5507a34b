"""Landlock: the worker reads libraries, writes nothing, and reaches no other process.

Every right the running kernel offers is handled, so what no rule grants is refused. `stat`,
`readlink`, `chmod` and the like are outside Landlock: see `syscalls` for those.
"""

import os
import stat
from pathlib import Path

from . import paths
from .contract import ConfinementError
from .libraries import landlock_rights as rights
from .libraries import py_landlock as ll

_READ_FILE = ll.AccessFs.READ_FILE
_READ_FOLDER = ll.AccessFs.READ_FILE | ll.AccessFs.READ_DIR
_READ_WRITE = ll.AccessFs.READ_FILE | ll.AccessFs.WRITE_FILE

TRUNCATE_ABI = 3
"""The first version that governs truncation."""
IOCTL_ABI = 5
"""The first version that governs what may be asked of a device."""


def abi() -> int:
    """Return the kernel's Landlock version.

    Raises:
        ConfinementError: Landlock is missing, disabled or filtered.
    """
    try:
        return ll.get_abi_version()
    except ll.LandlockDisabledError as error:
        raise ConfinementError(
            "Landlock is disabled",
            "boot with landlock in the kernel's lsm= list, or install bubblewrap",
        ) from error
    except ll.LandlockError as error:
        raise ConfinementError(
            f"Landlock cannot be had ({error})",
            "use Linux 5.13 or later, or install bubblewrap",
        ) from error


def restrict(gpu: bool = False) -> None:
    """Restrict this thread for good, with or without NVIDIA's devices. Needs no_new_privs."""
    version = ll.ABIVersion(abi())
    ruleset = ll.create_ruleset(
        ll.RulesetAttr(
            handled_access_fs=rights.get_supported_fs(version),
            handled_access_net=rights.get_supported_net(version),
            scoped=rights.get_supported_scope(version),
        )
    )
    try:
        for path in paths.readable():
            _grant(ruleset, path, write=False)
        for path in paths.READ_WRITE:
            _grant(ruleset, path, write=True)
        for path in paths.gpu_readable() if gpu else ():
            _grant(ruleset, path, write=False)
        for path in paths.gpu_devices() if gpu else ():
            _grant(ruleset, path, write=True, ioctl=version >= IOCTL_ABI)
        if gpu:
            _grant(ruleset, paths.OWN_THREADS, write=True, truncate=version >= TRUNCATE_ABI)
        ll.restrict_self(ruleset, None)
    finally:
        os.close(ruleset)


def _grant(
    ruleset: ll.RulesetFd, path: Path, *, write: bool, ioctl: bool = False, truncate: bool = False
) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # missing or out of reach: nothing to grant
    try:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        access = _READ_WRITE if write else _READ_FOLDER if folder else _READ_FILE
        if ioctl:
            access |= ll.AccessFs.IOCTL_DEV
        if truncate:
            access |= ll.AccessFs.TRUNCATE
        ll.add_rule(ruleset, ll.PathBeneathAttr(allowed_access=access, parent_fd=descriptor))
    finally:
        os.close(descriptor)
