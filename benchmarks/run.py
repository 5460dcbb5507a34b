"""Print how long the judge takes, as ratios to plain Python measured in the same run.

Each repetition times both commands one after the other, so that a machine that slows down slows
both. The figure of a row is the median of the ratios of these pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mha_judge.sandbox.container import Container, Settings

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
JUDGE = str(Path(sys.executable).with_name("mha-judge"))


@dataclass(frozen=True)
class Comparison:
    """Two commands, and how many times longer the first may take."""

    name: str
    command: tuple[str, ...]
    baseline: tuple[str, ...]
    target: float
    unavailable: Callable[[], str | None] = lambda: None
    """Says why it cannot be measured here, if so."""


COMPARISONS = (
    Comparison(
        "cold run / import torch",
        (JUDGE, "run", "examples/right_attention.py", "--sandbox", "jail"),
        (sys.executable, "-c", "import torch"),
        1.6,
    ),
    Comparison(
        "cold run, container / docker run",
        (JUDGE, "run", "examples/right_attention.py", "--sandbox", "container"),
        ("docker", "run", "--rm", "--network=none", Settings.image, "python", "-c", "import torch"),
        1.3,
        unavailable=Container().unavailable,
    ),
    Comparison(
        "list / import click, pydantic",
        (JUDGE, "list"),
        (sys.executable, "-c", "import click, pydantic"),
        2.0,
    ),
)


@dataclass(frozen=True)
class Result:
    """What was measured of one comparison."""

    name: str
    command_s: list[float]
    baseline_s: list[float]
    ratios: list[float]
    median: float
    target: float
    met: bool


def seconds(command: Sequence[str]) -> float:
    """Return the wall-clock seconds that a command takes; it must succeed."""
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def measure(comparison: Comparison, repetitions: int) -> Result:
    """Time both commands in turn, after a warm-up of each."""
    seconds(comparison.baseline)
    seconds(comparison.command)
    pairs = [
        (seconds(comparison.command), seconds(comparison.baseline)) for _ in range(repetitions)
    ]
    ratios = [command / baseline for command, baseline in pairs]
    median = statistics.median(ratios)
    return Result(
        comparison.name,
        command_s=[command for command, _ in pairs],
        baseline_s=[baseline for _, baseline in pairs],
        ratios=ratios,
        median=median,
        target=comparison.target,
        met=median <= comparison.target,
    )


def row(result: Result) -> str:
    """Return one line of the table."""
    spread = f"{min(result.ratios):.2f}–{max(result.ratios):.2f}"
    command, baseline = map(statistics.median, (result.command_s, result.baseline_s))
    return (
        f"{result.name:<34} {command:7.2f} s {baseline:7.2f} s {result.median:7.2f} {spread:>12}"
        f" {'≤ ' + str(result.target):>7}  {'met' if result.met else 'not met'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=7, help="repetitions after the warm-up (default 7)")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures as JSON")
    arguments = parser.parse_args()
    if arguments.n < 1:
        parser.error("-n must be 1 or more")

    print(f"{'':<34} {'judge':>9} {'Python':>9} {'ratio':>7} {'min–max':>12} {'target':>7}")
    results = []
    for comparison in COMPARISONS:
        if reason := comparison.unavailable():
            print(f"{comparison.name:<34} not measured: {reason}")
            continue
        results.append(measure(comparison, arguments.n))
        print(row(results[-1]), flush=True)
    if arguments.json:
        text = json.dumps([asdict(result) for result in results], indent=2)
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
