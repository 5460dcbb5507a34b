"""What runs on each machine of a cluster: a pool that stays warm, and batches for it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from distributed import Status, Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from mha_judge.bank import Bank
from mha_judge.cluster.messages import Answer, Answers, Batch, News, Terms
from mha_judge.errors import JudgeError
from mha_judge.gpu import GpuAccess
from mha_judge.pool import Grading, Job, Pool
from mha_judge.report.models import CheckResult, Report
from mha_judge.submission import Submission

REFUSALS = "mha-judge-refusals"
"""The topic under which a worker that joins later says why it does not grade."""
_IDLE_S = 600.0
"""After how long without a batch a worker gives back what its processes hold."""
_LOOK_EVERY_S = 0.5


class Graders(WorkerPlugin):
    """Processes that grade for all who ask under the same terms, as many as a worker has threads.

    A worker that meets the terms offers them as a resource, which each batch asks for; one that
    does not is given none. The processes start with the first batch.
    """

    idempotent = True
    """Who comes second uses what is there."""

    def __init__(self, name: str, terms: bytes) -> None:
        """Take what is sent to the workers, which is little enough for other versions to read."""
        self.name = name
        self._terms = terms
        self.refused = ""
        """Why this worker does not grade; empty if it does."""

    async def setup(self, worker: Worker) -> None:
        """Find out whether this worker meets the terms, and offer to grade if it does."""
        self._lock = threading.Lock()
        self._users = 0
        self._rest: threading.Timer | None = None
        try:
            await asyncio.to_thread(self._open, worker.state.nthreads)
        except Exception as error:  # whatever it is, the worker has other work to do
            self.refused = str(error) or repr(error)
            said = {"name": self.name, "worker": worker.address, "why": self.refused}
            worker.log_event(REFUSALS, said)
            return
        await worker.set_resources(**{self.name: worker.state.nthreads})
        # tasks that nobody could run are looked at again only when a worker begins to run
        worker.status = Status.paused
        worker.status = Status.running

    def teardown(self, worker: Worker) -> None:
        """End the processes."""
        with self._lock:
            if self._rest is not None:
                self._rest.cancel()
        if not self.refused:
            self._pool.close()

    def grade(self, batch: Batch, worker: Worker, key: str) -> Answers:
        """Grade jobs one after the other; leave as soon as nobody wants them any more."""
        started_s = time.monotonic()
        answers = []
        with self._used() as pool:
            if batch.topic:
                worker.log_event(batch.topic, News(key=key).model_dump_json())
            for asked in batch.jobs:
                if _is_unwanted(worker, key):
                    break
                try:
                    grading = pool.submit(asked.job(), _teller(worker, batch.topic, key))
                    answers.append(Answer.of(_waited_for(grading, worker, key)))
                except JudgeError as error:
                    answers.append(Answer.of(error))
        return Answers(answers=answers, took_s=time.monotonic() - started_s)

    def _open(self, processes: int) -> None:
        """Start a pool, and see by trying that it can confine answers as they are to be."""
        terms = Terms.model_validate_json(self._terms)
        self._bank = terms.opened()
        self._sandbox = terms.sandbox
        self._processes = processes
        self._pool = self._fresh()
        try:
            _try(self._pool, self._bank)
        except BaseException:
            self._pool.close()
            raise

    def _fresh(self) -> Pool:
        gpus = GpuAccess(self._sandbox)
        return Pool(self._bank, self._sandbox.open, self._processes, gpus=gpus)

    @contextmanager
    def _used(self) -> Iterator[Pool]:
        with self._lock:
            self._users += 1
            if self._rest is not None:
                self._rest.cancel()
            pool = self._pool
        try:
            yield pool
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._rest = threading.Timer(_IDLE_S, self._give_back)
                    self._rest.daemon = True
                    self._rest.start()

    def _give_back(self) -> None:
        """End processes that have had nothing to do for long; a next batch starts others."""
        with self._lock:
            if self._users:
                return
            idle, self._pool = self._pool, self._fresh()
        idle.close()


def grade_batch(name: str, batch: bytes) -> bytes:
    """Grade a batch on the worker on which this runs, and return what came of it."""
    worker = get_worker()
    graders = worker.plugins[name]
    assert isinstance(graders, Graders)  # or this worker would not be asked
    key = str(worker.get_current_task())
    answers = graders.grade(Batch.model_validate_json(batch), worker, key)
    return answers.model_dump_json().encode()


def refusal(name: str, dask_worker: Worker) -> str:
    """Return why a worker does not grade; empty if it does."""
    graders = dask_worker.plugins.get(name)
    return graders.refused if isinstance(graders, Graders) else "it has no mha-judge"


def _teller(worker: Worker, topic: str, key: str) -> Callable[[CheckResult], None] | None:
    if not topic:
        return None
    return lambda check: worker.log_event(
        topic, News(key=key, check=check.model_dump_json()).model_dump_json()
    )


def _waited_for(grading: Grading, worker: Worker, key: str) -> Report:
    """Wait for a report, and cancel the grade if the task is cancelled."""
    while True:
        try:
            return grading.result(_LOOK_EVERY_S)
        except TimeoutError:
            if _is_unwanted(worker, key):
                grading.cancel()


def _is_unwanted(worker: Worker, key: str) -> bool:
    task = worker.state.tasks.get(key)
    return task is None or task.state == "cancelled"


def _try(pool: Pool, bank: Bank) -> None:
    """Grade a starter.

    Raises:
        JudgeError: Nothing can be graded here.
    """
    problem = bank.ids[0]
    submission = Submission.of_text(bank.starter(problem))
    pool.submit(Job(problem, submission, seed=1, verdict_only=True, without_gpu=True)).result()
