"""Docker: a container of its own for each supervisor, and the jail inside it for each worker.

The image holds Python, torch and the worker's half of this package. The container has no network,
no mount, no capability and a read-only root; its limits are those of a control group. The judge
compares what it asked for with what the supervisor sees, and runs nothing if less holds.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from mha_judge.errors import SandboxUnavailable
from mha_judge.sandbox.base import Channel, Tier
from mha_judge.sandbox.channel import SupervisorChannel
from mha_judge.sandbox.container.settings import Settings

if TYPE_CHECKING:
    from mha_judge.sandbox.events import Surroundings
    from mha_judge.sandbox.limits import Limits

__all__ = ["Container", "Settings"]


class Container:
    """A container on the Docker Engine."""

    name = "container"

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings if settings is not None else Settings()

    def unavailable(self) -> str | None:
        from mha_judge.sandbox.container.engine import connect, usable_image

        try:
            with closing(connect()) as engine:
                usable_image(engine, self._settings.image)
        except SandboxUnavailable as error:
            return str(error)
        return None

    def open(self) -> Channel:
        from mha_judge.sandbox.container.engine import connect, usable_image

        engine = connect()
        try:
            image = usable_image(engine, self._settings.image)
            return _ContainerChannel(engine, image, self._settings)
        except SandboxUnavailable:
            engine.close()
            raise


class _ContainerChannel(SupervisorChannel):
    """A channel that knows the settings of its container."""

    def __init__(self, engine: Any, image: str, settings: Settings) -> None:
        from mha_judge.sandbox.container.attached import ContainerTransport

        super().__init__(ContainerTransport(engine, image, settings), self._describe_tier)
        self._image = image
        self._settings = settings

    def start(self, limits: Limits) -> Tier:
        self._settings.require_room_for(limits)
        return super().start(limits)

    def _describe_tier(self, confinement: dict[str, Any], seen: Surroundings) -> Tier:
        settings = self._settings
        require(settings, seen)
        layers = ["docker", "landlock", "seccomp", "rlimits"]
        if not confinement.get("landlock_abi"):
            layers.remove("landlock")
        if settings.runtime is not None:
            layers[0] = f"docker({settings.runtime})"
        details = {
            "image": self._image.removeprefix("sha256:")[:12],
            "runtime": settings.runtime or "the engine's default",
            "container_memory_bytes": settings.memory_bytes,
            "container_cpus": settings.cpus,
            "container_tasks": settings.tasks,
        }
        if settings.gpus:
            details["gpus"] = ", ".join(settings.gpus)
        return Tier("container", "+".join(layers), {**confinement, **details})


def require(settings: Settings, seen: Surroundings) -> None:
    """Check the settings against what the supervisor sees; what it cannot tell passes.

    Raises:
        SandboxUnavailable: Names what does not hold.
    """
    broken = {
        "a user other than root": seen.uid == 0,
        "no capabilities": bool(seen.capabilities),
        "no new privileges": seen.no_new_privs is False,
        # gVisor's kernel has no use for the engine's profile
        "the engine's seccomp profile": settings.runtime is None and seen.seccomp is False,
        "a read-only root": seen.read_only_root is False,
        "no network": bool(seen.interfaces),
        "the limit on memory": _above(seen.memory_bytes, settings.memory_bytes),
        "the limit on swap": _above(seen.swap_bytes, settings.memory_bytes),
        "the limit on tasks": _above(seen.tasks, settings.tasks),
        "the share of processors": _above(seen.cpus, settings.cpus + 0.01),
    }
    missing = [name for name, is_broken in broken.items() if is_broken]
    if missing:
        raise SandboxUnavailable(
            f"Docker did not enforce {', '.join(missing)}; look at the daemon's configuration and "
            "at the control groups (`docker info`), or pass --sandbox jail"
        )


def _above(seen: float | None, asked: float) -> bool:
    return seen is not None and seen > asked
