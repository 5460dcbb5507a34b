"""`score --dask` against `score`, and what a scheduler has to do for many workers."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import simulated
from answers import hand_in, mixed
from distributed import Client
from measure import JUDGE, ROOT, Figure, figure, seconds

from mha_judge import Judge
from mha_judge.bank import Bank
from mha_judge.cluster import cluster
from mha_judge.pool import Job
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

COUNT = 200
WORKERS = 256
_HOSTS = 4
"""Processes that hold the simulated workers."""
_ROUNDS = 12
"""Batches of some seconds for each of them."""
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield the throughput of a cluster of two workers, and of 256 that only wait.

    Raises:
        RuntimeError: A process did not start or end as it should.
    """
    pairs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hand_in(folder / "answers", mixed(COUNT))
        for _ in range(repetitions):
            with _cluster(2, "-m", "dask", "worker", "--nthreads", "1", "--no-dashboard") as (
                address,
                _,
            ):
                spread = _score(folder, "--dask", address)
            pairs.append((spread, _score(folder, "-j", "2")))
    yield figure(
        f"score --dask, 2 workers / score -j 2, {COUNT} answers",
        pairs,
        "≥",
        0.9,
        note="the workers' judges start within it, as those of score do",
    )
    scheduler, client, count = _simulated()
    told = (
        f"{count:,} answers, waited for and not graded, in batches as of a real run; where this is "
        f"below 1, the workers are the limit"
    )
    of_time = f"/ time that {WORKERS} workers need"
    yield figure(f"scheduler's processor time {of_time}", [scheduler], "≤", 1, note=told)
    yield figure(f"processor time of who asks {of_time}", [client], "≤", 1)


def _score(folder: Path, *words: str) -> float:
    results = folder / "results.jsonl"
    results.unlink(missing_ok=True)
    command = (
        JUDGE, "score", str(folder / "answers"), "--sandbox", "jail", "--seed", "1",
        "--results", str(results), *words,
    )  # fmt: skip
    return seconds(command, cwd=folder)


def _simulated() -> tuple[tuple[float, float], tuple[float, float], int]:
    """Return the processor time of scheduler and client, each with the workers', and the count."""
    bank = Bank.builtin()
    path = next((ROOT / "tests" / "submissions" / "gqa").glob("wrong_*.py"))
    with Judge(workers=1, sandbox="jail") as judge:
        judge.grade(path, "gqa", seed=1)  # which imports torch
        report = judge.grade(path, "gqa", seed=1)
    each_s = report.timings_s["total"]
    simulated.prepare(report, each_s)
    cluster.Graders = simulated.Graders  # type: ignore[misc]
    jobs = [Job("gqa", Submission.read(path), seed=1)] * int(WORKERS * _ROUNDS * 3 / each_s)
    host = str(ROOT / "benchmarks" / "simulated.py")
    with _cluster(_HOSTS, host, str(WORKERS // _HOSTS)) as (address, scheduler):
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=120)
        crew = cluster.Cluster(address, bank, SandboxOptions("jail"))
        try:
            before = _processor_s(scheduler), time.process_time()
            done = sum(1 for _ in crew.graded(jobs))
            used_s = _processor_s(scheduler) - before[0], time.process_time() - before[1]
        finally:
            crew.close()
    if done != len(jobs):
        raise RuntimeError(f"of {len(jobs)} answers {done} came back")
    needed_s = len(jobs) * each_s / WORKERS
    return (used_s[0], needed_s), (used_s[1], needed_s), done


@contextmanager
def _cluster(workers: int, *command: str) -> Iterator[tuple[str, int]]:
    """Start a scheduler and workers; give its address and its process."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        file = folder / "scheduler.json"
        scheduler = _started(
            stack, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0",
            "--no-dashboard", "--scheduler-file", str(file),
        )  # fmt: skip
        while not file.exists():
            if scheduler.poll() is not None:
                raise RuntimeError("the scheduler does not start")
            time.sleep(0.1)
        for _ in range(workers):
            _started(stack, *command, "--scheduler-file", str(file))
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)
            address: str = client.scheduler.address
        yield address, scheduler.pid


def _started(stack: ExitStack, *words: str) -> subprocess.Popen[Any]:
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def _processor_s(process: int) -> float:
    fields: Sequence[str] = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S
