"""Many grades at once, in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mha_judge.bank import Bank
from mha_judge.errors import JudgeError
from mha_judge.gpu import GpuAccess
from mha_judge.pool import Job, Pool
from mha_judge.report.models import Report
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

_VERDICT_ONLY = ("baselines", "corner faults", "mutants")
"""Kinds for which only the verdict matters, and which check failed first."""


@dataclass(frozen=True)
class Specimen:
    """One source to be graded under one seed."""

    problem: str
    kind: str
    name: str
    source: str
    seed: int


class Graders:
    """A pool of processes that grade."""

    def __init__(
        self, bank: Bank, sandbox: SandboxOptions, processes: int, gpus: GpuAccess | None = None
    ) -> None:
        self._pool = Pool(bank, sandbox.open, processes, gpus=gpus)

    def reports(self, tasks: Iterable[Specimen]) -> Iterator[tuple[Specimen, Report]]:
        """Yield each task with its report, in order.

        Raises:
            JudgeError: No verdict could be reached.
        """
        listed = list(tasks)
        done: dict[int, Report] = {}
        following = 0
        for index, answer in self._pool.graded([_job(task) for task in listed]):
            if isinstance(answer, JudgeError):
                raise answer
            done[index] = answer
            while following in done:
                yield listed[following], done.pop(following)
                following += 1

    def close(self) -> None:
        self._pool.close()


def _job(task: Specimen) -> Job:
    submission = Submission.of(task.source, f"{task.name}.py")
    brief = task.kind in _VERDICT_ONLY
    return Job(
        task.problem, submission, task.seed, verdict_only=brief, without_gpu=brief, shows_call=False
    )
