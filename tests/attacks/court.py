"""Grading attacks in one channel, with controls that must keep their verdicts."""

from __future__ import annotations

from pathlib import Path

from attacks.corpus import RIGHT, WRONG
from attacks.world import BANK, Memory, World
from sandboxes import Backend, gone

from mha_judge.errors import SandboxBroken
from mha_judge.judge import grade
from mha_judge.report.models import Report
from mha_judge.sandbox.base import Channel
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

CONTROLS = (("accepted", RIGHT), ("rejected", WRONG))


class Court:
    """One backend, one channel for all its attacks: what one leaves, the next would meet."""

    def __init__(self, backend: Backend, world: World) -> None:
        self.backend = backend
        self.world = world
        self.memory_growth = 0
        self._before = backend.traces()
        self._channel: Channel | None = None

    def grade(self, submission: Submission, limits: Limits | None = None, **options) -> Report:
        problem = BANK.problem("sdpa")
        if limits is not None:
            problem = problem.model_copy(update={"limits": limits})
        if self._channel is None:
            self._channel = self.backend.make().open()
            self._channel.start(Limits())  # its start is no attack's time
        memory = Memory()
        try:
            return grade(submission, BANK, problem, self._channel, **options)
        except SandboxBroken:
            self.close()  # the next attack gets a channel of its own; this one has failed
            raise
        finally:
            self.memory_growth = memory.growth()

    def grade_text(self, text: str, folder: Path, limits: Limits | None = None) -> Report:
        path = folder / "sdpa.py"
        path.write_text(self.world.placed(text), encoding="utf-8")
        return self.grade(Submission.read(path), limits)

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
