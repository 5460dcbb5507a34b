"""Single keys from a terminal, without waiting for a line."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def single_keys() -> Iterator[None]:
    """Let keys arrive one by one while the block runs; nothing happens without a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def pressed(timeout_s: float) -> str:
    """Return the key that is pressed within a time, or nothing."""
    if not sys.stdin.isatty():
        return ""
    ready, _, _ = select.select([sys.stdin.fileno()], [], [], timeout_s)
    return os.read(sys.stdin.fileno(), 1).decode("ascii", "ignore").lower() if ready else ""
