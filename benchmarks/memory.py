"""Whether memory stays flat over many submissions."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from answers import hand_in, mixed
from measure import JUDGE, Figure, figure

COUNT = 1_000
_EVERY_S = 0.25
_MIB = 1 << 20


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield the memory of `score` at the end of many answers against that near the start.

    One worker that is never recycled would hide nothing; `score` is measured as it is used, so
    that recycling is part of it. The figure is the highest of the last fifth of the time against
    the highest of the second fifth.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hand_in(folder / "answers", mixed(COUNT))
        samples = _resident_of_score(folder)
    fifth = len(samples) // 5
    early, late = samples[fifth : 2 * fifth], samples[-fifth - 2 : -2]
    yield figure(
        f"memory, end / start of {COUNT:,} answers",
        [(max(late) / _MIB, max(early) / _MIB)],
        "≤",
        1.1,
        unit="MiB",
        note=f"all processes; median {statistics.median(samples) / _MIB:.0f} MiB",
    )


def _resident_of_score(folder: Path) -> list[int]:
    """Return the memory of `score` and all its processes, sampled until it ends."""
    command = (
        JUDGE, "score", str(folder / "answers"), "--sandbox", "jail", "-j", "2",
        "--results", str(folder / "results.jsonl"),
    )  # fmt: skip
    samples = []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        samples.append(proportional(process.pid))
        time.sleep(_EVERY_S)
    return samples


def proportional(root: int) -> int:
    """Return the bytes that a process and its descendants hold, shared pages divided."""
    total = 0
    for process in family(root):
        with suppress(OSError):  # it has ended meanwhile
            lines = (process / "smaps_rollup").read_text().splitlines()
            total += sum(int(one.split()[1]) * 1024 for one in lines if one.startswith("Pss:"))
    return total


def descriptors(root: int) -> int:
    """Return how many descriptors a process and its descendants have open."""
    count = 0
    for process in family(root):
        with suppress(OSError):
            count += len([*(process / "fd").iterdir()])
    return count


def family(root: int) -> Iterator[Path]:
    """Yield the folders in /proc of a process and its descendants."""
    waiting = [root]
    while waiting:
        process = Path(f"/proc/{waiting.pop()}")
        yield process
        with suppress(OSError):
            waiting += [
                int(child)
                for task in (process / "task").iterdir()
                for child in (task / "children").read_text().split()
            ]
