"""`score` on many answers against what people would use instead."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import hand_in, mixed
from measure import JUDGE, ROOT, Figure, Took, figure, import_torch, seconds, timed, took

from mha_judge.sandbox.container import Container, Settings

COUNT = 200
_SAMPLED = 8
"""Answers that are put to `docker run … pytest`; the others are assumed to take as long."""
_PLAIN = ROOT / "benchmarks" / "plain" / "test_sdpa.py"
_PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield the throughput of `score`, in answers a second, against each alternative."""
    answers = mixed(COUNT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hand_in(folder / "answers", answers)
        two, one, direct, cores, forgetful = [], [], [], [], []
        for _ in range(repetitions):
            two.append(_score(folder, 2).wall_s)
            remembering, torch = _score(folder, 1), import_torch()
            one.append(remembering.wall_s)
            cores.append((remembering.core_s / COUNT, torch.core_s))
            before = _score(folder, 1, MHA_JUDGE_REMEMBER="0")
            forgetful.append((remembering.core_s / COUNT, before.core_s / COUNT))
            direct.append(_direct(folder, COUNT))
        yield figure(
            "score, an answer / import torch, core time",
            cores,
            "≤",
            0.15,
            note=f"{COUNT} answers, 1 worker, start included",
        )
        yield figure("score, remembering / not remembering, core time", forgetful)
        yield figure(
            f"score, 2 workers / 1 worker, {COUNT} answers",
            list(zip(two, one, strict=True)),
            "≥",
            1.7,
        )
        yield figure(
            "score / same checks in one process, no isolation",
            list(zip(two, direct, strict=True)),
            "≥",
            0.5,
            note=f"{COUNT} answers, start included on both sides, 2 workers",
        )
        yield figure(
            "score, 1 worker / same checks in one process",
            list(zip(one, direct, strict=True)),
            "≥",
            0.5,
            note=f"{COUNT} answers, start included on both sides",
        )
        if Container().unavailable() is None:
            plain = [_docker_pytest(folder, path) for _, path in mixed(_SAMPLED, "sdpa")]
            pairs = [(time / COUNT, each) for time in two for each in plain]
            yield figure(
                "score / one docker run … pytest per answer",
                pairs,
                "≥",
                50,
                note=f"seconds an answer; {_SAMPLED} runs of pytest stand for {COUNT}",
            )


def _score(folder: Path, workers: int, **variables: str) -> Took:
    results = folder / "results.jsonl"
    results.unlink(missing_ok=True)
    command = (
        JUDGE, "score", str(folder / "answers"), "--sandbox", "jail", "-j", str(workers),
        "--results", str(results), "--seed", "1",
    )  # fmt: skip
    return took(command, codes=(0, 1), cwd=folder, variables=variables)


def _direct(folder: Path, count: int) -> float:
    """Return the seconds that a fresh process takes for the same checks beside the candidates."""
    command = (sys.executable, str(ROOT / "benchmarks" / "direct.py"), str(count))
    return seconds(command, cwd=folder)


def _docker_pytest(folder: Path, answer: Path) -> float:
    """Return the seconds of one `docker run … pytest` on a plain test file."""
    place = folder / "plain"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    shutil.copy(_PLAIN, place)
    shutil.copy(answer, place / "answer.py")
    site = folder / "site"
    if not site.exists():
        for package in _PYTEST:
            found = Path(pytest.__file__).parents[1] / package
            shutil.copytree(found, site / package)
        shutil.copy(Path(pytest.__file__).parents[1] / "py.py", site)
        place.chmod(0o755)
    folder.chmod(0o755)
    command = (
        "docker", "run", "--rm", "--network=none", "--entrypoint=python",
        "-v", f"{place}:/plain:ro", "-v", f"{site}:/site:ro", "-e", "PYTHONPATH=/site:/plain",
        "-w", "/plain", Settings.image,
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sdpa.py",
    )  # fmt: skip
    return timed(lambda: _run(command))


def _run(command: tuple[str, ...]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not re.search(r"\d (passed|failed|error)", done.stdout):
        raise RuntimeError(f"pytest in docker ended with {done.returncode}: {done.stdout[-500:]}")
