"""The side of the one who asks: batches to the workers of a Dask cluster, and what comes back."""

from __future__ import annotations

import logging
import math
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import dask
from distributed import Client, Future
from distributed.scheduler import KilledWorker

from mha_judge.bank import Bank
from mha_judge.cluster.messages import Answers, Asked, Batch, News, Terms
from mha_judge.cluster.worker import REFUSALS, Graders, grade_batch, refusal
from mha_judge.errors import JudgeError, UsageError, WorkforceLost
from mha_judge.pool import Grading, Job, Workforce
from mha_judge.report.models import CheckResult, Report
from mha_judge.sandbox import SandboxOptions

GPU = "mha_judge_gpu"
"""The resource by which a worker's owner says that it may use a GPU."""
CONNECT_S = 15.0
"""How long a scheduler may take to answer."""
_BATCH_S = 3.0
"""What a batch is to take: far more than it costs to send, far less than one is willing to lose."""
_MOST_IN_BATCH = 32  # with the largest files, 8 MiB
_AHEAD = 2
"""Batches in a worker's hands for each of its processes: one that is graded, one that waits."""
_COUNT_EVERY_S = 5.0
_TELL_OF_A_LOSS = (
    "distributed.client",
    "distributed.batched",
    "distributed.comm",
    "distributed.core",
)
"""Loggers that print tracebacks where a scheduler is lost, which an error of ours tells."""
_RECENT = 0.1
"""How much a batch counts in the mean of what grades take."""
_RETRIES = 2
_GIVE_UP_S = 600.0
"""After how long without a scheduler there is no verdict on single jobs."""

_Batch = list[tuple[int, Job]]


class Cluster(Workforce):
    """The workers of a Dask cluster that grade as this process would: same judge, bank, sandbox.

    Workers may come and go. One that does not fit is told by name, and given nothing.
    """

    def __init__(
        self,
        address: str,
        bank: Bank,
        sandbox: SandboxOptions,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Connect, and have the workers that are there get ready.

        Args:
            address: The scheduler's, such as `tcp://10.0.0.1:8786`, or a scheduler file.
            bank: The problems. Each worker needs them: the built-in ones, or the same folder.
            sandbox: How answers are confined there.
            tell: Told which workers are not used, and why.

        Raises:
            UsageError: No scheduler answers, or all workers that are there are refused.
        """
        for name in _TELL_OF_A_LOSS:  # on this side alone: workers import this module, too
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._address = address
        self._terms = Terms.of(bank, sandbox)
        self._tell = tell
        self._name = self._terms.name
        self._on_gpu = set() if sandbox.device == "cpu" else _problems_with_gpu_checks(bank)
        self._mean_s = _BATCH_S  # until one is known, an answer is a batch
        self._lock = threading.RLock()
        self._at_work: dict[str, _Asked] = {}
        self._unsent: list[_Asked] = []
        """Single jobs that wait for the scheduler to be back."""
        self._is_closed = False
        self._counted_at = -math.inf
        self._slots = 0
        self._has_gpu = False
        self._client = self._connected()
        try:
            self._get_ready()
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """How many answers are graded at once; 0 as long as no worker has come."""
        with self._lock:
            if time.monotonic() - self._counted_at > _COUNT_EVERY_S:
                workers = self._client.scheduler_info()["workers"].values()
                resources = [worker["resources"] for worker in workers]
                self._slots = int(sum(one.get(self._name, 0) for one in resources))
                self._has_gpu = any(one.get(GPU) and one.get(self._name) for one in resources)
                self._counted_at = time.monotonic()
        return self._slots

    @property
    def has_gpu(self) -> bool:
        """Whether a worker was marked with the resource `mha_judge_gpu`."""
        return bool(self.slots and self._has_gpu and self._on_gpu)

    def submit(self, job: Job, on_check: Callable[[CheckResult], None] | None = None) -> Grading:
        """Hand in a job; if the scheduler goes it is sent again when it is back."""
        grading = _Asked(job, on_check)
        self._send(grading)
        return grading

    def graded(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Report | JudgeError]]:
        left = deque(enumerate(jobs))
        alone: deque[tuple[int, Job]] = deque()
        """Of batches whose workers ended: each by itself, for one of them may be the reason."""
        at_work: dict[Future[bytes], _Batch] = {}
        done: SimpleQueue[Future[bytes]] = SimpleQueue()
        try:
            while left or alone or at_work:
                while (left or alone) and len(at_work) < max(1, _AHEAD * self.slots):
                    batch = [alone.popleft()] if alone else self._batch(left)
                    future = self._asked(batch)
                    at_work[future] = batch
                    future.add_done_callback(done.put)
                future = self._next(done)
                batch = at_work.pop(future)
                results = self._results(future)
                if isinstance(results, list):
                    indices = (index for index, _ in batch)
                    yield from zip(indices, results, strict=True)
                elif len(batch) > 1:
                    alone.extend(batch)
                else:
                    yield batch[0][0], results
        finally:
            for future in at_work:
                future.cancel()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            open_ones = [*self._at_work.values(), *self._unsent]
            self._unsent.clear()
        for grading in open_ones:
            grading.cancel()
        self._client.close()

    def _next(self, done: SimpleQueue[Future[bytes]]) -> Future[bytes]:
        """Wait for a batch; say so if nobody is left to grade it."""
        had_workers = True
        while True:
            try:
                return done.get(timeout=_COUNT_EVERY_S)
            except Empty:
                if had_workers and not self.slots:
                    had_workers = False
                    self._tell("no worker that can grade is left; waiting for one")

    def _send(self, grading: _Asked) -> None:
        with self._lock:
            if self._is_closed:
                raise JudgeError("the judge is closed; open another one")
            try:
                if self._unsent:
                    raise self._lost()
                future = self._asked([(0, grading.job)], _topic(self._client))
            except WorkforceLost:
                self._keep(grading)
                return
            self._at_work[str(future.key)] = grading
        grading.has(future)
        future.add_done_callback(lambda done: self._settle(grading, done))

    def _keep(self, grading: _Asked) -> None:
        """Keep a job until the scheduler is back."""
        with self._lock:
            self._unsent.append(grading)
            if len(self._unsent) == 1:
                threading.Thread(target=self._come_back, name="mha-judge", daemon=True).start()

    def _come_back(self) -> None:
        """Connect again, and send what has waited; give up after a while."""
        deadline = time.monotonic() + _GIVE_UP_S
        error: JudgeError | None = self._lost()
        while error is not None and time.monotonic() < deadline and not self._is_closed:
            self._client.close()
            try:
                self._client = self._connected()
                self._get_ready()
                error = None
            except JudgeError as why:
                error = why
                time.sleep(_COUNT_EVERY_S)
        with self._lock:
            waiting, self._unsent = self._unsent, []
        for grading in waiting:
            try:
                if error is not None:
                    raise error
                self._send(grading)
            except JudgeError as why:
                grading.settle(why)

    def _connected(self) -> Client:
        where: dict[str, Any] = {"address": self._address}
        if "://" not in self._address and Path(self._address).is_file():
            where = {"scheduler_file": self._address}
        config = {"distributed.comm.timeouts.connect": CONNECT_S}
        try:
            with dask.config.set(config):
                return Client(**where, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"no Dask scheduler answers at {self._address} (tried for {CONNECT_S:.0f} s: "
                f"{error}); start one with `dask scheduler`, and pass the address that it prints"
            ) from error

    def _get_ready(self) -> None:
        """Have all workers, also those that come later, offer to grade if they meet the terms.

        Raises:
            UsageError: There are workers, and none of them does.
        """
        client = self._client
        client.subscribe_topic(REFUSALS, self._refused)
        client.subscribe_topic(_topic(client), self._told)
        graders = Graders(self._name, self._terms.model_dump_json().encode())
        with suppress(Exception):  # of a worker, such as one without mha-judge: it is asked next
            client.register_plugin(graders, self._name)
        found = client.run(refusal, self._name, on_error="return")
        reasons = {worker: _why_not(answer) for worker, answer in found.items()}
        refused = [f"{worker}: {why}" for worker, why in reasons.items() if why]
        if refused and len(refused) == len(reasons):
            raise UsageError(
                "no worker of the cluster can grade; install the same mha-judge, torch and numpy "
                "there as here:\n  " + "\n  ".join(refused)
            )
        for one in refused:
            self._tell(f"a worker is not used: {one}")
        if not found:
            self._tell(f"no worker has joined {self._address} yet; waiting for one")

    def _refused(self, event: tuple[float, Any]) -> None:
        """Tell of a worker that has come later."""
        _, said = event
        if said["name"] == self._name:
            self._tell(f"a worker is not used: {said['worker']}: {said['why']}")

    def _told(self, event: tuple[float, Any]) -> None:
        """Hand on how far a job is."""
        news = News.model_validate_json(event[1])
        grading = self._at_work.get(news.key)
        if grading is not None:
            grading.told(CheckResult.model_validate_json(news.check) if news.check else None)

    def _batch(self, left: deque[tuple[int, Job]]) -> _Batch:
        """Take the next jobs that together take some seconds, and not all from the last workers."""
        fair = math.ceil(len(left) / max(1, _AHEAD * self.slots))
        size = max(1, min(int(_BATCH_S / self._mean_s), fair, _MOST_IN_BATCH))
        on_gpu = self._is_on_gpu(left[0][1])
        alike = takewhile(lambda one: self._is_on_gpu(one[1]) == on_gpu, left)
        batch = [*islice(alike, size)]
        for _ in batch:
            left.popleft()
        return batch

    def _is_on_gpu(self, job: Job) -> bool:
        return self.has_gpu and job.problem in self._on_gpu and not job.without_gpu

    def _asked(self, batch: _Batch, topic: str = "") -> Future[bytes]:
        """Send jobs to whoever is free for them.

        Raises:
            WorkforceLost: The scheduler is gone.
        """
        if self._client.status != "running":
            raise self._lost()
        on_gpu = self._is_on_gpu(batch[0][1])
        jobs = [Asked.of(job, without_gpu=not on_gpu) for _, job in batch]
        future: Future[bytes] = self._client.submit(
            grade_batch,
            self._name,
            Batch(jobs=jobs, topic=topic).model_dump_json().encode(),
            key=f"mha-judge-{uuid.uuid4().hex}",
            pure=False,
            retries=_RETRIES,
            resources={self._name: 1, **({GPU: 1} if on_gpu else {})},
        )
        return future

    def _settle(self, grading: _Asked, future: Future[bytes]) -> None:
        """Give a single job's future what came of it."""
        self._at_work.pop(str(future.key), None)
        try:
            results = self._results(future)
        except WorkforceLost as error:
            if self._is_closed or grading.is_cancelled:
                grading.settle(error)
            else:
                self._keep(grading)
        else:
            grading.settle(results[0] if isinstance(results, list) else results)

    def _results(self, future: Future[bytes]) -> list[Report | JudgeError] | JudgeError:
        """Return what came of each job of a batch, or why nothing came of any.

        Raises:
            WorkforceLost: The scheduler is gone, and with it all that was asked.
        """
        if future.status == "cancelled":
            raise self._lost()
        try:
            answers = Answers.model_validate_json(future.result())
        except KilledWorker as error:
            return JudgeError(
                f"the machines that graded it ended, the last of them {error.last_worker.address}; "
                "were they out of memory?"
            )
        except CancelledError:
            raise self._lost() from None
        except Exception as error:  # of the worker's, or of what it answered
            return JudgeError(f"the worker failed: {error!r}")
        each_s = answers.took_s / max(1, len(answers.answers))
        self._mean_s += _RECENT * (max(each_s, 1e-3) - self._mean_s)
        return [answer.result() for answer in answers.answers]

    def _lost(self) -> WorkforceLost:
        return WorkforceLost(f"the Dask scheduler at {self._address} is gone")


class _Asked(Grading):
    """A job that was sent to a cluster by itself."""

    def __init__(self, job: Job, on_check: Callable[[CheckResult], None] | None) -> None:
        super().__init__(job)
        self._on_check = on_check
        self._told: set[str] = set()
        self._theirs: Future[bytes] | None = None
        self._lock = threading.RLock()  # who is told of a cancellation may cancel, too
        self.is_cancelled = False

    def has(self, future: Future[bytes]) -> None:
        """Note the task that stands for it."""
        with self._lock:
            self._theirs = future
        if self.is_cancelled:
            future.cancel()

    def cancel(self) -> None:
        with self._lock:
            self.is_cancelled = True
            theirs = self._theirs
        if theirs is None:  # it was not sent
            self.settle(JudgeError("it was cancelled"))
        else:
            theirs.cancel()  # without the lock: it waits for the thread in which checks are told

    def told(self, check: CheckResult | None) -> None:
        """Take note that it has begun, or of a check that is done."""
        with self._lock:
            if self.started_at is None:
                self.started_at = time.monotonic()
            if check is None or self._on_check is None or check.id in self._told:
                return
            self._told.add(check.id)
            self._on_check(check)

    def settle(self, result: Report | JudgeError) -> None:
        """Give its future what came of it; what it has not been told of the checks comes first."""
        with self._lock:
            if self.future.done():
                return
            if isinstance(result, Report):
                for check in result.checks:
                    self.told(check)
                self.future.set_result(result)
            elif self.is_cancelled:
                self.future.cancel()
                self.future.set_running_or_notify_cancel()
            else:
                self.future.set_exception(result)


def _topic(client: Client) -> str:
    """Return under what workers tell a client how far its jobs are."""
    return f"mha-judge-{client.id}"


def _problems_with_gpu_checks(bank: Bank) -> set[str]:
    return {one for one in bank.ids if 'category="gpu"' in bank.grader(one).read_text("utf-8")}


def _why_not(answer: str | BaseException) -> str:
    """Return why a worker does not grade, from what it answered or failed with."""
    return answer if isinstance(answer, str) else f"mha-judge cannot be used there: {answer}"
