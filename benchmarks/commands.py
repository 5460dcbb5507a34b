"""Whole commands against the least that Python takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from measure import JUDGE, Figure, figure, seconds

from mha_judge.sandbox.container import Container, Settings

_RUN = (JUDGE, "run", "examples/right_attention.py", "--sandbox")
_DOCKER = ("docker", "run", "--rm", "--network=none", "--entrypoint=python", Settings.image)


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield cold runs on each backend, and the list."""
    runs = (*_RUN, "jail")
    yield _paired(
        "cold run, jail / import torch", runs, (sys.executable, "-c", "import torch"), 1.6,
        repetitions,
    )  # fmt: skip
    if Container().unavailable() is None:
        yield _paired(
            "cold run, container / docker run … import torch",
            (*_RUN, "container"),
            (*_DOCKER, "-c", "import torch"),
            1.3,
            repetitions,
        )
    yield _paired(
        "list / import click, pydantic",
        (JUDGE, "list"),
        (sys.executable, "-c", "import click, pydantic"),
        2.0,
        repetitions,
    )


def _paired(
    name: str, judge: tuple[str, ...], baseline: tuple[str, ...], target: float, repetitions: int
) -> Figure:
    """Return a figure of commands run in turn, after a warm-up of each."""
    for command in (judge, baseline):
        seconds(command)
    return figure(
        name, [(seconds(judge), seconds(baseline)) for _ in range(repetitions)], "≤", target
    )
