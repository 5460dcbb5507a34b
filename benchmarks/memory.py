"""Whether memory stays flat over many submissions."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
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
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        try:
            waiting += [
                int(child)
                for task in Path(f"/proc/{pid}/task").iterdir()
                for child in (task / "children").read_text().split()
            ]
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:  # it has ended meanwhile
            continue
        line = next((one for one in rollup.splitlines() if one.startswith("Pss:")), "Pss: 0 kB")
        total += int(line.split()[1]) * 1024
    return total
