"""What travels between the one who asks and the workers: JSON, and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from mha_judge import errors
from mha_judge.bank import Bank
from mha_judge.errors import JudgeError
from mha_judge.pool import Job
from mha_judge.report.models import Report
from mha_judge.sandbox import SandboxOptions
from mha_judge.scoring.keys import Keys, versions
from mha_judge.submission import Submission
from mha_judge.version import __version__


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Terms(_Model):
    """What a worker must have, and how it is to confine answers."""

    has: dict[str, str]
    """What `state_of` says of the bank of the one who asks."""
    bank: Path | None
    """The bank's folder, on each machine; None for the built-in one."""
    sandbox: SandboxOptions

    @classmethod
    def of(cls, bank: Bank, sandbox: SandboxOptions) -> Self:
        """Return what a worker needs to grade as this process would."""
        builtin = bank.root == Bank.builtin().root
        return cls(has=state_of(bank), bank=None if builtin else bank.root, sandbox=sandbox)

    @property
    def name(self) -> str:
        """The name of these terms: that of the plugin, and of the resource of who meets them."""
        return f"mha-judge-{hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]}"

    def opened(self) -> Bank:
        """Return the bank of this machine.

        Raises:
            JudgeError: It is missing, or something differs.
        """
        bank = Bank.builtin() if self.bank is None else Bank.at(self.bank)
        here = state_of(bank)
        differing = [
            f"{what} {here.get(what, 'missing')} and not {wanted}"
            for what, wanted in self.has.items()
            if here.get(what) != wanted
        ]
        if differing:
            raise JudgeError(f"it has {', '.join(differing)}")
        return bank


def state_of(bank: Bank) -> dict[str, str]:
    """Return what a verdict depends on beside answer and sandbox: versions and hashes, by name."""
    keys = Keys(bank, "")
    return {
        "mha-judge": __version__,
        "code": keys.judge[:16],
        "bank": keys.of_problems(bank.ids)[:16],
        **versions(),
    }


class Asked(_Model):
    """A job."""

    problem: str
    path: str
    text: str
    """The whole file, with the mark that some editors put first."""
    seed: int
    verdict_only: bool
    without_gpu: bool
    shows_call: bool

    @classmethod
    def of(cls, job: Job, without_gpu: bool) -> Self:
        return cls(
            problem=job.problem,
            path=str(job.submission.path),
            text=job.submission.data.decode(),
            seed=job.seed,
            verdict_only=job.verdict_only,
            without_gpu=job.without_gpu or without_gpu,
            shows_call=job.shows_call,
        )

    def job(self) -> Job:
        submission = Submission.of_bytes(Path(self.path), self.text.encode())
        return Job(
            self.problem,
            submission,
            self.seed,
            self.verdict_only,
            self.without_gpu,
            self.shows_call,
        )


class Batch(_Model):
    """Jobs that one worker grades one after the other."""

    jobs: list[Asked]
    topic: str = ""
    """Under which the worker tells the checks of a single job; empty if nobody listens."""


class News(_Model):
    """What a worker tells of a batch that it has begun."""

    key: str
    check: str = ""
    """A check that is done, as JSON; empty at the beginning."""


class Answer(_Model):
    """What came of a job: a report, or the judge's failure."""

    report: Report | None = None
    kind: str = ""
    message: str = ""

    @classmethod
    def of(cls, result: Report | JudgeError) -> Self:
        if isinstance(result, Report):
            return cls(report=result)
        return cls(kind=type(result).__name__, message=str(result))

    def result(self) -> Report | JudgeError:
        if self.report is not None:
            return self.report
        kind = getattr(errors, self.kind, JudgeError)
        known = isinstance(kind, type) and issubclass(kind, JudgeError)
        return (kind if known else JudgeError)(self.message)


class Answers(_Model):
    """What came of a batch, in its order."""

    answers: list[Answer]
    took_s: float
