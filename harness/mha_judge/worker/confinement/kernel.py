"""The few kernel calls that Python's `os` lacks, and this process's own figures."""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_NEWNS = 0x00020000

PR_SET_PDEATHSIG = 1
PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_GET_SECCOMP = 21
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


@dataclass(frozen=True)
class Status:
    """Figures from /proc/self/status."""

    vm_bytes: int
    threads: int
    capabilities: int
    """The effective set, one bit each."""


def status() -> Status:
    """Return this process's figures."""
    lines = Path("/proc/self/status").read_bytes().splitlines()
    fields = dict(line.split(b":", 1) for line in lines if b":" in line)
    return Status(
        vm_bytes=int(fields[b"VmSize"].split()[0]) * 1024,
        threads=int(fields[b"Threads"]),
        capabilities=int(fields[b"CapEff"], 16),
    )


def prctl(option: int, argument: int = 0) -> int:
    """Call prctl; arguments that are not given are zero."""
    zero = ctypes.c_ulong(0)
    return _checked(_libc.prctl(option, ctypes.c_ulong(argument), zero, zero, zero))


def unshare(namespaces: int) -> None:
    """Move this process into new namespaces."""
    _checked(_libc.unshare(namespaces))


def clear_capabilities() -> None:
    """Empty the effective, permitted and inheritable sets."""
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(ctypes.byref(header), nothing))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
