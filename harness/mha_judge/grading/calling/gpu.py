"""The submission on a GPU: a second context, in a worker that has the device.

The worker takes it before it reads the file. The judge computes expected values on the CPU.
"""

from __future__ import annotations

from contextlib import ExitStack

from mha_judge.errors import SandboxUnavailable
from mha_judge.gpu.access import MEMORY_BYTES, GpuAccess, described
from mha_judge.grading.calling.candidate import Candidate, context_of
from mha_judge.grading.calling.context import Context, Task
from mha_judge.grading.calling.replies import Facts
from mha_judge.grading.calling.session import LoadFailed, Session
from mha_judge.submission import Submission


class GpuLease:
    """One submission on a GPU, from the first check that asks until the end of the grade."""

    def __init__(
        self,
        access: GpuAccess,
        task: Task,
    ) -> None:
        self._access = access
        self._task = task
        self._gpu: Gpu | None = None
        self._turn = ExitStack()
        self.facts: Facts | None = None

    def why_not(self) -> str | None:
        return self._access.why_not()

    def why_not_taken(self) -> str | None:
        """Wait for the device and take it for this submission; return why that fails, or None.

        Raises:
            SandboxUnavailable: It fails, and the device was asked for by name.
        """
        if self._gpu is None:
            try:
                self._gpu = self._take()
            except SandboxUnavailable as error:
                self._access.give_up(str(error))
                return self._access.why_not()
        return None

    def enter(self, check: str) -> Gpu:
        assert self._gpu is not None  # `why_not_taken` was asked before
        context_of(self._gpu).enter(check)
        return self._gpu

    def session_of(self, submission: Submission) -> Session:
        """Return a session on the device, not yet loaded; it ends the worker of any other."""
        return Session(
            self._access.channel(),
            submission,
            self._task.problem.limits,
            self._access.worker_device,
            MEMORY_BYTES,
            fused_attention=self._task.fused_attention,
            seed=self._task.seed,
        )

    def close(self) -> None:
        """End the worker, which frees its memory, and let the next submission take the device."""
        if self._gpu is not None:
            context_of(self._gpu).session.close()
            self._gpu = None
        self._turn.close()

    def _take(self) -> Gpu:
        from mha_judge.gpu.turn import turn  # most grades never take a device

        self._turn.enter_context(turn("cuda-0"))
        session = self.session_of(self._task.submission)
        try:
            session.load()
        except LoadFailed as error:
            raise SandboxUnavailable(f"the file did not load there: {error}") from error
        self.facts = session.facts
        return Gpu(Context(session, self._task), self)

    @property
    def device(self) -> str:
        """The device on which the checks ran, in the words of a report."""
        return described(self.facts) if self.facts is not None else "cpu"

    @property
    def context(self) -> Context | None:
        """The submission's context on the device, once that is taken."""
        return context_of(self._gpu) if self._gpu is not None else None


class Gpu(Candidate):
    """The `gpu` fixture: the entries of the problem, as attributes, called on a GPU."""

    def __init__(self, context: Context, lease: GpuLease) -> None:
        super().__init__(context)
        self._lease = lease


def lease_of(gpu: Gpu) -> GpuLease:
    """Return the lease that holds the device."""
    return gpu._lease
