"""Each thing a submission must not do is tried from inside, and each it must do."""

# Attempts are spelled as a submission would spell them.
# ruff: noqa: PTH101, PTH108, PTH123, PTH208, SIM115

import ctypes
import errno
import fcntl
import importlib
import json
import mmap
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mha_judge.worker import confinement
from mha_judge.worker.confinement import Bounds, ConfinementError

if reason := confinement.unavailable():
    pytest.skip(reason, allow_module_level=True)

from mha_judge.worker.confinement import landlock, paths, syscalls
from mha_judge.worker.confinement.libraries import py_landlock, pyseccomp

# pytest-xdist has threads; the forks below use none of what they may hold.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]

BOUNDS = Bounds(memory_bytes=2 << 30, cpu_s=60, file_bytes=1 << 20, open_files=64, threads=16)
JUDGE = os.getpid()
X86_64 = platform.machine() == "x86_64"

libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Outcome:
    """How an attempt in a jail ended."""

    value: Any = None
    error: int | None = None
    message: str = ""
    held: dict[str, Any] | None = None
    signal: int = 0
    exit_code: int = 0


def jailed(
    attempt: Callable[[], object],
    bounds: Bounds = BOUNDS,
    keep_fds: Sequence[int] = (),
    parent_pid: int | None = None,
) -> Outcome:
    """Run `attempt` in a fork that has confined itself."""
    reader, writer = os.pipe()
    parent = os.getpid() if parent_pid is None else parent_pid
    if (child := os.fork()) == 0:
        try:
            _reply(writer, attempt, bounds, [*keep_fds, writer], parent)
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        reply = json.loads(pipe.read() or b"{}")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Outcome(signal=os.WTERMSIG(status))
    return Outcome(**reply, exit_code=os.WEXITSTATUS(status))


def _reply(
    writer: int, attempt: Callable[[], object], bounds: Bounds, keep: Sequence[int], parent: int
) -> None:
    reply: dict[str, object] = {}
    try:
        reply["held"] = confinement.confine(bounds, keep, parent)
        reply["value"] = attempt()
    except OSError as error:
        reply |= {"error": error.errno, "message": str(error)}
    except BaseException as error:
        reply |= {"error": -1, "message": repr(error)}
    os.write(writer, json.dumps(reply).encode())


def value_of(attempt: Callable[[], object], **options: Any) -> Any:
    outcome = jailed(attempt, **options)
    assert (outcome.error, outcome.signal, outcome.exit_code) == (None, 0, 0), outcome
    return outcome.value


def number(name: str) -> int:
    found: int = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
    return found


def raw(name: str, *arguments: int) -> int:
    """Make a system call, past every check a library makes first."""
    return checked(libc.syscall(number(name), *map(ctypes.c_long, arguments)))


def checked(result: int) -> int:
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


# System calls

FORBIDDEN: list[tuple[str, tuple[int, ...]]] = [
    *((name, ()) for name in ("fork", "vfork", "execve", "execveat")),
    ("clone", (signal.SIGCHLD,)),
    ("clone", (0x11,)),
    ("clone", (0x10000900 | 0x10000,)),  # a thread in a new user namespace
    ("unshare", (0x10000000,)),
    ("setns", (0, 0)),
    ("socket", (socket.AF_INET, socket.SOCK_STREAM, 0)),
    ("socket", (socket.AF_UNIX, socket.SOCK_STREAM, 0)),
    ("socket", (40, socket.SOCK_STREAM, 0)),  # AF_VSOCK
    *((name, ()) for name in ("socketpair", "connect", "bind", "sendto", "sendmsg", "recvmsg")),
    *((name, ()) for name in ("accept4", "listen", "shutdown", "setsockopt")),
    *((name, ()) for name in ("memfd_create", "memfd_secret", "shmget", "shmat", "shmctl")),
    *((name, ()) for name in ("msgget", "msgsnd", "semget", "semop", "mq_open")),
    *((name, ()) for name in ("io_uring_setup", "io_uring_enter", "io_uring_register")),
    *((name, ()) for name in ("io_setup", "io_submit")),
    *((name, ()) for name in ("ptrace", "process_vm_readv", "process_vm_writev", "kcmp")),
    *((name, ()) for name in ("pidfd_open", "pidfd_getfd", "pidfd_send_signal")),
    *((name, ()) for name in ("process_madvise", "process_mrelease")),
    *((name, ()) for name in ("mount", "umount2", "pivot_root", "chroot", "open_tree")),
    *((name, ()) for name in ("move_mount", "fsopen", "fsmount", "fspick", "mount_setattr")),
    *((name, ()) for name in ("keyctl", "add_key", "request_key", "bpf", "perf_event_open")),
    *((name, ()) for name in ("userfaultfd", "seccomp", "personality", "landlock_create_ruleset")),
    *((name, ()) for name in ("landlock_restrict_self", "name_to_handle_at", "open_by_handle_at")),
    *((name, ()) for name in ("inotify_init1", "fanotify_init", "fanotify_mark", "quotactl")),
    *((name, ()) for name in ("mlock", "mlock2", "mlockall", "mincore", "mbind", "move_pages")),
    *((name, ()) for name in ("migrate_pages", "set_mempolicy", "remap_file_pages")),
    *((name, ()) for name in ("setuid", "setgid", "setreuid", "setregid", "setresuid")),
    *((name, ()) for name in ("setresgid", "setgroups", "setfsuid", "setfsgid", "capset")),
    *((name, ()) for name in ("setsid", "setpgid", "umask", "sethostname", "setdomainname")),
    *((name, ()) for name in ("chmod", "fchmod", "fchmodat", "chown", "lchown", "fchown")),
    *((name, ()) for name in ("fchownat", "utime", "utimes", "utimensat", "futimesat")),
    *((name, ()) for name in ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "getxattr")),
    *((name, ()) for name in ("link", "linkat", "symlink", "symlinkat", "mknod", "mknodat")),
    *((name, ()) for name in ("rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir")),
    *((name, ()) for name in ("mkdir", "mkdirat", "creat", "truncate", "ftruncate", "fallocate")),
    *((name, ()) for name in ("chdir", "fchdir", "flock", "sync", "syncfs", "fsync")),
    *((name, ()) for name in ("splice", "tee", "vmsplice", "sendfile", "copy_file_range")),
    *((name, ()) for name in ("tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")),
    *((name, (JUDGE, JUDGE, 0)) for name in ("kill", "tgkill")),
    ("kill", (0, 0)),
    ("kill", (-1, 0)),
    ("kill", (1, 0)),
    ("prlimit64", (JUDGE, resource.RLIMIT_NOFILE, 0, 0)),
    ("prlimit64", (0, resource.RLIMIT_NOFILE, 1, 0)),
    ("setrlimit", (resource.RLIMIT_NOFILE, 0)),
    *((name, (0, 0, 0)) for name in ("sched_setaffinity", "sched_setscheduler", "sched_setattr")),
    *((name, ()) for name in ("sched_setparam", "setpriority", "ioprio_set")),
    *((name, ()) for name in ("settimeofday", "clock_settime", "clock_adjtime", "adjtimex")),
    *((name, ()) for name in ("timer_create", "timerfd_create", "signalfd4", "epoll_create1")),
    *((name, ()) for name in ("reboot", "swapon", "kexec_load", "init_module", "finit_module")),
    *((name, ()) for name in ("syslog", "acct", "iopl", "ioperm", "modify_ldt", "lookup_dcookie")),
    ("ioctl", (0, 0x5412, 0)),  # TIOCSTI
    ("ioctl", (0, 0xFFFFFFFF_00005412 - 2**64, 0)),
    ("ioctl", (0, 0x541C, 0)),  # TIOCLINUX
    ("ioctl", (0, 0x5421, 0)),  # FIONBIO
    ("fcntl", (0, 4, os.O_NONBLOCK)),  # F_SETFL
    ("fcntl", (0, 6, 0)),  # F_SETLK
    ("fcntl", (0, 8, JUDGE)),  # F_SETOWN
    ("fcntl", (0, 1031, 1 << 20)),  # F_SETPIPE_SZ
    ("prctl", (1, 0)),  # PR_SET_PDEATHSIG
    ("prctl", (4, 1)),  # PR_SET_DUMPABLE
    ("prctl", (22, 2, 0)),  # PR_SET_SECCOMP
    ("prctl", (0x59616D61, -1)),  # PR_SET_PTRACER
    ("arch_prctl", (0x1002, 0)),  # ARCH_SET_FS
    ("mmap", (0, 1 << 21, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000, -1, 0)),  # huge
]


def _named(call: tuple[str, tuple[int, ...]]) -> str:
    return "-".join([call[0], *("judge" if a == JUDGE else f"{a:x}" for a in call[1])])


@pytest.mark.parametrize("call", FORBIDDEN, ids=_named)
def test_a_forbidden_system_call_fails(call: tuple[str, tuple[int, ...]]) -> None:
    name, arguments = call
    if number(name) < 0:
        pytest.skip(f"no {name} on this architecture, or libseccomp does not know it")

    def attempt() -> None:
        if raw(name, *arguments, *[0] * (6 - len(arguments))) == 0 and "fork" in name:
            os._exit(3)

    assert jailed(attempt).error == errno.EPERM


WITH_GPU = replace(BOUNDS, gpu=True)


def test_with_a_gpu_a_worker_may_do_what_cuda_does() -> None:
    def attempt() -> list[str]:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(f"\0mha-judge {os.getpid()}")
        listening.listen()
        fcntl.fcntl(listening, fcntl.F_SETFL, os.O_NONBLOCK)
        os.eventfd(0)
        name = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
        name.write_text("cuda", encoding="ascii")
        with pytest.raises(FileNotFoundError):
            os.unlink("")
        return [name.read_text(encoding="ascii").strip()]

    assert value_of(attempt, bounds=WITH_GPU) == ["cuda"]


def _connected() -> None:
    socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect("\0mha-judge nobody")


def _accepted() -> None:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"\0mha-judge {os.getpid()}")
    listening.listen()
    listening.accept()


@pytest.mark.parametrize(
    "attempt",
    [
        _connected,
        _accepted,
        lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        lambda: socket.socketpair(),
        lambda: fcntl.fcntl(1, fcntl.F_SETFL, os.O_APPEND),
        lambda: os.kill(JUDGE, 0),
        lambda: os.fork() or os._exit(3),
        lambda: raw("ptrace", 16, JUDGE, 0, 0),
    ],
)
def test_with_a_gpu_a_worker_still_reaches_nobody(attempt: Callable[[], object]) -> None:
    assert jailed(attempt, bounds=WITH_GPU).error == errno.EPERM


def test_with_a_gpu_nothing_is_removed_or_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("", encoding="ascii")

    assert jailed(lambda: os.unlink(path), bounds=WITH_GPU).error == errno.ENOENT
    assert jailed(lambda: path.write_text("x"), bounds=WITH_GPU).error == errno.EACCES
    assert path.read_text(encoding="ascii") == ""


def test_clone3_is_unknown_so_that_libc_falls_back() -> None:
    assert jailed(lambda: raw("clone3", 0, 0)).error == errno.ENOSYS


@pytest.mark.skipif(not X86_64, reason="x32 is an ABI of x86-64")
def test_an_x32_system_call_kills() -> None:
    outcome = jailed(lambda: libc.syscall(0x40000000 | 39))

    assert outcome.signal == signal.SIGSYS


@pytest.mark.skipif(not X86_64, reason="machine code for x86")
def test_a_32_bit_system_call_kills() -> None:
    def attempt() -> int:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        return int(ctypes.CFUNCTYPE(ctypes.c_int)(address)())

    # SIGSEGV where the kernel has no 32-bit entry at all
    assert jailed(attempt).signal in {signal.SIGSYS, signal.SIGSEGV}


# What Python programs would do

PYTHON_ATTEMPTS: dict[str, tuple[Callable[[], object], int]] = {
    "fork": (lambda: os.fork() or os._exit(3), errno.EPERM),
    "run a program": (lambda: subprocess.run(["/bin/true"], check=True), errno.EPERM),
    "system's shell": (lambda: os.execv("/bin/sh", ["sh"]), errno.EPERM),
    "open a socket": (lambda: socket.create_connection(("127.0.0.1", 1)), errno.EPERM),
    "pair of sockets": (socket.socketpair, errno.EPERM),
    "anonymous file": (lambda: os.memfd_create("x"), errno.EPERM),
    "signal the judge": (lambda: os.kill(JUDGE, signal.SIGTERM), errno.EPERM),
    "signal everyone": (lambda: os.kill(-1, 0), errno.EPERM),
    "signal the group": (lambda: os.kill(0, 0), errno.EPERM),
    "list the root": (lambda: os.listdir("/"), errno.EACCES),
    "list /tmp": (lambda: os.listdir("/tmp"), errno.EACCES),
    "list processes": (lambda: os.listdir("/proc"), errno.EACCES),
    "read passwd": (lambda: Path("/etc/passwd").read_text(), errno.EACCES),
    "read this file": (lambda: Path(__file__).read_text(), errno.EACCES),
    "read own environment": (lambda: Path("/proc/self/environ").read_bytes(), errno.EACCES),
    "read own memory": (lambda: open("/proc/self/mem", "rb"), errno.EACCES),
    "read the judge's environment": (
        lambda: Path(f"/proc/{JUDGE}/environ").read_bytes(),
        errno.EACCES,
    ),
    "write to the standard library": (lambda: open(os.__file__, "r+"), errno.EACCES),
    "add to the standard library": (lambda: open(os.__file__ + ".x", "x"), errno.EACCES),
    "write to /tmp": (lambda: open("/tmp/mha-judge-attempt", "x"), errno.EACCES),
    "write to shared memory": (lambda: open("/dev/shm/mha-judge", "x"), errno.EACCES),
    "truncate the standard library": (
        lambda: os.open(os.__file__, os.O_RDONLY | os.O_TRUNC),
        errno.EACCES,
    ),
    "open a terminal": (lambda: open("/dev/tty"), errno.EACCES),
    "delete": (lambda: os.unlink("/tmp/nothing"), errno.EPERM),
    "change a mode": (lambda: os.chmod(os.__file__, 0o777), errno.EPERM),
    "set a time": (lambda: os.utime(os.__file__), errno.EPERM),
}


@pytest.mark.parametrize("name", PYTHON_ATTEMPTS)
def test_python_is_refused_to(name: str) -> None:
    attempt, expected = PYTHON_ATTEMPTS[name]

    outcome = jailed(lambda: (attempt(), None)[1])

    if outcome.error == errno.ENOENT:
        pytest.skip("this machine has no such path")
    # Under a read-only mount its answer comes first; where Landlock is too old to govern
    # truncation, seccomp's does.
    also = {errno.EROFS, errno.EPERM} if "standard library" in name else set()
    assert outcome.error in {expected, *also}, outcome


def test_a_bank_cannot_be_read_listed_or_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    secret = tmp_path / "test_grader.py"
    secret.write_text("expected = 1")
    secret.chmod(0o666)

    for attempt in (
        secret.read_text,
        lambda: os.listdir(tmp_path),
        lambda: secret.open("a"),
        lambda: (tmp_path / "new").open("x"),
    ):
        assert jailed(attempt).error == errno.EACCES


@pytest.mark.parametrize("governed", [True, False], ids=["by Landlock", "by seccomp"])
def test_a_readable_file_cannot_be_truncated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, governed: bool
) -> None:
    library = tmp_path / "library.py"
    library.write_text("x")
    tmp_path.chmod(0o777)
    library.chmod(0o666)
    monkeypatch.setattr(paths, "readable", lambda: (library,))
    if governed and landlock.abi() < landlock.TRUNCATE_ABI:
        pytest.skip("this kernel's Landlock does not govern truncation")
    if not governed:
        monkeypatch.setattr(landlock, "TRUNCATE_ABI", 10**6)

    outcome = jailed(lambda: os.open(library, os.O_RDONLY | os.O_TRUNC))

    assert outcome.error == (errno.EACCES if governed else errno.EPERM)
    assert library.read_text() == "x"


def test_a_folder_that_holds_a_bank_is_never_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("graders", "problems"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(paths, "_SYSTEM", (str(tmp_path),))

    assert tmp_path not in paths.readable.__wrapped__()


def test_a_source_tree_on_the_path_is_not_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parent)])

    folders = paths.interpreter_folders.__wrapped__()

    assert Path(__file__).parent not in folders
    assert Path(sys.prefix) not in folders


# Descriptors, limits, identity


def test_descriptors_that_are_not_kept_are_closed() -> None:
    with open(__file__, "rb") as open_in_parent:
        closed = open_in_parent.fileno()

        assert jailed(lambda: os.fstat(closed)).error == errno.EBADF
        assert jailed(lambda: os.fstat(0)).error == errno.EBADF
        assert value_of(lambda: os.read(closed, 3).decode(), keep_fds=[closed]) == '"""'


def test_memory_is_bounded() -> None:
    outcome = jailed(lambda: len(bytearray(2 * BOUNDS.memory_bytes)))

    assert "MemoryError" in outcome.message


def test_processor_time_is_bounded_even_if_the_signal_is_ignored() -> None:
    def attempt() -> None:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while True:
            pass

    assert jailed(attempt, bounds=replace(BOUNDS, cpu_s=1)).signal == signal.SIGKILL


def test_open_files_are_bounded() -> None:
    outcome = jailed(lambda: [os.pipe() for _ in range(BOUNDS.open_files)])

    assert outcome.error == errno.EMFILE


def test_threads_are_bounded_exactly_under_a_spare_uid() -> None:
    def attempt() -> int:
        stop = threading.Event()
        started = 0
        try:
            for started in range(100):  # noqa: B007 - counted after the loop
                threading.Thread(target=stop.wait, daemon=True).start()
        except RuntimeError:
            pass
        stop.set()
        return started

    outcome = jailed(attempt, bounds=replace(BOUNDS, memory_bytes=16 << 30))

    assert outcome.held is not None
    if not outcome.held["spare_uid"]:
        pytest.skip("no spare uid here")
    assert outcome.value == BOUNDS.threads


def test_limits_are_set_hard() -> None:
    def attempt() -> dict[str, tuple[int, int]]:
        names = ("CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO", "SIGPENDING", "FSIZE", "NOFILE")
        return {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}

    limits = value_of(attempt)

    assert limits.pop("FSIZE") == [BOUNDS.file_bytes] * 2
    assert limits.pop("NOFILE") == [BOUNDS.open_files] * 2
    assert set(map(tuple, limits.values())) == {(0, 0)}


def test_the_report_agrees_with_the_kernel() -> None:
    def attempt() -> list[int]:
        header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        checked(libc.capget(header, sets))
        death = ctypes.c_int()
        checked(libc.prctl(2, ctypes.byref(death)))
        prctls = [libc.prctl(option, 0, 0, 0, 0) for option in (3, 21, 39)]
        return [os.getuid(), os.geteuid(), os.getgid(), sum(sets), death.value, *prctls]

    outcome = jailed(attempt)

    assert outcome.held is not None, outcome
    uid, gid = outcome.held["uid"], outcome.held["gid"]
    assert outcome.value == [uid, uid, gid, 0, signal.SIGKILL, 0, 2, 1]
    assert outcome.held["landlock_abi"] >= 1
    assert outcome.held["capabilities"] == "none"
    assert outcome.held["spare_uid"] == (uid != os.getuid())


def test_supplementary_groups_go_with_the_uid() -> None:
    outcome = jailed(os.getgroups)

    assert outcome.held is not None
    if outcome.held["spare_uid"]:
        assert outcome.value == []


# The process and its parent


def test_an_orphan_ends_instead_of_running() -> None:
    outcome = jailed(lambda: "ran", parent_pid=os.getpid() + 1)

    assert (outcome.value, outcome.exit_code) == (None, 1)


def test_a_worker_dies_with_its_parent() -> None:
    reader, writer = os.pipe()
    if (parent := os.fork()) == 0:
        me = os.getpid()
        if os.fork() == 0:
            confinement.confine(BOUNDS, [writer], me)
            os.write(writer, b"confined")
            time.sleep(1000)
        os.read(reader, 8)
        os.kill(me, signal.SIGKILL)
    os.close(writer)
    os.waitpid(parent, 0)

    with open(reader, "rb") as pipe:
        assert pipe.read() == b""  # ends when the last process that could write is gone


def test_a_process_with_threads_is_refused() -> None:
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        try:
            confinement.confine(BOUNDS, [writer], os.getppid())
        except ConfinementError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, "rb") as pipe:
        assert b"the process has 2 threads; confine right after the fork" in pipe.read()


def test_another_platform_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    assert confinement.unavailable() == (
        "the jail needs Linux, this is darwin; use a Linux machine, virtual or real"
    )
    with pytest.raises(ConfinementError, match="darwin"):
        confinement.confine(BOUNDS, [], JUDGE)


def test_a_kernel_without_landlock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> int:
        raise py_landlock.LandlockNotAvailableError("no such system call")

    monkeypatch.setattr(py_landlock, "get_abi_version", missing)

    assert "use Linux 5.13 or later" in (confinement.unavailable() or "")


# What must still work


def _threads() -> list[int]:
    results: list[int] = []
    threads = [threading.Thread(target=results.append, args=(n,)) for n in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(results)


def _null() -> int:
    with open(os.devnull, "w") as null:
        return null.write("x")


def _own_signal() -> int:
    caught: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, _: caught.append(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.raise_signal(signal.SIGUSR1)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
    return len(caught)


def _late_imports() -> int:
    names = "decimal json dataclasses fractions statistics asyncio concurrent.futures sqlite3 uuid"
    return len([importlib.import_module(name) for name in names.split()])


ALLOWED: dict[str, tuple[Callable[[], object], object]] = {
    "threads": (_threads, list(range(7))),
    "count processors": (lambda: (os.cpu_count() or 0) > 0, True),
    "tell the time": (lambda: time.time() > 0 and time.monotonic() > 0, True),
    "sleep": (lambda: time.sleep(0.001), None),
    "draw randomness": (lambda: len(os.urandom(7)), 7),
    "read urandom": (lambda: len(open("/dev/urandom", "rb").read(7)), 7),
    "write to the null device": (_null, 1),
    "signal itself": (_own_signal, 3),
    "import late": (_late_imports, 9),
    "read limits": (lambda: len(resource.getrlimit(resource.RLIMIT_AS)), 2),
    "read cpuinfo": (lambda: len(Path("/proc/cpuinfo").read_bytes()) > 0, True),
    "duplicate a descriptor": (lambda: os.close(os.dup(os.open("/dev/null", os.O_RDWR))), None),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_submission_may(name: str) -> None:
    attempt, expected = ALLOWED[name]

    assert value_of(attempt) == expected


TORCH_EXPECTED = {
    "matmul": pytest.approx(601, rel=1e-3),
    "autograd": 2 * 7 * 7 * 11,
    "bfloat16": pytest.approx(101.0**3, rel=0.01),
    "linear_algebra": 13.0,
    "many_python_threads": 3,
    "late_imports": "imported",
    "optimise": "stepped",
}


@pytest.mark.parametrize("name", TORCH_EXPECTED)
def test_torch_works(name: str) -> None:
    pytest.importorskip("torch")
    # A process of its own: a fork after a parallel operation of torch may hang in the next one.
    command = [sys.executable, str(Path(__file__).parent / "torch_in_jail.py"), name]
    # Optimisers import torch._dynamo, which makes this folder unless it is there.
    quiet = {"TORCHINDUCTOR_CACHE_DIR": "/", "OPENBLAS_NUM_THREADS": "1"}  # no thread of its own

    done = subprocess.run(
        command, env=os.environ | quiet, capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == TORCH_EXPECTED[name]


def test_every_listed_system_call_is_known() -> None:
    missing = [name for name in syscalls._ANY_ARGUMENTS if number(name) == -1]

    assert missing == []
