"""The sandbox options of a command, and how they start a supervisor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mha_judge.errors import SandboxUnavailable, UsageError
from mha_judge.sandbox.base import Channel, Sandbox
from mha_judge.sandbox.container import Container, Settings
from mha_judge.sandbox.jail import Jail
from mha_judge.sandbox.unconfined import Unconfined

BACKENDS: dict[str, Callable[[], Sandbox]] = {"container": Container, "jail": Jail}
"""The backends that confine, strongest first."""
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class SandboxOptions:
    """How submissions are confined, and which devices they reach; can be sent to processes.

    Raises:
        UsageError: The backend or device is unknown; `none` comes without `unsafe`; another backend
            gets settings of a container.
    """

    backend: str = "auto"
    """A key of `BACKENDS`, `auto` for the strongest that works here, or `none`."""
    unsafe: bool = False
    """Allows `none`."""
    container: Settings | None = None
    """Settings of the container. They are never ignored: `auto` then means `container`."""
    device: str = "auto"
    """One of `DEVICES`: checks on a GPU run if there is one, never, or must run."""

    def __post_init__(self) -> None:
        for what, known, given in (
            ("sandbox", ("auto", *BACKENDS, "none"), self.backend),
            ("device", DEVICES, self.device),
        ):
            if given not in known:
                raise UsageError(f"no {what} {given!r}; there are {', '.join(known)}")
        if self.container is not None and self.backend not in ("auto", "container"):
            raise UsageError(
                f"--sandbox {self.backend} has no image, runtime, memory or cpus to set"
            )
        if self.backend == "none" and not self.unsafe:
            raise UsageError("the sandbox 'none' runs the file unconfined; pass unsafe=True")

    def open(self) -> Channel:
        """Start a supervisor.

        Raises:
            SandboxUnavailable: The backend cannot confine here.
        """
        if self.container is not None:
            return Container(self.container).open()
        if self.backend == "none":
            return Unconfined().open()
        reasons = []
        for name in list(BACKENDS) if self.backend == "auto" else [self.backend]:
            try:
                return BACKENDS[name]().open()
            except SandboxUnavailable as error:
                reasons.append(f"{name}: {error}")
        raise SandboxUnavailable("; ".join(reasons))

    def open_with_gpu(self, backend: str) -> Channel:
        """Start a supervisor whose workers can reach a GPU.

        Args:
            backend: `container`, `jail` or `none`; one that these options allow.

        Raises:
            SandboxUnavailable: The backend cannot be used here.
        """
        if backend == "container":
            return Container((self.container or Settings()).with_gpu()).open()
        if backend == "none":
            return Unconfined().open()
        return Jail(gpu=True).open()
