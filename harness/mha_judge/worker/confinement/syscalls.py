"""seccomp: the system calls a torch program on the CPU needs, and no other.

The list comes from traced runs: matrix products, autograd, bfloat16, einsum, linear algebra,
OpenMP and Python threads, late imports. A call that is not listed fails with EPERM, one from a
foreign architecture (32-bit or x32) kills the process.
"""

import errno
import os
from functools import cache

from .contract import ConfinementError
from .kernel import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
)
from .libraries import pyseccomp as sc

_ANY_ARGUMENTS = tuple(
    """
    read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek close
    close_range dup dup2 dup3 pipe pipe2 poll ppoll select pselect6 getdents64
    stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat getcwd
    brk munmap mremap mprotect madvise membarrier
    futex set_robust_list rseq gettid exit exit_group sched_yield restart_syscall
    sched_getaffinity sched_getparam sched_getscheduler getcpu
    sched_get_priority_max sched_get_priority_min
    rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack alarm getitimer setitimer
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times
    getpid getppid getpgrp getuid geteuid getgid getegid getgroups getresuid getresgid
    getrusage getrlimit getrandom sysinfo uname capget
""".split()
)

_INT = 0xFFFFFFFF
"""The kernel reads an int from the low half of the register, whatever the high half holds."""
_ALL = 0xFFFFFFFFFFFFFFFF

_AF_UNIX = 1
_F_SETFL = 4
_FCNTL_COMMANDS = (0, 1, 2, 3, 1030)  # F_DUPFD F_GETFD F_SETFD F_GETFL F_DUPFD_CLOEXEC
# No F_SETFL: flags belong to the open file, which the supervisor may share.

_IOCTL_REQUESTS = (0x5401, 0x541B, 0x5450, 0x5451)  # TCGETS FIONREAD FIONCLEX FIOCLEX

_NVIDIA_IOCTL = 0x46
"""`F`, the letter under which the driver's own requests are numbered."""
_UVM_LIFETIME = (0x30000001, 0x30000002)

_PRCTL_OPTIONS = (
    2,  # PR_GET_PDEATHSIG
    3,  # PR_GET_DUMPABLE
    15,  # PR_SET_NAME
    16,  # PR_GET_NAME
    21,  # PR_GET_SECCOMP
    23,  # PR_CAPBSET_READ
    39,  # PR_GET_NO_NEW_PRIVS
    0x53564D41,  # PR_SET_VMA, names a mapping
)

# oneDNN asks for the tile registers (AMX) this way; refused, bfloat16 would take another path.
_ARCH_PRCTL_CODES = (0x1021, 0x1022, 0x1023)  # ARCH_GET_XCOMP_SUPP _PERM, ARCH_REQ_XCOMP_PERM

_MAP_HUGETLB = 0x40000

_CLONE_VM, _CLONE_SIGHAND, _CLONE_THREAD = 0x100, 0x800, 0x10000
_CLONE_PIDFD, _CLONE_PTRACE, _CLONE_VFORK = 0x1000, 0x2000, 0x4000
_A_THREAD = _CLONE_VM | _CLONE_SIGHAND | _CLONE_THREAD
_NO_THREAD = (
    _CLONE_PIDFD
    | _CLONE_PTRACE
    | _CLONE_VFORK
    | CLONE_NEWCGROUP
    | CLONE_NEWIPC
    | CLONE_NEWNET
    | CLONE_NEWNS
    | CLONE_NEWPID
    | CLONE_NEWUSER
    | CLONE_NEWUTS
)


@cache
def prepared(*, truncation_governed: bool) -> sc.SyscallFilter:
    """Return the filter without the rules on the worker's own pid, built once before forking.

    Args:
        truncation_governed: Whether Landlock refuses `O_RDONLY | O_TRUNC`, which it does from its
            third version; before, no open may truncate or create.
    """
    filter_ = sc.SyscallFilter(sc.ERRNO(errno.EPERM))
    try:
        filter_.set_attr(sc.Attr.ACT_BADARCH, sc.KILL_PROCESS)
    except OSError:  # gVisor's kernel ends the thread only, which refuses the call as well
        filter_.set_attr(sc.Attr.ACT_BADARCH, sc.KILL)
    filter_.set_attr(sc.Attr.CTL_TSYNC, 1)
    for name in _ANY_ARGUMENTS:
        _allow(filter_, name)
    for name, argument in (("open", 1), ("openat", 2)):
        forbidden = 0 if truncation_governed else os.O_TRUNC | os.O_CREAT
        _allow(filter_, name, sc.Arg(argument, sc.MASKED_EQ, forbidden, 0))
    _allow(filter_, "mmap", sc.Arg(3, sc.MASKED_EQ, _MAP_HUGETLB, 0))
    _allow(filter_, "clone", sc.Arg(0, sc.MASKED_EQ, _A_THREAD | _NO_THREAD, _A_THREAD))
    _allow_one_of(filter_, "fcntl", 1, _FCNTL_COMMANDS)
    _allow_one_of(filter_, "ioctl", 1, _IOCTL_REQUESTS)
    _allow_one_of(filter_, "prctl", 0, _PRCTL_OPTIONS)
    _allow_one_of(filter_, "arch_prctl", 0, _ARCH_PRCTL_CODES)
    _refuse_clone3(filter_)
    return filter_


def load(*, truncation_governed: bool, gpu: bool = False) -> None:
    """Apply the filter to this process for good. Sets no_new_privs if nobody has."""
    filter_ = prepared(truncation_governed=truncation_governed)
    if gpu:
        _allow_gpu(filter_)
    own = os.getpid()
    _allow_one_of(filter_, "kill", 0, (own,))
    _allow_one_of(filter_, "tgkill", 0, (own,))
    for pid in (0, own):
        _allow(
            filter_,
            "prlimit64",
            sc.Arg(0, sc.MASKED_EQ, _INT, pid),
            sc.Arg(2, sc.MASKED_EQ, _ALL, 0),  # no new limit: it only asks
        )
    filter_.load()


def _allow_gpu(filter_: sc.SyscallFilter) -> None:
    """Allow what NVIDIA's library does beyond a CPU program; a worker has no terminal to ask."""
    _allow(filter_, "ioctl", sc.Arg(1, sc.MASKED_EQ, 0xFF00, _NVIDIA_IOCTL << 8))
    _allow(filter_, "ioctl", sc.Arg(1, sc.MASKED_EQ, _INT & ~0xFF, 0))  # unified memory: 0 to 255
    _allow_one_of(filter_, "ioctl", 1, _UVM_LIFETIME)
    # its own event descriptors must not block; other flags of an open file stay as they are
    for flags in (os.O_NONBLOCK, os.O_NONBLOCK | os.O_RDWR):
        set_flags = (sc.Arg(1, sc.MASKED_EQ, _INT, _F_SETFL), sc.Arg(2, sc.MASKED_EQ, _ALL, flags))
        _allow(filter_, "fcntl", *set_flags)
    # CUDA listens for other processes of the user, and gives up if it cannot; no connection can be
    # accepted or made
    _allow(filter_, "socket", sc.Arg(0, sc.MASKED_EQ, _INT, _AF_UNIX))
    filter_.add_rule(sc.ERRNO(errno.ENOENT), "unlink")  # before CUDA listens: nothing is there
    for name in (
        "eventfd2", "sched_setaffinity", "mincore", "mlock", "get_mempolicy", "bind", "listen",
    ):  # fmt: skip
        _allow(filter_, name)


def _refuse_clone3(filter_: sc.SyscallFilter) -> None:
    """Answer ENOSYS, on which libc falls back to clone: a filter cannot see clone3's arguments."""
    if sc.resolve_syscall(sc.Arch.NATIVE, "clone3") < 0:
        raise ConfinementError("libseccomp does not know clone3", "install libseccomp 2.5 or later")
    filter_.add_rule(sc.ERRNO(errno.ENOSYS), "clone3")


def _allow_one_of(
    filter_: sc.SyscallFilter, name: str, argument: int, values: tuple[int, ...]
) -> None:
    for value in values:
        _allow(filter_, name, sc.Arg(argument, sc.MASKED_EQ, _INT, value))


def _allow(filter_: sc.SyscallFilter, name: str, *conditions: sc.Arg) -> None:
    """Allow a system call, if this architecture has it."""
    number = sc.resolve_syscall(sc.Arch.NATIVE, name)
    if number >= 0:
        filter_.add_rule(sc.ALLOW, number, *conditions)
