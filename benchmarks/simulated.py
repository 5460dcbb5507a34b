"""Workers that wait as long as a grade takes, and answer with a report that they were given."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import dask
from distributed import Status, Worker

from mha_judge.cluster import worker as real
from mha_judge.cluster.messages import Answer, Answers, Batch
from mha_judge.report.models import Report

_each_s = 0.0
_report = ""


def prepare(report: Report, each_s: float) -> None:
    """Say what each answer is answered with, and after how long."""
    global _each_s, _report
    _each_s, _report = each_s, report.model_dump_json()


class Graders(real.Graders):
    """Take as long as a grade, and grade nothing."""

    def __init__(self, name: str, terms: bytes) -> None:
        super().__init__(name, terms)
        self._each_s, self._report = _each_s, _report
        self._answer: Answer | None = None

    async def setup(self, worker: Worker) -> None:
        self._answer = Answer(report=Report.model_validate_json(self._report))
        await worker.set_resources(**{self.name: worker.state.nthreads})
        worker.status = Status.paused
        worker.status = Status.running

    def teardown(self, worker: Worker) -> None:
        pass

    def grade(self, batch: Batch, worker: Worker, key: str) -> Answers:
        took_s = self._each_s * len(batch.jobs)
        time.sleep(took_s)
        assert self._answer is not None  # since it was set up
        return Answers(answers=[self._answer] * len(batch.jobs), took_s=took_s)


async def _host(address: str, count: int) -> None:
    workers = [Worker(address, nthreads=1, dashboard=False) for _ in range(count)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))


if __name__ == "__main__":
    sys.modules["simulated"] = sys.modules["__main__"]  # by this name the plugin is sent here
    place = json.loads(Path(sys.argv[sys.argv.index("--scheduler-file") + 1]).read_text("utf-8"))
    quiet = {
        "distributed.worker.profile.enabled": False,  # many in one process watch one another
        "distributed.admin.system-monitor.interval": "10s",
    }
    with dask.config.set(quiet):
        asyncio.run(_host(place["address"], int(sys.argv[1])))
