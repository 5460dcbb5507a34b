"""What a benchmark measures: ratios of two times taken one after the other in the same run."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

ROOT = Path(__file__).resolve().parents[1]
JUDGE = str(Path(sys.executable).with_name("mha-judge"))
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True)
class Figure:
    """One line of the table: what was measured, and what is wanted."""

    name: str
    ratios: list[float]
    """One for each repetition."""
    judge: list[float]
    """What stands above the fraction line, in `unit`."""
    baseline: list[float]
    """What stands below it."""
    bound: Literal["≤", "≥", ""]
    target: float | None = None
    unit: str = "s"
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.ratios)

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if self.target is None:
            return None
        return self.median <= self.target if self.bound == "≤" else self.median >= self.target


def figure(
    name: str,
    pairs: Iterable[tuple[float, float]],
    bound: Literal["≤", "≥", ""] = "",
    target: float | None = None,
    *,
    note: str = "",
    unit: str = "s",
) -> Figure:
    """Return the figure of pairs (judge, baseline) that were measured one after the other.

    With the bound ≥ the ratio is how many times faster the judge is, else how many times longer it
    takes.
    """
    judge, baseline = map(list, zip(*pairs, strict=True))
    faster = bound == "≥"
    ratios = [
        (other / own) if faster else (own / other)
        for own, other in zip(judge, baseline, strict=True)
    ]
    return Figure(name, ratios, judge, baseline, bound, target, unit, note)


@dataclass(frozen=True)
class Took:
    """What a command took."""

    wall_s: float
    core_s: float
    """Processor time of all its processes."""


def took(
    command: Sequence[str],
    codes: Sequence[int] = (0,),
    cwd: Path = ROOT,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Took:
    """Run a command and return what it took.

    Raises:
        RuntimeError: If it ends with another exit code than one of `codes`.
    """
    started, before = time.perf_counter(), core_s()
    done = subprocess.run(
        command, cwd=cwd, env=ENVIRONMENT | {**variables}, capture_output=True, text=True
    )
    elapsed = time.perf_counter() - started
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return Took(elapsed, core_s() - before)


def seconds(command: Sequence[str], codes: Sequence[int] = (0,), cwd: Path = ROOT) -> float:
    """Return the wall-clock seconds that a command takes; see `took`."""
    return took(command, codes, cwd).wall_s


def core_s() -> float:
    """Return the processor time of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(action: Callable[[], object]) -> float:
    """Return the wall-clock seconds that a call takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def import_torch() -> Took:
    """Return what a fresh Python takes to import torch."""
    return took((sys.executable, "-c", "import torch"))
