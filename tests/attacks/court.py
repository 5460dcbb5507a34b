"""Grading attacks in one channel, with controls that must keep their verdicts."""

from __future__ import annotations

from attacks.corpus import RIGHT, WRONG
from attacks.world import BANK, Memory, World
from sandboxes import Backend, gone

from mha_judge.errors import SandboxBroken
from mha_judge.judge import fresh_seed, grade
from mha_judge.report.models import Report
from mha_judge.sandbox.base import Channel
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

CONTROLS = (("accepted", RIGHT), ("rejected", WRONG))
ATTACKS_A_CONTROL = 10
"""After how many attacks it is seen whether the channel still grades as it should."""


class Court:
    """One backend, one channel for all its attacks: what one leaves, the next would meet."""

    def __init__(self, backend: Backend, world: World) -> None:
        self.backend = backend
        self.world = world
        self.memory_growth = 0
        self._seed = fresh_seed()  # one for all: what is expected is remembered
        self._before = backend.traces()
        self._channel: Channel | None = None
        self._since_control: list[tuple[str, Submission, Limits]] = []

    def grade(self, submission: Submission, limits: Limits | None = None, **options) -> Report:
        problem = BANK.problem("sdpa")
        if limits is not None:
            problem = problem.model_copy(update={"limits": limits})
        if self._channel is None:
            self._channel = self.backend.make().open()
            self._channel.start(Limits())  # its start is no attack's time
        memory = Memory()
        try:
            return grade(submission, BANK, problem, self._channel, seed=self._seed, **options)
        except SandboxBroken:
            self.close()  # the next attack gets a channel of its own; this one has failed
            raise
        finally:
            self.memory_growth = memory.growth()

    def grade_attack(self, name: str, submission: Submission, limits: Limits) -> Report:
        """Grade an attack whose traces the next controls must not meet."""
        self._since_control.append((name, submission, limits))
        return self.grade(submission, limits)

    def disturbers(self, *, now: bool = False) -> list[str]:
        """Return the attacks after which a control lost its verdict, and how.

        The controls are graded once in several attacks, or now. Where one loses its verdict, these
        attacks are made again, each in a channel of its own and with controls after it.
        """
        if not now and len(self._since_control) < ATTACKS_A_CONTROL:
            return []
        attacks, self._since_control = self._since_control, []
        lost = self.controls()
        if not lost:
            return []
        found = []
        for name, submission, limits in attacks:
            self.close()
            self.grade(submission, limits)
            found += [f"{name}: {one}" for one in self.controls()]
        names = ", ".join(name for name, *_ in attacks)
        return found or [f"{names}, but only together: {one}" for one in lost]

    def controls(self) -> list[str]:
        """Return which controls lost their verdicts."""
        lost = []
        for verdict, source in CONTROLS:
            found = self.grade(Submission.of(source, "sdpa.py"), only=["output-shape", "values"])
            if found.verdict != verdict:
                lost.append(f"{verdict} became {found.verdict}: {found.model_dump_json()}")
        return lost

    def processes(self) -> set[str]:
        return self.backend.traces() - self._before

    def close(self) -> set[str]:
        if self._channel is None:
            return set()
        running = self.processes()
        self._channel.close()
        self._channel = None
        return gone(self.backend.traces, running)
