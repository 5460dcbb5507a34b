"""Harbor: a task folder a problem, with the judge in an image of the verifier's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mha_judge.export.platform import Choices, Exercise, File, Told, text_file, wheel_file
from mha_judge.export.shown import Shown
from mha_judge.sandbox.container.build import beside


def files(exercises: Sequence[Exercise], choices: Choices) -> Iterator[File]:
    """Yield a task for each problem; together they are a dataset."""
    for one in exercises:
        values: dict[str, Any] = {"one": one, "choices": choices}
        folder = one.problem
        yield text_file(f"{folder}/task.toml", "harbor/task.toml", **values)
        yield text_file(f"{folder}/instruction.md", "harbor/instruction.md", **values)
        yield text_file(f"{folder}/environment/Dockerfile", "harbor/agent.Dockerfile", **values)
        yield File(f"{folder}/environment/{one.file}", one.starter.encode())
        yield File(f"{folder}/environment/constraints.txt", beside("constraints.txt").read_bytes())
        yield text_file(f"{folder}/tests/Dockerfile", "judge.Dockerfile", harbor=True, **values)
        yield text_file(f"{folder}/tests/test.sh", "harbor/test.sh", executable=True, **values)
        yield from wheel_file(f"{folder}/tests/judge/", choices)
        yield text_file(f"{folder}/solution/solve.sh", "harbor/solve.sh", executable=True, **values)
        yield File(f"{folder}/solution/{one.file}", one.solution.encode())


def verdict(shown: Shown) -> Told:
    """Return the reward: the score, out of 1."""
    return Told(json.dumps({"reward": round(shown.fraction, 6)}) + "\n")


def no_verdict(why: str) -> Told:
    """Return nothing: without a reward file Harbor counts an error of the verifier, and no 0."""
    return Told(None)
