"""Which judge owns a container, so that the containers of dead judges can be removed.

A container ends with its judge: the engine closes its input, and removes it. This module is for
containers that were made and never started, or that outlived a crash of the engine.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABEL = "mha-judge.judge"

_A_DAY_S = 24 * 3600


@dataclass(frozen=True)
class Owner:
    """A process; its pid is unique only within one boot and one pid namespace."""

    boot: str
    namespace: str
    pid: int
    started: str
    """Clock ticks from the boot to its start, as pids are reused."""

    @classmethod
    def current(cls) -> Owner:
        """Return this process."""
        pid = os.getpid()
        return cls(_boot(), _namespace(), pid, _started(pid))

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """Return the owner that a label names, None if it names none."""
        parts = text.split("/")
        if len(parts) != 4 or not parts[2].isdigit():
            return None
        return cls(parts[0], parts[1], int(parts[2]), parts[3])

    def __str__(self) -> str:
        return f"{self.boot}/{self.namespace}/{self.pid}/{self.started}"

    def is_dead(self) -> bool:
        """Whether the process is known to have ended; False if it cannot be seen from here."""
        here = (_boot(), _namespace())
        if not all(here) or (self.boot, self.namespace) != here:
            return False
        return _started(self.pid) != self.started


def sweep(engine: Any) -> list[str]:
    """Remove the containers of dead judges, and return their ids."""
    from docker.errors import DockerException
    from requests import RequestException

    removed = []
    try:
        for container in engine.containers(all=True, filters={"label": LABEL}):
            owner = Owner.parse(container["Labels"].get(LABEL, ""))
            if (owner is not None and owner.is_dead()) or _forgotten(container):
                engine.remove_container(container["Id"], force=True)
                removed.append(str(container["Id"]))
    except (DockerException, RequestException, OSError):
        return removed  # another judge was faster, or the engine is busy: the next start sweeps
    return removed


def _forgotten(container: dict[str, Any]) -> bool:
    """Whether a container is a day old and not running: wherever its judge ran, it is gone."""
    age_s = time.time() - float(container["Created"])
    return container["State"] != "running" and age_s > _A_DAY_S


def _boot() -> str:
    return _text("/proc/sys/kernel/random/boot_id")


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _started(pid: int) -> str:
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in ("Z", "X") else ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
