"""How a supervisor is started, wherever that happens."""

from __future__ import annotations

import subprocess
import sys

from mha_judge import processor

ARGUMENTS = ("-I", "-B", "-X", "utf8", "-m", "mha_judge.worker.supervisor")
"""What an interpreter is given to become a supervisor."""

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def environment() -> dict[str, str]:
    """Return the whole environment of a supervisor: nothing of the user's is in it."""
    fixed = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/",
        "MALLOC_ARENA_MAX": "2",  # each arena would reserve 64 MiB of a worker's address space
        "TORCHINDUCTOR_CACHE_DIR": "/",  # a folder that exists: torch would try to make its own
        "CUDA_CACHE_DISABLE": "1",  # nothing can be written, and nothing may be left
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # the same sums every time
    }
    return fixed | dict.fromkeys(_THREAD_VARIABLES, "1") | processor.variables()


def spawn(prefix: tuple[str, ...] = (), *options: str) -> subprocess.Popen[bytes]:
    """Start a supervisor as a child of this process, with the command `prefix` in front."""
    return subprocess.Popen(
        [*prefix, sys.executable, *ARGUMENTS, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd="/",
        start_new_session=True,
    )
