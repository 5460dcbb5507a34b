"""`serve` under load: many clients, processes that are killed, and no verdict lost."""

from __future__ import annotations

import os
import queue
import random
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from answers import hand_in, mixed
from measure import JUDGE, Figure, figure
from memory import proportional

from mha_judge.scoring.results import Results

COUNT = 1_000
CLIENTS = 64
_KILLED_EVERY_S = 7.0
"""In the mean: at a steady beat an answer that hangs for longer than that would never be done."""
_EVERY = {7: "import os\nos._exit(3)\n", 211: "while True:\n    pass\n"}
"""After how many answers one comes that crashes, and one that hangs."""
_READY = re.compile(r"serving on (http://\S+?);")
_MIB = 1 << 20


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield the service's times against those of the same answers through `score`.

    Raises:
        RuntimeError: An answer got no verdict, or another one than from `score`.
    """
    walls, middles, tails, memories = [], [], [], []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            answers = mixed(COUNT)
            hand_in(folder / "answers", answers)
            for number, (problem, _) in enumerate(answers):
                for step, source in _EVERY.items():
                    if number % step == step - 1:
                        answer_of(folder, number, problem).write_text(
                            f"{source}# {number}\n", "utf-8"
                        )
            asked = [
                (problem, answer_of(folder, n, problem)) for n, (problem, _) in enumerate(answers)
            ]
            served_s, served, memory = _served(folder, asked)
            scored_s, scored = _scored(folder, asked)
        _compare(served, scored)
        walls.append((served_s, scored_s))
        middles.append(tuple(_quantile(one, 50) for one in (served, scored)))
        tails.append(tuple(_quantile(one, 99) for one in (served, scored)))
        fifth = len(memory) // 5
        memories.append((max(memory[-fifth:]) / _MIB, max(memory[fifth : 2 * fifth]) / _MIB))
    told = (
        f"{COUNT:,} answers, {CLIENTS} clients, 2 workers, one killed every {_KILLED_EVERY_S:g} s"
    )
    yield figure("serve / score, all answers", walls, note=told)
    yield figure("serve / score, half of all grades within", middles)
    yield figure("serve / score, 99 % of all grades within", tails)
    yield figure("memory of serve, end / start", memories, "≤", 1.1, unit="MiB")


def answer_of(folder: Path, number: int, problem: str) -> Path:
    return folder / "answers" / f"candidate-{number:04}" / f"{problem.replace('-', '_')}.py"


def _served(
    folder: Path, asked: Sequence[tuple[str, Path]]
) -> tuple[float, list[dict[str, Any]], list[int]]:
    """Return the seconds of all, the reports in order, and the server's memory as it went on."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(asked)):
        waiting.put(number)
    grades: dict[int, dict[str, Any]] = {}
    memory: list[int] = []

    def client(url: str) -> None:
        with httpx.Client(base_url=url, timeout=150) as opened:
            while True:
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    return
                problem, path = asked[number]
                body = {"source": path.read_text("utf-8"), "problem": problem, "seed": 1}
                grade = opened.post("/v1/grades", json=body).raise_for_status().json()
                while grade["state"] != "done":
                    grade = opened.get(f"/v1/grades/{grade['id']}?wait=100").json()
                if grade["reason"] == "judge_failed":  # as often as it is tried: ask again
                    waiting.put(number)
                else:
                    grades[number] = grade

    with server(folder) as (process, url):
        threads = [threading.Thread(target=client, args=(url,)) for _ in range(CLIENTS)]
        began = time.monotonic()
        kill_at = began + random.expovariate(1 / _KILLED_EVERY_S)
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.25)
            memory.append(proportional(process.pid))
            if time.monotonic() > kill_at:
                kill_at = time.monotonic() + random.expovariate(1 / _KILLED_EVERY_S)
                _kill_one(process.pid)
        took = time.monotonic() - began
    without = Counter(one["reason"] for one in grades.values() if one["reason"] != "verdict")
    if without or len(grades) < len(asked):
        raise RuntimeError(f"of {len(asked)} answers {len(grades)} are done; no verdict: {without}")
    return took, [grades[number]["report"] for number in range(len(asked))], memory


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = (
        JUDGE, "serve", "--port", "0", "--sandbox", "jail", "-j", "2", "--queue-timeout", "3600",
        "--store", str(folder / "grades.sqlite"),
    )  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        ready = None
        while ready is None:
            ready = _READY.search(process.stderr.readline())
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield process, ready.group(1)
        process.terminate()


def _kill_one(server: int) -> None:
    """Kill one of the processes that grade."""
    tasks = Path(f"/proc/{server}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    if children:
        os.kill(random.choice(children), signal.SIGKILL)


def _scored(folder: Path, asked: Sequence[tuple[str, Path]]) -> tuple[float, list[dict[str, Any]]]:
    results = folder / "results.jsonl"
    command = (
        JUDGE, "score", str(folder / "answers"), "--sandbox", "jail", "-j", "2", "--seed", "1",
        "--results", str(results),
    )  # fmt: skip
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    took = time.monotonic() - began
    with closing(Results.open(results, resume=True, seed=None, fresh_seed=0)) as opened:
        by_path = {Path(one.path).resolve(): one.report for one in opened.known.values()}
    reports = [by_path[path.resolve()] for _, path in asked]
    return took, [report.model_dump(mode="json") for report in reports if report is not None]


def _compare(served: Sequence[dict[str, Any]], scored: Sequence[dict[str, Any]]) -> None:
    for one, other in zip(served, scored, strict=True):
        for field in ("verdict", "score"):
            if one[field] != other[field]:
                raise RuntimeError(
                    f"{one['problem']} {one['submission']['sha256']}: {field} {one[field]} from "
                    f"serve, {other[field]} from score: {_differing(one, other)}"
                )


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[Any]:
    """Return what came of the checks that did not end alike."""
    pairs = zip(one["checks"], other["checks"], strict=False)
    return [pair for pair in pairs if pair[0]["outcome"] != pair[1]["outcome"]]


def _quantile(reports: Sequence[dict[str, Any]], percent: int) -> float:
    times = [report["timings_s"]["total"] for report in reports]
    return statistics.quantiles(times, n=100)[percent - 1]
