"""Resource limits, set hard: no limit can be raised afterwards."""

import os
import resource
from contextlib import nullcontext, suppress
from pathlib import Path

from .contract import Bounds

_OTHERS = 4096
"""Room for tasks that the same user starts elsewhere while a worker runs."""


def apply(bounds: Bounds, mapped_bytes: int, *, spare_uid: bool, lenient: bool) -> int:
    """Set every limit and return the one on tasks.

    A sandbox's own kernel may not know some of the limits; those are left out if it is lenient.
    """
    tasks = _task_limit(bounds.threads, spare_uid=spare_uid)
    if not bounds.gpu:
        _lower(resource.RLIMIT_AS, mapped_bytes + bounds.memory_bytes)
    _lower(resource.RLIMIT_CPU, bounds.cpu_s, grace=1)
    _lower(resource.RLIMIT_FSIZE, bounds.file_bytes)
    _lower(resource.RLIMIT_NOFILE, bounds.open_files)
    _lower(resource.RLIMIT_NPROC, tasks)
    for forbidden in (resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK):
        _lower(forbidden, 0)
    for forbidden in (
        resource.RLIMIT_MSGQUEUE,
        resource.RLIMIT_NICE,
        resource.RLIMIT_RTPRIO,
        resource.RLIMIT_SIGPENDING,
    ):
        with suppress(ValueError) if lenient else nullcontext():
            _lower(forbidden, 0)
    return tasks


def _task_limit(threads: int, *, spare_uid: bool) -> int:
    """Return the limit on tasks, which the kernel counts for the uid and not for the process.

    A spare uid runs this process alone, so the limit is exact. Otherwise the user's other programs
    count as well, some of them invisible from here (other pid namespaces), and their number
    changes: a tight limit would fail a correct submission. So the limit leaves room and only stops
    a fork bomb. It does not bind uid 0 at all.
    """
    return 1 + threads if spare_uid else _visible_tasks() + threads + _OTHERS


def _visible_tasks() -> int:
    return sum(_tasks(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _tasks(process: Path) -> int:
    try:
        found = (process / "task").stat()
    except OSError:
        return 0  # it has ended
    return found.st_nlink - 2 if found.st_uid == os.getuid() else 0


def _lower(kind: int, value: int, grace: int = 0) -> None:
    _, ceiling = resource.getrlimit(kind)
    unlimited = ceiling == resource.RLIM_INFINITY
    hard = value + grace if unlimited else min(value + grace, ceiling)
    resource.setrlimit(kind, (min(value, hard), hard))
