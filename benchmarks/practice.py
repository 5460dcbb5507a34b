"""The app for practising: how soon its first picture is there, and its first grade."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator

from measure import ENVIRONMENT, JUDGE, ROOT, Figure, figure, seconds

from mha_judge import Judge

_LEAST = (sys.executable, "-c", "import textual, pydantic")
_ANSWER = ROOT / "examples" / "right_attention.py"
_READS_S = 8.0
"""Seconds that a learner reads before the first save; torch is imported meanwhile."""


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield the app's start, and the first grade of a judge that has got ready.

    Raises:
        RuntimeError: The app shows nothing.
    """
    _first_picture_s()
    seconds(_LEAST)
    yield figure(
        "practice, first picture / import textual, pydantic",
        [(_first_picture_s(), seconds(_LEAST)) for _ in range(repetitions)],
        "≤",
        1.5,
    )
    yield figure(
        "practice, first grade / run",
        [(_first_grade_s(), _run_s()) for _ in range(repetitions)],
        "≤",
        1,
        note=f"after {_READS_S:g} s, in which the app imports torch",
    )


def _first_picture_s() -> float:
    """Return how long it takes until the app has drawn the problems, in a terminal of 80 × 24."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        process = subprocess.Popen(
            (JUDGE, "practice", "--no-progress", "--sandbox", "jail"),
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, start_new_session=True,
            env=ENVIRONMENT | {"TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(theirs)
        try:
            seen = b""
            while b"softmax" not in seen.lower():
                ready, _, _ = select.select([ours], [], [], 30)
                if not ready:
                    raise RuntimeError(f"the app shows nothing; it said {seen[-500:]!r}")
                seen += os.read(ours, 1 << 16)
            return time.monotonic() - began
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(ours)


def _first_grade_s() -> float:
    with Judge(workers=1, sandbox="jail") as judge:
        judge.warm_up()
        time.sleep(_READS_S)
        began = time.monotonic()
        judge.grade(_ANSWER, seed=1)
        return time.monotonic() - began


def _run_s() -> float:
    return seconds((JUDGE, "run", str(_ANSWER), "--sandbox", "jail", "--seed", "1"))
