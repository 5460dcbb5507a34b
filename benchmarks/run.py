"""Print how the judge compares with plain Python and with what people would use instead.

Every figure is a ratio of two times that were taken one after the other in this run, so that a
machine that slows down slows both; the table shows the median of the repetitions and their spread.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median

import cluster
import commands
import memory
import practice
import rooms
import service
import soak
import throughput
import warm
from measure import Figure

PARTS: dict[str, tuple[Callable[[int], Iterator[Figure]], int]] = {
    "commands": (commands.figures, 7),
    "warm": (warm.figures, 7),
    "throughput": (throughput.figures, 3),
    "memory": (memory.figures, 1),
    "service": (service.figures, 1),
    "cluster": (cluster.figures, 1),
    "practice": (practice.figures, 7),
    "rooms": (rooms.figures, 3),
    "soak": (soak.figures, 1),
}
"""What can be measured, and how often it is repeated by default."""
_TAKES_HOURS = "soak"
"""It is measured only if it is named."""


def row(figure: Figure) -> str:
    """Return one line of the table."""
    spread = f"{min(figure.ratios):.3g}–{max(figure.ratios):.3g}"
    target = f"{figure.bound} {figure.target:g}" if figure.target is not None else ""
    verdict = {True: "met", False: "not met", None: ""}[figure.met]
    return (
        f"{figure.name:<50}{_amount(figure.judge, figure.unit):>10}"
        f"{_amount(figure.baseline, figure.unit):>10}{figure.median:8.3g}{spread:>13}"
        f"{len(figure.ratios):4}{target:>8}  {verdict}"
    )


def _amount(values: list[float], unit: str) -> str:
    return f"{median(values):.3g} {unit}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all but soak"
    )
    parser.add_argument("-n", type=int, help="repetitions (default: 7 of what is quick)")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures as JSON")
    arguments = parser.parse_args()
    if arguments.n is not None and arguments.n < 1:
        parser.error("-n must be 1 or more")
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")

    print(f"{'':<50}{'judge':>10}{'other':>10}{'ratio':>8}{'min–max':>13}{'n':>4}{'target':>8}")
    found = []
    for name in arguments.parts or [one for one in PARTS if one != _TAKES_HOURS]:
        measure, repetitions = PARTS[name]
        for figure in measure(arguments.n or repetitions):
            found.append(figure)
            print(row(figure), flush=True)
            if figure.note:
                print(f"    {figure.note}", flush=True)
    if arguments.json:
        figures = [asdict(one) | {"median": one.median, "met": one.met} for one in found]
        machine = {"machine": platform.machine(), "python": platform.python_version()}
        text = json.dumps({"figures": figures, **machine}, indent=2, ensure_ascii=False)
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
