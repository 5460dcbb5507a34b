"""One submission at a time on a GPU: others would change its times and take its memory."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from mha_judge.errors import SandboxUnavailable

WAIT_S = 300.0
"""Below what a judge in a pool is given for a whole grade."""
_LOOK_EVERY_S = 0.05


@contextmanager
def turn(device: str, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the device for all judges of this user; a judge that ends lets go of it.

    Args:
        device: Its name, such as `cuda-0`.
        wait_s: Seconds to wait for the others.

    Raises:
        SandboxUnavailable: It is not free in time.
    """
    folder = _folder()
    descriptor = os.open(folder / f"{device}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, device, time.monotonic() + wait_s)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def _folder() -> Path:
    try:
        return user_cache_path("mha-judge", ensure_exists=True)
    except OSError as error:
        raise SandboxUnavailable(
            f"no folder for the lock of the GPU ({error}); set XDG_CACHE_HOME to one of yours"
        ) from error


def _lock(descriptor: int, device: str, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise SandboxUnavailable(
                    f"{device} is taken by another judge; wait for it, or pass --device cpu"
                ) from None
            time.sleep(_LOOK_EVERY_S)
        else:
            return
