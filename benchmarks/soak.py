"""Whether memory and descriptors stay flat: over thousands of answers, and an hour of a class."""

from __future__ import annotations

import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx
from answers import hand_in, mixed
from measure import JUDGE, Figure, figure
from memory import descriptors, proportional
from service import answer_of, server

ANSWERS = 5_000
CLASS_S = 3_600
_LEARNERS = 30
_BETWEEN_S = 120
"""In the mean, from one answer of a learner to the next."""
_EVERY_S = 1.0
_MIB = 1 << 20
_PATIENCE_S = 150
Sample = tuple[int, int]
"""Bytes, and open descriptors."""


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield the highest of the last fifth of the time against the highest of the second fifth."""
    for name, measure in (
        (f"score, {ANSWERS:,} answers", _scored),
        (f"serve, {_LEARNERS} learners for {CLASS_S // 60} minutes", _served),
    ):
        runs = [measure() for _ in range(repetitions)]
        fifths = [
            (run[-len(run) // 5 : -2], run[len(run) // 5 : 2 * len(run) // 5]) for run in runs
        ]
        for what, unit, of in (("memory", "MiB", 0), ("descriptors", "", 1)):
            share = _MIB if of == 0 else 1
            pairs = [
                tuple(max(one[of] for one in part) / share for part in parts) for parts in fifths
            ]
            yield figure(f"{name}: {what}, end / start", pairs, "≤", 1.1, unit=unit)


def _scored() -> list[Sample]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hand_in(folder / "answers", mixed(ANSWERS))
        command = (
            JUDGE, "score", str(folder / "answers"), "--sandbox", "jail", "-j", "2",
            "--results", str(folder / "results.jsonl"),
        )  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return _sampled(process.pid, lambda: process.poll() is None)


def _served() -> list[Sample]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answers = mixed(_LEARNERS * (CLASS_S // _BETWEEN_S + 1))
        hand_in(folder / "answers", answers)
        asked = [(problem, answer_of(folder, n, problem)) for n, (problem, _) in enumerate(answers)]
        with server(folder) as (process, url):
            until = time.monotonic() + CLASS_S
            learners = [
                threading.Thread(target=_learn, args=(url, asked[number::_LEARNERS], until))
                for number in range(_LEARNERS)
            ]
            for learner in learners:
                learner.start()
            return _sampled(process.pid, lambda: any(one.is_alive() for one in learners))


def _learn(url: str, asked: Sequence[tuple[str, Path]], until: float) -> None:
    """Hand in one answer after another until the class is over."""
    # the server closes a connection that is idle, maybe just when it is used again
    once = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(base_url=url, timeout=_PATIENCE_S, limits=once) as client:
        for problem, path in asked:
            time.sleep(random.expovariate(1 / _BETWEEN_S))
            if time.monotonic() > until:
                return
            body = {"source": path.read_text("utf-8"), "problem": problem}
            grade = client.post("/v1/grades", json=body).raise_for_status().json()
            while grade["state"] != "done":
                grade = client.get(f"/v1/grades/{grade['id']}?wait=100").json()


def _sampled(root: int, lasts: Callable[[], bool]) -> list[Sample]:
    samples = []
    while lasts():
        samples.append((proportional(root), descriptors(root)))
        time.sleep(_EVERY_S)
    return samples
