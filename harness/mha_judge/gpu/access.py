"""What the command line says of the device, and the sandbox in which a GPU is reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mha_judge.errors import SandboxUnavailable
from mha_judge.gpu import presence
from mha_judge.sandbox.base import Channel
from mha_judge.sandbox.container.settings import Settings
from mha_judge.sandbox.options import BACKENDS, SandboxOptions

MEMORY_BYTES = 8 * 1024**3
"""What a submission may allocate on the GPU; the allocator holds it to that."""


@dataclass
class GpuAccess:
    """Access to a GPU for one judge. Until it is used it can be sent to another process.

    With `auto`, what cannot be reached is a reason why nothing is assessed; with `cuda` it is an
    error. The sandbox starts when the first check asks for it, and stays warm.
    """

    options: SandboxOptions = field(default_factory=SandboxOptions)
    """With `auto` the container is taken if it can reach a GPU, else the jail."""
    worker_device: str = "cuda"
    """What a worker takes, by torch's name."""
    _channel: Channel | None = field(default=None, init=False)
    _reason: str | None = field(default=None, init=False)
    _looked: bool = field(default=False, init=False)
    _chosen: str = field(default="", init=False)

    @property
    def confinement(self) -> str:
        """How submissions are confined, as a text: equal where the command line asks the same."""
        return f"{self.options.backend} {self.options.container or Settings()}"

    def why_not(self) -> str | None:
        """Return why no GPU check can be assessed; None if it is worth trying."""
        if not self._looked:
            self._reason = self._look()
            self._looked = True
        return self._reason

    def require(self) -> None:
        """Check that a GPU can be reached if one was asked for by name.

        Raises:
            SandboxUnavailable: With the remedy.
        """
        if self.options.device == "cuda" and self.why_not() is not None:
            raise SandboxUnavailable(f"--device cuda: {self.why_not()}; or pass --device cpu")

    def channel(self) -> Channel:
        """Return the sandbox in which a GPU is reached, started if it was not.

        Raises:
            SandboxUnavailable: It cannot be had.
        """
        if self._channel is None:
            self._channel = self._open()
        return self._channel

    def give_up(self, reason: str) -> None:
        """Note that the device cannot be used after all.

        Raises:
            SandboxUnavailable: It was asked for by name.
        """
        self._looked, self._reason = True, f"the GPU cannot be used: {reason}"
        self.close()
        self.require()

    def close(self) -> None:
        """End the sandbox; nothing is left behind."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _look(self) -> str | None:
        if self.options.device == "cpu":
            return "--device cpu"
        missing = presence.driver_missing()
        if missing is not None and not presence.engine_is_elsewhere():
            return missing  # an engine of this machine need not be asked
        reasons = {name: presence.why_not(name) for name in self._candidates()}
        self._chosen = next((name for name, reason in reasons.items() if reason is None), "")
        if self._chosen:
            return None
        return next(
            (reason for reason in reasons.values() if reason and reason.startswith("no CUDA")),
            next(reason for reason in reasons.values() if reason is not None),
        )

    def _candidates(self) -> list[str]:
        if self.options.container is not None:
            return ["container"]
        backend = self.options.backend
        return [*BACKENDS] if backend == "auto" else [backend]

    def _open(self) -> Channel:
        return self.options.open_with_gpu(self._chosen or self._candidates()[0])


def described(facts: Any) -> str:
    """Return what a report says of the device."""
    return f"cuda ({facts.name})" if facts.cuda else str(facts.name)
