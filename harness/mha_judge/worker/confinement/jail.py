"""Puts the layers of the confinement on; their order matters.

The uid changes before the death signal and the dumpable flag are set, as the kernel resets both
when credentials change; figures are read from /proc before Landlock hides it; Landlock needs
no_new_privs; seccomp comes last, since it forbids all the rest.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from . import identity, kernel, landlock, limits, namespaces, paths, syscalls
from .contract import Bounds, ConfinementError
from .libraries import py_landlock

_SECCOMP_FILTER = 2


def prepare(may_lack_landlock: bool) -> int:
    """Work out what every worker shares, changing nothing in this process.

    Returns:
        The version of Landlock; 0 if the kernel has none and may lack it.

    Raises:
        ConfinementError: No jail is available here.
    """
    with _mandatory("/proc", "mount /proc"):
        kernel.status()
    version = _landlock_version(may_lack_landlock)
    with _mandatory("seccomp", "use a kernel with CONFIG_SECCOMP_FILTER"):
        kernel.prctl(kernel.PR_GET_SECCOMP)
        syscalls.prepared(truncation_governed=version >= landlock.TRUNCATE_ABI)
    with _mandatory("the interpreter's folders", "make them readable"):
        paths.readable()
        paths.readable_to_strangers()
    return version


def confine(
    bounds: Bounds, keep_fds: Sequence[int], parent_pid: int, may_lack_landlock: bool
) -> dict[str, str | int | bool]:
    """See the package."""
    version = prepare(may_lack_landlock)
    with _mandatory("a session of its own", "confine a freshly forked process"):
        os.setsid()
    with _mandatory("/proc/self/fd", "mount /proc"):
        _close_all_but(keep_fds)
    _offer_to_the_oom_killer()
    before = _single_threaded()
    identity.forbid_regaining_capabilities()
    separate = namespaces.separate(before.capabilities)
    spare_uid = identity.become_nobody(before.capabilities)
    with _mandatory("dropping capabilities", "report this"):
        kernel.clear_capabilities()
    _die_with(parent_pid, names_threads=bounds.gpu)
    os.umask(0o077)
    with _mandatory("rlimits", "ask for bounds within those of the caller"):
        tasks = limits.apply(bounds, before.vm_bytes, spare_uid=spare_uid, lenient=not version)
    with _mandatory("no_new_privs", "use Linux 3.5 or later"):
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if version:
        with _mandatory("Landlock", "use Linux 5.13 or later"):
            landlock.restrict(bounds.gpu)
    with _mandatory("seccomp", "use a kernel with CONFIG_SECCOMP_FILTER"):
        syscalls.load(truncation_governed=version >= landlock.TRUNCATE_ABI, gpu=bounds.gpu)
    _verify(landlocked=version > 0)
    return {
        "landlock_abi": version,
        "seccomp": True,
        "no_new_privs": True,
        "capabilities": "none",
        "namespaces": separate,
        "uid": os.getuid(),
        "gid": os.getgid(),
        "spare_uid": spare_uid,
        "task_limit": tasks,
        **({"gpu": "experimental"} if bounds.gpu else {}),
    }


def hide_supervisor() -> None:
    """See the package; in /proc an undumpable process is open to none without capabilities."""
    if not _landlock_version(may_lack=True):
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _landlock_version(may_lack: bool) -> int:
    try:
        return landlock.abi()
    except ConfinementError:
        if may_lack:
            return 0
        raise


def _close_all_but(keep_fds: Sequence[int]) -> None:
    # Not os.closerange: without close_range in libc it tries every number up to the last.
    for descriptor in _open_descriptors().difference(keep_fds):
        with suppress(OSError):  # the one that listed the folder is closed already
            os.close(descriptor)


def _open_descriptors() -> set[int]:
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}


def _offer_to_the_oom_killer() -> None:
    """Let the kernel kill the worker first if memory runs out, not the supervisor or another."""
    with suppress(OSError):  # an addition: the address space is bounded
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _single_threaded() -> kernel.Status:
    status = kernel.status()
    if status.threads != 1:  # Landlock and the credentials would bind one thread only
        raise ConfinementError(
            f"the process has {status.threads} threads", "confine right after the fork"
        )
    return status


def _die_with(parent_pid: int, *, names_threads: bool) -> None:
    """End with the parent. Belong to root in /proc, unless CUDA must name threads there."""
    with _mandatory("the death signal", "report this"):
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.prctl(kernel.PR_SET_DUMPABLE, int(names_threads))
    if os.getppid() != parent_pid:
        os._exit(1)  # the parent died before the signal was set: nobody is left to tell


def _verify(*, landlocked: bool) -> None:
    """Try what must now fail, rather than trust the calls that set it up."""
    if kernel.prctl(kernel.PR_GET_SECCOMP) != _SECCOMP_FILTER:
        raise ConfinementError("seccomp does not hold", "report this")
    if kernel.prctl(kernel.PR_GET_NO_NEW_PRIVS) != 1:
        raise ConfinementError("no_new_privs does not hold", "report this")
    if landlocked:
        try:
            os.close(os.open("/", os.O_RDONLY | os.O_DIRECTORY))
        except PermissionError:
            pass
        else:
            raise ConfinementError("Landlock does not hold", "report this")
    try:
        os.kill(0, 0)
    except PermissionError:
        return
    raise ConfinementError("seccomp does not hold", "report this")


@contextmanager
def _mandatory(layer: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, py_landlock.LandlockError) as error:
        raise ConfinementError(f"{layer} cannot be had ({error})", remedy) from error
